// Handles Ctrl-C, which ends a command with exit code 130 by default, and the signals of a server.
import { closeSync, openSync } from 'node:fs';
import { CliError, EXIT } from '../errors.ts';
import { stderr } from './streams.ts';

const handlers: (() => void)[] = [];

/** Sets a command's own handler for SIGINT; the returned function removes it. */
export function onInterrupt(handler: () => void): () => void {
  handlers.push(handler);
  return () => {
    const index = handlers.lastIndexOf(handler);
    if (index >= 0) handlers.splice(index, 1);
  };
}

/** Resolves with the result of the work; Ctrl-C rejects at once with the message and next steps of that moment. */
export async function unlessInterrupted<T>(
  work: Promise<T>,
  explain: () => { message: string; nextSteps: string[] },
): Promise<T> {
  const interruption = Promise.withResolvers<never>();
  // A second Ctrl-C does not wait for cleanup.
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

/** The signals that stop a server. */
export interface StopRequest {
  /** Resolves at the first Ctrl-C, SIGTERM or SIGQUIT; another Ctrl-C ends the process by default. */
  first: Promise<void>;
  /** Resolves when the server must stop without draining: at Ctrl-C, or at a second SIGTERM or SIGQUIT. */
  hurry: Promise<void>;
  /** Resolves at SIGUSR2, when another server takes over. */
  handOver: Promise<void>;
  /** Whether SIGUSR2 is handled. */
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

/** Calls the handler at each SIGHUP, except when the terminal is gone: then SIGHUP stops the server. */
export function onHangUp(handler: () => void): void {
  const hadTerminal = stderr.isTTY;
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

/** Makes SIGINT call the latest handler, or end the process if there is none. */
export function listenForInterrupts(): void {
  process.on('SIGINT', () => {
    const handler = handlers.at(-1);
    if (handler === undefined) process.exit(EXIT.interrupted);
    handler();
  });
}
