// `crm migrate`: copies a whole database into another, of either engine.
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

// Enough to compare two digests at a glance; -o json prints them in full.
const DIGEST_CHARACTERS_SHOWN = 16;

const HELP = `
Migrate copies everything unchanged: organizations, users, API keys (as hashes), stored responses to idempotency keys,
records with their IDs and times, links, transcripts, and the secret that signs cursors. It writes nothing to the source.
Stop the servers of both databases first. Migrate refuses a database file that a server uses, and a PostgreSQL target that
another crm process uses. A PostgreSQL source may be in use: the copy then has its state at the start, and crm tells you.

The target is a new file or an empty PostgreSQL database. No other command opens the target until the copy is complete. If
the copy is interrupted, run the same command again to continue. At the end, crm reads every table on both sides and
compares rows and digests. It reports every difference and exits with 1 if there is one.

Examples:
  crm migrate --from crm.db --to postgres://crm@db.example/crm
  crm migrate --from postgres://crm@db.example/crm --to crm.db`;

/** Adds `crm migrate`. */
export function registerMigrateCommand(program: Command): void {
  program
    .command('migrate')
    .summary('Copy a whole database to another')
    .description('Copy a whole database into an empty one, from and to a file or PostgreSQL')
    .requiredOption('--from <database>', 'Database to copy: file, or database URL postgres://user@host/db')
    .requiredOption('--to <database>', 'Database to fill: new file, or database URL of an empty database')
    .option('--quiet', 'Print errors only')
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
    throw new CliError(`The copy differs from the source in: ${different.join(', ')}.`, {
      nextSteps: [
        'stop what writes to either database, empty the target (or choose another), then run the command again.',
      ],
    });
  }
  if (options.quiet) return;
  note(
    `Copied ${counted(summary.rows_copied, 'row')} from ${summary.from} to ${summary.to} in ` +
      `${formatDuration(summary.seconds)}; all ${summary.tables.length} tables match.`,
  );
  note(`Next: crm serve${await databaseFlag(options.to)}`);
}

// One line per table: its rows and digest, and those of the copy if they differ.
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
