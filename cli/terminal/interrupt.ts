// Ctrl-C: ends the command with 130, unless the command that runs has something better to do.
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

/** Resolves at the first Ctrl-C or SIGTERM; Ctrl-C once more ends the process by its default. */
export function stopRequested(): Promise<void> {
  return new Promise((resolve) => {
    const release = onInterrupt(() => {
      release();
      resolve();
    });
    process.once('SIGTERM', () => resolve());
  });
}

/** Makes SIGINT call the latest handler, or end the process where there is none. */
export function listenForInterrupts(): void {
  process.on('SIGINT', () => {
    const handler = handlers.at(-1);
    if (handler === undefined) process.exit(EXIT.interrupted);
    handler();
  });
}
