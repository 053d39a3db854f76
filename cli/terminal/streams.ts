// The process's streams: data on stdout, everything else on stderr, questions on a terminal only.
import { createInterface } from 'node:readline/promises';
import { withProgramName } from './program-name.ts';
import { neutralize } from './text.ts';
import { terminalWidth, wrapLines } from './wrap.ts';

/** Writes data to stdout and resolves once it is accepted, so that a slow reader slows the writer. */
export function writeOut(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });
}

/** Writes data unchanged to stdout; on a terminal, control characters are made visible. */
export function writeValues(text: string): Promise<void> {
  return writeOut(process.stdout.isTTY ? neutralize(text) : text);
}

type Write = (text: string) => void;

const writeError: Write = (text) => void process.stderr.write(text);
let writeNote = writeError;

/** Writes lines for people to stderr, above live output; commands in them can be typed as shown. */
export function note(text: string): void {
  writeNote(`${wrapLines(neutralize(withProgramName(text)), terminalWidth(process.stderr))}\n`);
}

/** Lets a live display write the notes above itself; the returned function ends this. */
export function notesBy(write: Write): () => void {
  writeNote = write;
  return () => {
    writeNote = writeError;
  };
}

/** Resolves once everything written to stderr so far has left the process. */
export function flushErrors(): Promise<void> {
  return new Promise((resolve) => process.stderr.write('', () => resolve()));
}

/** Whether a person can answer: stdin and stderr are a terminal. */
export function canAsk(): boolean {
  return Boolean(process.stdin.isTTY && process.stderr.isTTY);
}

/** Asks for a yes on the terminal; any other answer means no. */
export async function confirm(question: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  // Without a listener, readline swallows Ctrl-C.
  terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  try {
    const answer = await terminal.question(`${neutralize(question)} [y/N] `);
    return /^y(?:es)?$/i.test(answer.trim());
  } finally {
    terminal.close();
  }
}
