// The entry: decides on color before any module reads it, then runs the command line.

import { listenForInterrupts } from './terminal/interrupt.ts';
import { stderr, stdout } from './terminal/streams.ts';

async function main(words: string[]): Promise<number> {
  const isPlain = process.env.NO_COLOR || process.env.TERM === 'dumb' || words.includes('--no-color');
  if (isPlain) process.env.FORCE_COLOR = '0';
  listenForInterrupts();
  const { run } = await import('./program.ts');
  return run(words);
}

if (Bun.isMainThread) {
  const exitCode = await main(process.argv.slice(2));
  await Promise.all([stdout.flush(), stderr.flush()]);
  process.exit(exitCode);
} else {
  // An executable has one entry point, which its threads share.
  await import('../server/readers/thread.ts');
}
