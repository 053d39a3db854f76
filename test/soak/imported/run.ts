// One import of the executable: on pipes or a terminal, with the most memory that it ever had.
import { readFileSync } from 'node:fs';
import { BINARY } from '../../support/command.ts';

const LOOK_MS = 25;

export interface Running {
  kill(): void;
  /** Whether it has ended by itself, or been killed. */
  ended: Promise<Ended>;
}

export interface Ended {
  /** Null if it was killed. */
  code: number | null;
  said: string;
  /** Bytes. */
  memoryMax: number;
}

export interface Where {
  url: string;
  key: string;
  folder: string;
  isOnTerminal?: boolean;
}

/** Starts `crm` with these words. */
export function startImport(args: readonly string[], { url, key, folder, isOnTerminal }: Where): Running {
  const env = {
    ...{ CRM_URL: url, CRM_API_KEY: key, HOME: folder, XDG_CONFIG_HOME: folder, TERM: 'xterm-256color' },
    PATH: process.env.PATH ?? '',
  };
  const command = [BINARY, ...args];
  const decoder = new TextDecoder();
  let said = '';
  const take = (data: Uint8Array) => {
    // The end is what is read; the screens before it would only fill this process.
    said = (said + decoder.decode(data, { stream: true })).slice(-20_000);
  };
  const child = isOnTerminal
    ? Bun.spawn(command, {
        cwd: folder,
        env,
        terminal: { cols: 100, rows: 30, data: (_, data) => take(data) },
      })
    : Bun.spawn(command, { cwd: folder, env, stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' });
  let memoryMax = 0;
  const looking = setInterval(() => {
    memoryMax = Math.max(memoryMax, peakOf(child.pid));
  }, LOOK_MS);
  const finish = async (): Promise<Ended> => {
    if (child.stderr instanceof ReadableStream) for await (const chunk of child.stderr) take(chunk);
    await child.exited;
    child.terminal?.close();
    clearInterval(looking);
    return { code: child.exitCode, said, memoryMax };
  };
  return { kill: () => child.kill('SIGKILL'), ended: finish() };
}

function peakOf(pid: number): number {
  try {
    const [, size = '0'] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(size) * 1_024;
  } catch {
    // It has just ended.
    return 0;
  }
}
