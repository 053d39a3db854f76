// What the kernel tells of a process: its CPU time and its memory.
import { readFileSync } from 'node:fs';

// USER_HZ, which Linux has fixed at 100 on every platform that Bun runs on.
const TICKS_PER_SECOND = 100;
const KIB = 1_024;

/** CPU time of a process since its start, all threads, user and system, in µs; it grows in steps of 10 ms. */
export function cpuMicros(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  // The second field is the command's name, which may hold spaces and brackets.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [user, system] = [Number(fields[11]), Number(fields[12])];
  return ((user + system) / TICKS_PER_SECOND) * 1_000_000;
}

/** Resident memory of a process, in bytes. */
export function residentBytes(pid: number): number {
  const [, size = '0'] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(size) * KIB;
}
