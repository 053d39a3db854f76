// What the kernel tells of a process: its CPU time and its memory.
import { readFileSync } from 'node:fs';

// USER_HZ, which Linux has fixed at 100 on every platform that Bun runs on.
const TICKS_PER_SECOND = 100;
const TICK_MICROS = 1_000_000 / TICKS_PER_SECOND;
const KIB = 1_024;
// Where the fields of /proc/PID/stat stand, counted from the one after the name.
const [PARENT, OWN, OWN_AND_ENDED] = [1, [11, 12], [11, 12, 13, 14]];

/** Tells a CPU time, µs. */
export type CpuClock = () => number;

/** CPU time of a process since its start, all threads, user and system, in µs; it grows in steps of 10 ms. */
export function cpuMicros(pid: number): number {
  return microsOf(statOf(pid).fields, OWN);
}

/**
 * Resolves when a process has taken no CPU time for a while, but for what it takes to see whether there is something to do.
 * What crm has noted is indexed within a second, when nothing more is written.
 */
export async function idle(pid: number, seconds: number): Promise<void> {
  for (let taken = Number.POSITIVE_INFINITY; taken > TICK_MICROS; ) {
    const before = cpuMicros(pid);
    await Bun.sleep(seconds * 1_000);
    taken = cpuMicros(pid) - before;
  }
}

/**
 * The clock of the process that made another, with all that it made: what they and those that ended have taken.
 * Undefined where this machine has no such process of that name.
 */
export function familyClock(child: number, name: string): CpuClock | undefined {
  try {
    const stat = statOf(child);
    const parent = Number(stat.fields[PARENT]);
    if (stat.name !== name || statOf(parent).name !== name) return undefined;
    return () => microsOf(statOf(parent).fields, OWN_AND_ENDED) + sum(childrenOf(parent).map(micros));
  } catch {
    return undefined;
  }
}

/** Resident memory of a process, in bytes. */
export function residentBytes(pid: number): number {
  const [, size = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(size) * KIB;
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

function statOf(pid: number): { name: string; fields: string[] } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field is the command's name, which may hold spaces and brackets.
  const end = stat.lastIndexOf(')');
  return { name: stat.slice(stat.indexOf('(') + 1, end), fields: stat.slice(end + 2).split(' ') };
}

const microsOf = (fields: readonly string[], which: readonly number[]) =>
  (sum(which.map((at) => Number(fields[at]))) / TICKS_PER_SECOND) * 1_000_000;

function childrenOf(pid: number): number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return text
    .split(' ')
    .filter((child) => child !== '')
    .map(Number);
}

function micros(pid: number): number {
  try {
    return cpuMicros(pid);
  } catch {
    // It has just ended.
    return 0;
  }
}
