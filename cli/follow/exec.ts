// Runs the command of `--exec` for a change, which it gets as JSON on stdin.
import { setTimeout as sleep } from 'node:timers/promises';
import { singularOf } from '../../db/model/text.ts';
import { CliError } from '../errors.ts';
import { shellWord } from '../terminal/text.ts';
import type { FeedChange } from './change.ts';
import type { Stop } from './stop.ts';

const SIGNAL_MS_MAX = 100;

/** Runs the command to its end. Throws a CliError if it fails; asked twice to stop, it stops the command. */
export async function execFor(change: FeedChange, command: string, stop: Stop, cursorFile: string | null) {
  const shell = process.platform === 'win32' ? ['cmd', '/c', command] : ['sh', '-c', command];
  const child = Bun.spawn(shell, {
    stdin: new Blob([`${JSON.stringify(change)}\n`]),
    stdout: 'inherit',
    stderr: 'inherit',
    signal: stop.hurry,
    killSignal: 'SIGTERM',
  });
  const code = await child.exited;
  if (code === 0) return;
  // Ctrl-C reaches the command too, and perhaps first.
  await sleep(SIGNAL_MS_MAX);
  throw failureOf(child, change, command, cursorFile);
}

function failureOf(
  { exitCode, signalCode }: Bun.Subprocess,
  change: FeedChange,
  command: string,
  cursorFile: string | null,
): CliError {
  const end = signalCode === null ? `failed with exit code ${exitCode}` : `was ended by ${signalCode}`;
  const { sequence, action, resource, record_id } = change;
  const which = `${sequence === null ? '' : `change ${sequence}, `}${action} ${singularOf(resource)} ${record_id}`;
  const nextSteps =
    cursorFile === null
      ? ['correct that. With --cursor-file FILE, the next run continues with the change that failed.']
      : [`correct that, then run the command again: ${cursorFile} continues with this change.`];
  return new CliError(`The command ${shellWord(command)} ${end} (${which}).`, { nextSteps });
}
