// `crm migrate`: copies a whole database into another, of the same engine or the other one.
import type { Command } from 'commander';
import type { ComparedTable } from '../database/copy-database.ts';
import { databaseFlag } from '../database/database.ts';
import { CliError } from '../errors.ts';
import { type Config, resolveConfig } from '../settings/config.ts';
import { counted, formatCount, formatDuration } from '../terminal/format.ts';
import { printSummaryJson } from '../terminal/output.ts';
import { note } from '../terminal/streams.ts';

interface Options {
  from: string;
  to: string;
  quiet?: boolean;
}

// Enough to tell one digest from another at a glance; -o json has them whole.
const DIGEST_CHARACTERS_SHOWN = 16;

const HELP = `
Everything is copied as it is: organizations, users, keys with their hashes, stored answers to idempotency keys, records
with their ids and times, links, transcripts, and the secret that signs cursors. Nothing is written to the source. Stop
what serves either first. A file that is being served is refused, and so is a database of PostgreSQL that is to be filled
while another crm is at it; of one that is copied the copy has what was there at its start, and you are told.

The other database is a file that is not there yet, or an empty database of PostgreSQL; until the copy is whole, nothing
else opens it. After an interruption run the same command again: it goes on where it stopped. In the end every table is
read on both sides, and rows and digests are compared; a difference is told, and the command exits with 1.

Examples:
  crm migrate --from crm.db --to postgres://crm@db.example/crm
  crm migrate --from postgres://crm@db.example/crm --to crm.db`;

/** Adds `crm migrate`. */
export function registerMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .summary('copy a whole database to another')
    .description('Copy a whole database into an empty one: from a file to PostgreSQL, back, or to its like.')
    .requiredOption('--from <database>', 'a file, or postgres://user@host/database')
    .requiredOption('--to <database>', 'the one to be filled')
    .option('--quiet', 'say nothing but errors')
    .addHelpText('after', HELP)
    .action((options: Options, command: Command) => runMigrate(options, resolveConfig(command)));
}

async function runMigrate(options: Options, config: Config): Promise<void> {
  const { copyDatabase } = await import('../database/copy-database.ts');
  const summary = await copyDatabase(options);
  await printSummaryJson(config, summary);
  if (!options.quiet) for (const line of linesOf(summary.tables)) note(line);
  const different = summary.tables.filter((table) => !table.is_same).map(({ table }) => table);
  if (different.length > 0) {
    throw new CliError(`The copy is not the same as what it is of: ${different.join(', ')}.`, {
      nextSteps: [
        'something else has written to one of the two: empty the copy (or name another) and run the command again.',
      ],
    });
  }
  if (options.quiet) return;
  note(
    `Copied ${counted(summary.rows_copied, 'row')} from ${summary.from} to ${summary.to} in ` +
      `${formatDuration(summary.seconds)}; all ${summary.tables.length} tables are the same there.`,
  );
  note(`Next: crm serve${await databaseFlag(options.to)}`);
}

// A line a table: its rows and digest, and those of the copy where it has others.
function linesOf(tables: readonly ComparedTable[]): string[] {
  const nameWidth = Math.max(...tables.map(({ table }) => table.length));
  const countWidth = Math.max(...tables.map(({ rows }) => formatCount(rows).length));
  const shown = (digest: string) => digest.slice(0, DIGEST_CHARACTERS_SHOWN);
  return tables.map(({ table, rows, digest, is_same: isSame, copy }) => {
    const result = isSame ? 'same' : `differs: ${counted(copy.rows, 'row')}, ${shown(copy.digest)}`;
    const count = formatCount(rows).padStart(countWidth);
    return `${table.padEnd(nameWidth)}  ${count}  ${shown(digest)}  ${result}`;
  });
}
