// `crm import all`: imports a folder, reports on stderr, and explains how to continue after an interruption.
import { REFERENCES_MAX } from '../../../db/model/json-fields.ts';
import { connect } from '../../api/connect.ts';
import { CliError, EXIT } from '../../errors.ts';
import type { Config } from '../../settings/config.ts';
import { counted, formatCount } from '../../terminal/format.ts';
import { onInterrupt } from '../../terminal/interrupt.ts';
import { note } from '../../terminal/streams.ts';
import type { ImportRequest, ImportSummary } from '../request.ts';
import { Reporter } from '../session/report.ts';
import type { FolderSummary, LinksSummary } from './folder-job.ts';
import { continuing, importFolder } from './import-folder.ts';

/** Imports a folder; throws a CliError if it could not finish. */
export async function importAll(request: ImportRequest, config: Config): Promise<FolderSummary> {
  const tell = (text: string): void => {
    if (!request.isQuiet) note(text);
  };
  const apiKey = await config.apiKey();
  const reporter = new Reporter(request.isQuiet);
  const client = await connect({ url: config.url, apiKey: async () => apiKey }, reporter.onWait);
  const interruption = new AbortController();
  const release = onInterrupt(() => interruption.abort());
  try {
    const summary = await importFolder({
      ...{ request, url: config.url, apiKey, client, reporter, interruption },
      onFile: (file) => {
        tell(`${file.resource}: ${figures(file)}`);
        for (const line of file.diagnosis.lines) tell(line);
      },
      onLinks: (links) => tell(linkFigures(links)),
    });
    if (summary.status === 'finished') for (const line of leftBehind(summary)) tell(line);
    return summary;
  } catch (error) {
    if (!interruption.signal.aborted) throw error;
    throw new CliError('Interrupted.', { exitCode: EXIT.interrupted, nextSteps: [continuing(request)] });
  } finally {
    release();
  }
}

function figures({
  status,
  created,
  updated,
  unchanged,
  skipped,
  rejected,
  errors_file: errors,
}: ImportSummary): string {
  const parts = [
    `${formatCount(created)} created`,
    ...(updated > 0 ? [`${formatCount(updated)} matched or updated`] : []),
    ...(unchanged > 0 ? [`${formatCount(unchanged)} unchanged`] : []),
    ...(skipped > 0 ? [`${formatCount(skipped)} skipped`] : []),
    ...(rejected > 0 ? [`${formatCount(rejected)} rejected, see ${errors}`] : []),
  ];
  return `${parts.join(', ')}${status === 'already' ? ' before' : ''}`;
}

function linkFigures({ linked, rejected, errors_file: errors }: LinksSummary): string {
  const others = rejected === 0 ? '' : `, ${formatCount(rejected)} rejected, see ${errors}`;
  return `links: ${formatCount(linked)} created${others}`;
}

/** What could not be imported, one line each. */
function leftBehind(summary: FolderSummary): string[] {
  const { references_left_out: references, left_out_file: file } = summary;
  const {
    interactions_left_out: gone,
    interactions_repeated: repeated,
    interactions_reduced: reduced,
  } = summary;
  const lines = summary.skipped.map(
    (name) => `${name}: skipped, because the API can only read them. Use "crm ingest" to store them.`,
  );
  const say = (count: number, what: string, why: string): void => {
    if (count > 0) lines.push(`${counted(count, what)} ${why}`);
  };
  const unknown = 'the user is not in this organization, or the record is not in the folder or was rejected';
  say(references, 'reference', `left out: ${unknown}`);
  say(gone, 'interaction', `left out: the contact was deleted and is not in the folder. See ${file}`);
  const same = 'the same contact, type, direction, title and date';
  say(repeated, 'interaction', `left out: another one has ${same}. See ${file}`);
  const most = `${REFERENCES_MAX} contacts or companies besides the main contact and its company`;
  say(reduced, 'interaction', `imported with only ${most}`);
  if (gone + repeated + reduced > 0) lines.push('For an exact copy with IDs and times, use "crm migrate".');
  return lines;
}
