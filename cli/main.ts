// The entry: decides on color before any module reads it, then runs the command line.

import { listenForInterrupts } from './terminal/interrupt.ts';
import { flushErrors, writeOut } from './terminal/streams.ts';

async function main(words: string[]): Promise<number> {
  const isPlain = process.env.NO_COLOR || process.env.TERM === 'dumb' || words.includes('--no-color');
  if (isPlain) process.env.FORCE_COLOR = '0';
  // A failed write is reported to its writer; without a listener it would also end the process.
  process.stdout.on('error', () => {});
  process.stderr.on('error', () => {});
  listenForInterrupts();
  const { run } = await import('./program.ts');
  return run(words);
}

if (Bun.isMainThread) {
  const exitCode = await main(process.argv.slice(2));
  await Promise.allSettled([writeOut(''), flushErrors()]);
  process.exit(exitCode);
} else {
  // An executable has one entry point, which its threads share.
  await import('../server/readers/thread.ts');
}
