// Carries out `crm migrate`, and says how source and copy compare.
import { CliError } from '../errors.ts';
import type { Config } from '../settings/config.ts';
import { counted, formatCount, formatDuration } from '../terminal/format.ts';
import { printSummaryJson } from '../terminal/output.ts';
import { note } from '../terminal/streams.ts';
import { type ComparedTable, type CopyRequest, copyDatabase } from './copy-database.ts';
import { databaseFlag } from './database.ts';

// Enough to compare two digests at a glance; -o json prints them in full.
const DIGEST_CHARACTERS_SHOWN = 16;

/** Copies the database, prints how the tables compare, and throws if they differ. */
export async function runMigrate(options: CopyRequest, config: Config): Promise<void> {
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
  note(`Next: crm serve${databaseFlag(options.to)}`);
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
