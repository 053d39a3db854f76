// Questions to the person at the terminal.
import { createInterface } from 'node:readline/promises';
import { isatty } from 'node:tty';
import { stderr } from './streams.ts';
import { neutralize } from './text.ts';

/** Whether a person can answer: stdin and stderr are a terminal. */
export function canAsk(): boolean {
  return isatty(0) && stderr.isTTY;
}

/** Asks for a yes on the terminal; any other answer means no. */
export async function confirm(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: stderr.stream });
  // Without a listener, readline swallows Ctrl-C.
  terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    const answer = await terminal.question(`${neutralize(question)} [y/N] `);
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}
