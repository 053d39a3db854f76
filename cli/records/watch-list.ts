// `crm list --watch` on a terminal: the table, drawn again every few seconds until Ctrl-C.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '../api/client.ts';
import { usageError } from '../errors.ts';
import { Stop } from '../follow/stop.ts';
import type { Config } from '../settings/config.ts';
import { stdout, writeOut } from '../terminal/streams.ts';
import { terminalWidth } from '../terminal/wrap.ts';
import { type PeopleList, printPeopleList } from './people-list.ts';

const SECONDS_DEFAULT = 2;
const ROWS_DEFAULT = 24;
// The line above the table, its header, and the line of the cursor.
const OTHER_ROWS = 3;
const SCREEN = {
  enter: '\u001b[?1049h\u001b[?25l',
  leave: '\u001b[?25h\u001b[?1049l',
  clear: '\u001b[H\u001b[J',
};

/** How often the table is drawn; throws a usage error for what cannot be drawn again and again. */
export function watchSeconds(seconds: number | true, list: PeopleList | undefined): number {
  if (list === undefined)
    throw usageError(
      '--watch draws the table of a resource on a terminal.',
      'to follow changes in a pipe: crm watch',
    );
  if (list.flags.all || list.flags.cursor !== undefined)
    throw usageError('--watch shows one screen.', 'remove --all and --cursor.');
  return seconds === true ? SECONDS_DEFAULT : seconds;
}

/** Draws the table until the command is stopped; what has changed since the last time is bold. */
export async function watchList(
  list: PeopleList,
  client: Client,
  { isColored }: Pick<Config, 'isColored'>,
  seconds: number,
): Promise<void> {
  using stop = new Stop(true);
  let former: readonly string[] = [];
  await writeOut(SCREEN.enter);
  try {
    while (!stop.isRequested) {
      const lines = await linesOf(list, client);
      const time = new Date().toISOString().slice('YYYY-MM-DDT'.length, 'YYYY-MM-DDThh:mm:ss'.length);
      const head = `${list.resource.name}, every ${seconds} s, at ${time} UTC (Ctrl-C ends)`;
      const drawn = lines.map((line) =>
        isColored && former.length > 0 && !former.includes(line) ? bold(line) : line,
      );
      await writeOut(`${SCREEN.clear}${head.slice(0, terminalWidth(stdout))}\n${drawn.join('\n')}\n`);
      former = lines;
      await sleep(seconds * 1_000, undefined, { signal: stop.signal }).catch(() => {});
    }
  } finally {
    await writeOut(SCREEN.leave);
  }
  process.exitCode = stop.exitCode;
}

async function linesOf(list: PeopleList, client: Client): Promise<string[]> {
  const rows = Math.max(1, (stdout.rows ?? ROWS_DEFAULT) - OTHER_ROWS);
  const limit = Math.min(rows, list.flags.limit ?? rows);
  let text = '';
  const output = {
    write: async (piece: string) => {
      text += piece;
    },
    end: async () => {},
  };
  const layout = { isColored: false, width: terminalWidth(stdout) };
  const { isEmpty } = await printPeopleList(
    { ...list, flags: { ...list.flags, limit } },
    client,
    output,
    layout,
  );
  const lines = isEmpty ? [`No ${list.resource.name}.`] : text.trimEnd().split('\n');
  return lines.slice(0, rows + 1);
}

function bold(line: string): string {
  return `\u001b[1m${line}\u001b[22m`;
}
