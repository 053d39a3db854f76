// Ctrl-C: ends the command with 130, unless the command that runs has something better to do.
import { EXIT } from './errors.ts';

const handlers: (() => void)[] = [];

/** Puts a command's own answer to SIGINT in place of the default; the function it returns takes it away again. */
export function onInterrupt(handler: () => void): () => void {
  handlers.push(handler);
  return () => {
    const index = handlers.lastIndexOf(handler);
    if (index >= 0) handlers.splice(index, 1);
  };
}

/** Makes SIGINT call the latest handler, or end the process where there is none. */
export function listenForInterrupts(): void {
  process.on('SIGINT', () => {
    const handler = handlers.at(-1);
    if (handler === undefined) process.exit(EXIT.interrupted);
    handler();
  });
}
