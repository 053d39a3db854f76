// Ends a command, or fails it, exactly at one of its system calls, by strace.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Whether strace is there and may trace. */
export const hasStrace =
  Bun.which('strace') !== null &&
  Bun.spawnSync(['strace', '-f', '-o', '/dev/null', 'true'], { stderr: 'ignore' }).success;

/** What makes files durable, and what gives and takes their names. */
export const SYNCS_AND_NAMES = [
  ...['fsync', 'fdatasync', 'rename', 'renameat', 'renameat2'],
  ...['link', 'linkat', 'unlink', 'unlinkat', 'mkdir', 'rmdir'],
] as const;
/** What changes what is in them. */
export const WRITES = ['ftruncate', 'pwrite64', 'pwritev', 'write', 'copy_file_range', 'sendfile'] as const;

export type Call = (typeof SYNCS_AND_NAMES)[number] | (typeof WRITES)[number] | 'openat';

/** What befalls a process as it makes the nth call of a kind in one of its threads; `+` for all from then on. */
export interface Fault {
  call: Call;
  nth: number;
  what: 'SIGKILL' | 'EIO' | 'ENOSPC' | 'ENOSPC+';
}

export interface Outcome {
  /** Null where it was killed. */
  code: number | null;
  stderr: string;
  /** Whether it came to the call at all. */
  isHit: boolean;
}

export interface Place {
  cwd: string;
  env: Record<string, string>;
}

/** Runs a command that is killed before it makes a call, or has the call fail without being made. */
export async function runWithFault(
  command: readonly string[],
  place: Place,
  { call, nth, what }: Fault,
): Promise<Outcome> {
  const how =
    what === 'SIGKILL' ? `signal=SIGKILL:when=${nth}` : `error=${what.replace('+', '')}:when=${nth}`;
  const lasting = what.endsWith('+') ? '+' : '';
  return withTraceFile(async (trace) => {
    const child = Bun.spawn(
      [
        ...['strace', '-f', '-o', trace],
        ...['-e', `trace=${call}`, '-e', `inject=${call}:${how}${lasting}`, ...command],
      ],
      { ...place, stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' },
    );
    const [stderr] = await Promise.all([child.stderr.text(), child.exited]);
    const isKilled = child.signalCode === 'SIGKILL';
    const isHit = isKilled || readFileSync(trace, 'utf8').includes('(INJECTED)');
    return { code: isKilled ? null : child.exitCode, stderr: stderr.replace(/^strace: .*\n/gm, ''), isHit };
  });
}

/** How often a command makes calls of each kind; for those that several threads make, the most of one thread too. */
export async function countCalls(
  command: readonly string[],
  place: Place,
  calls: readonly Call[],
): Promise<Map<Call, { total: number; ofOneThread: number }>> {
  return withTraceFile(async (trace) => {
    const words = ['strace', '-f', '-o', trace, '-e', `trace=${calls.join(',')}`, ...command];
    await Bun.spawn(words, { ...place, stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' }).exited;
    const made = [...readFileSync(trace, 'utf8').matchAll(/^(\d+) +(\w+)\(/gm)];
    return new Map(
      calls.map((call) => {
        const threads = made.filter(([, , name]) => name === call).map(([, thread]) => thread);
        const counts = Map.groupBy(threads, (thread) => thread).values();
        const ofOneThread = Math.max(0, ...counts.map(({ length }) => length));
        return [call, { total: threads.length, ofOneThread }];
      }),
    );
  });
}

async function withTraceFile<T>(job: (path: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'crm-trace-'));
  try {
    return await job(join(folder, 'trace'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
