// Ctrl-C, which ends a command with 130 unless it has something better to do, and the signals that a server is sent.
import { closeSync, openSync } from 'node:fs';
import { CliError, EXIT } from '../errors.ts';

const handlers: (() => void)[] = [];

/** Puts a command's own answer to SIGINT in place of the default; the function it returns takes it away again. */
export function onInterrupt(handler: () => void): () => void {
  handlers.push(handler);
  return () => {
    const index = handlers.lastIndexOf(handler);
    if (index >= 0) handlers.splice(index, 1);
  };
}

/** Resolves as the work does; Ctrl-C makes it reject at once with a message and the next step, as they are by then. */
export async function unlessInterrupted<T>(
  work: Promise<T>,
  explain: () => { message: string; nextSteps: string[] },
): Promise<T> {
  const interruption = Promise.withResolvers<never>();
  // A second Ctrl-C does not wait for anything to be tidied up.
  const release = onInterrupt(() => {
    release();
    const { message, nextSteps } = explain();
    interruption.reject(new CliError(message, { exitCode: EXIT.interrupted, nextSteps }));
  });
  try {
    return await Promise.race([work, interruption.promise]);
  } finally {
    release();
  }
}

/** What a server is told about its end. */
export interface StopRequest {
  /** Resolves at the first Ctrl-C, SIGTERM or SIGQUIT; Ctrl-C once more ends the process by its default. */
  first: Promise<void>;
  /** Resolves when there is nothing to be waited for any more: at Ctrl-C, or the second of the others. */
  hurry: Promise<void>;
  /** Resolves when another server takes over, as SIGUSR2 says. */
  handOver: Promise<void>;
  /** Whether that signal is listened for. */
  hearsHandOver: boolean;
}

/** Listens for the signals that end a server. */
export function stopRequested(): StopRequest {
  const first = Promise.withResolvers<void>();
  const hurry = Promise.withResolvers<void>();
  const handOver = Promise.withResolvers<void>();
  const hearsHandOver = process.platform === 'linux';
  const release = onInterrupt(() => {
    release();
    first.resolve();
    hurry.resolve();
  });
  let count = 0;
  const hear = () => {
    count += 1;
    first.resolve();
    if (count > 1) hurry.resolve();
  };
  for (const signal of ['SIGTERM', 'SIGQUIT'] as const) process.on(signal, hear);
  if (hearsHandOver) process.on('SIGUSR2', handOver.resolve);
  return { first: first.promise, hurry: hurry.promise, handOver: handOver.promise, hearsHandOver };
}

/** Calls the handler at each SIGHUP; one that says that the terminal is gone is a request to stop instead. */
export function onHangUp(handler: () => void): void {
  const hadTerminal = process.stderr.isTTY;
  process.on('SIGHUP', () => {
    if (hadTerminal && !hasTerminal()) process.kill(process.pid, 'SIGTERM');
    else handler();
  });
}

function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}

/** Makes SIGINT call the latest handler, or end the process where there is none. */
export function listenForInterrupts(): void {
  process.on('SIGINT', () => {
    const handler = handlers.at(-1);
    if (handler === undefined) process.exit(EXIT.interrupted);
    handler();
  });
}
