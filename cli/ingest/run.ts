// Carries out `crm ingest`, and says what it stored.
import { CliError, EXIT } from '../errors.ts';
import { inputName } from '../input/files.ts';
import type { Config } from '../settings/config.ts';
import { counted, formatCount } from '../terminal/format.ts';
import { printSummaryJson } from '../terminal/output.ts';
import { note } from '../terminal/streams.ts';
import { neutralizeLine } from '../terminal/text.ts';
import { type IngestRequest, type IngestResource, type IngestSummary, ingestFile } from './ingest-file.ts';

export type IngestFlags = Omit<IngestRequest, 'resource' | 'file' | 'db'>;

/** Stores the entries of a file and reports; throws if some were not valid. */
export async function runIngest(
  resource: IngestResource,
  file: string,
  options: IngestFlags,
  config: Config,
): Promise<void> {
  const summary = await ingestFile({ ...options, resource, file, db: config.db });
  await printSummaryJson(config, summary);
  const name = inputName(file);
  const told = options.quiet ? summary.faults : [...summary.notices, ...summary.faults];
  for (const { line, message } of told) note(neutralizeLine(`${name}:${line}: ${message}`));
  if (!options.quiet) note(sentence(summary));
  if (summary.faults.length === 0) return;
  // An entry may have several.
  throw new CliError(`${name} has ${counted(summary.faults.length, 'error')}; the rest is stored.`, {
    exitCode: EXIT.rejectedRows,
    nextSteps: ['correct the lines named above and run the same command again; no duplicates are created.'],
  });
}

function sentence({
  resource,
  created,
  updated,
  unchanged,
  cancelled,
  ignored,
  faults,
}: IngestSummary): string {
  const counts: [number, string, isAlways?: boolean][] = [
    [created, 'created', true],
    [updated, 'updated', true],
    [unchanged, 'unchanged', true],
    [cancelled, 'cancelled'],
    [ignored, ignored === 1 ? 'other event skipped' : 'other events skipped'],
    [faults.length, faults.length === 1 ? 'error' : 'errors'],
  ];
  const parts = counts.filter(([count, , isAlways]) => isAlways || count > 0);
  return `${resource}: ${parts.map(([count, word]) => `${formatCount(count)} ${word}`).join(', ')}.`;
}
