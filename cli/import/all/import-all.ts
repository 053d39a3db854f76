// `crm import all`: the import of a folder, told of on stderr, and how to go on where it breaks off.
import { connect } from '../../api/connect.ts';
import { CliError, EXIT, withStep } from '../../errors.ts';
import type { Config } from '../../settings/config.ts';
import { counted, formatCount } from '../../terminal/format.ts';
import { onInterrupt } from '../../terminal/interrupt.ts';
import { note } from '../../terminal/streams.ts';
import type { ImportRequest, ImportSummary } from '../request.ts';
import { Reporter } from '../session/report.ts';
import type { FolderSummary, LinksSummary } from './folder-job.ts';
import { importFolder } from './import-folder.ts';

/** Imports a folder; throws a CliError where it could not be brought to its end. */
export async function importAll(request: ImportRequest, config: Config): Promise<FolderSummary> {
  const tell = (text: string): void => {
    if (!request.isQuiet) note(text);
  };
  const apiKey = await config.apiKey();
  const reporter = new Reporter(request.isQuiet);
  const client = await connect({ url: config.url, apiKey: async () => apiKey }, reporter.onWait);
  const interruption = new AbortController();
  const release = onInterrupt(() => interruption.abort());
  let hasBegun = false;
  try {
    const summary = await importFolder({
      ...{ request, url: config.url, apiKey, client, reporter, interruption },
      onBegin: () => {
        hasBegun = true;
      },
      onFile: (file) => {
        tell(`${file.resource}: ${figures(file)}`);
        for (const line of file.diagnosis.lines) tell(line);
      },
      onLinks: (links) => tell(linkFigures(links)),
    });
    if (summary.status === 'finished') for (const line of leftBehind(summary)) tell(line);
    return summary;
  } catch (error) {
    const command = request.isResumeWanted
      ? 'the same command again'
      : 'the command again without --no-resume';
    const step = `run ${command}: it goes on where it stopped, and nothing is lost or doubled.`;
    if (!interruption.signal.aborted) throw hasBegun ? withStep(error, step) : error;
    throw new CliError('Interrupted.', { exitCode: EXIT.interrupted, nextSteps: [step] });
  } finally {
    release();
  }
}

function figures({
  status,
  created,
  updated,
  skipped,
  rejected,
  errors_file: errors,
}: ImportSummary): string {
  const parts = [
    `${formatCount(created)} created`,
    ...(updated > 0 ? [`${formatCount(updated)} matched or updated`] : []),
    ...(skipped > 0 ? [`${formatCount(skipped)} skipped`] : []),
    ...(rejected > 0 ? [`${formatCount(rejected)} rejected, see ${errors}`] : []),
  ];
  return `${parts.join(', ')}${status === 'already' ? ' before' : ''}`;
}

function linkFigures({ linked, rejected, errors_file: errors }: LinksSummary): string {
  const others = rejected === 0 ? '' : `, ${formatCount(rejected)} rejected, see ${errors}`;
  return `links: ${formatCount(linked)} linked${others}`;
}

/** What of the folder cannot come in, a line each. */
function leftBehind(summary: FolderSummary): string[] {
  const { skipped, references_left_out: references, left_out_file: file } = summary;
  const { interactions_left_out: leftOut, interactions_reduced: reduced } = summary;
  const lines = skipped.map((name) => `${name}: skipped; they are read-only and come in with "crm ingest"`);
  const say = (count: number, what: string, why: string): void => {
    if (count > 0) lines.push(`${counted(count, what)} ${why}`);
  };
  const unknown =
    'to users that this organization does not have, or to records that the folder does not have';
  say(references, 'reference', `left out: ${unknown}`);
  say(leftOut, 'interaction', `left out: the contact was deleted and is not in the folder; kept in ${file}`);
  say(
    reduced,
    'interaction',
    'imported with the main contact and its company alone, without others who took part',
  );
  if (leftOut + reduced > 0) lines.push('For an exact copy, ids and times included, use "crm migrate".');
  return lines;
}
