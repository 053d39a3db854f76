// Carries out `crm update`, `delete` and `get --from`: many records by their IDs.
import type { Data } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import { updateFields } from '../api/body.ts';
import { resourceColumns } from '../api/column-layout.ts';
import { connect } from '../api/connect.ts';
import { References } from '../api/references.ts';
import { isTarget, resourceFor } from '../api/target.ts';
import { type GivenValues, givenValues } from '../api/values.ts';
import { type CliError, usageError } from '../errors.ts';
import { surveyInput } from '../import/plan/survey.ts';
import { checkErrorsPath } from '../import/session/errors-file.ts';
import { preflight } from '../import/session/preflight.ts';
import { Reporter } from '../import/session/report.ts';
import { runRows } from '../import/session/run-rows.ts';
import type { Config } from '../settings/config.ts';
import { counted } from '../terminal/format.ts';
import { createPrinter, type Printer, parseFields } from '../terminal/output.ts';
import { ADD_YES, confirmDelete, requireTerminal } from '../terminal/questions.ts';
import { stdout } from '../terminal/streams.ts';
import { shellWord } from '../terminal/text.ts';
import { BulkJob, type BulkVerb } from './bulk-job.ts';
import type { BulkOptions } from './options.ts';
import { reportBulk } from './summary.ts';

/** The flags of all three commands. */
export interface BulkFlags extends BulkOptions {
  /** File, or - for standard input. */
  from: string;
  dryRun?: boolean;
}

/** A command line, checked. */
interface BulkCommand {
  verb: BulkVerb;
  resource: Resource;
  flags: BulkFlags;
  /** The words after the resource that a retry repeats. */
  pairs?: readonly string[];
  constants?: GivenValues;
  /** Prints the records that are found. */
  printer?: Printer;
  /** Called with the number of rows, null if that is not known, before anything is sent. */
  confirm?: (rows: number | null) => Promise<void>;
}

const BATCH_SIZE = 100;
const CONCURRENCY = 4;

/** Updates the records of the rows; `field=value` sets a field in every row. */
export async function runUpdateFrom(
  what: string,
  id: string | undefined,
  pairs: string[],
  flags: BulkFlags & { data?: string },
  config: Config,
): Promise<void> {
  const resource = resourceFor(what, 'update');
  if (flags.data !== undefined) {
    throw usageError(
      'Use either -d or --from, not both.',
      'with --from, set a field in every row with field=value.',
    );
  }
  // Without an ID, the first pair is in its place.
  const all = [...(id === undefined ? [] : [id]), ...pairs];
  if (id !== undefined && !id.includes('=')) throw bothIdAndFrom(id);
  const constants = givenValues(all, updateFields(resource));
  await runBulk({ verb: 'update', resource, flags, pairs: all, constants }, config);
}

/** Deletes the records of the rows after a person or --yes confirms it. */
export async function runDeleteFrom(
  what: string,
  id: string | undefined,
  flags: BulkFlags & { yes?: boolean },
  config: Config,
): Promise<void> {
  const resource = resourceFor(what, 'delete');
  if (id !== undefined) throw bothIdAndFrom(id);
  const { from, yes = false, dryRun = false } = flags;
  const isSure = yes || dryRun;
  if (!isSure && from === '-')
    throw usageError('Cannot ask for confirmation: standard input has the IDs.', ADD_YES);
  if (!isSure) requireTerminal();
  const sure = async (rows: number | null): Promise<void> => {
    const records = rows === null ? resource.name : counted(rows, resource.singular, resource.name);
    if (!isSure) await confirmDelete(`the ${records} in ${from}`);
  };
  await runBulk({ verb: 'delete', resource, flags, confirm: sure }, config);
}

/** Prints the records of the rows, in their order. */
export async function runGetFrom(
  what: string,
  id: string | undefined,
  flags: BulkFlags & { fields?: string; include?: string },
  config: Config,
): Promise<void> {
  if (isTarget(what))
    throw usageError('--from takes IDs of one resource.', 'use a resource such as contacts.');
  const resource = resourceFor(what, 'get');
  if (id !== undefined) throw bothIdAndFrom(id);
  if (flags.include !== undefined)
    throw usageError('--include does not work with --from.', 'remove it, or use crm list --include.');
  const look = resourceColumns(resource);
  const printer = createPrinter(config, { ...look, fields: parseFields(flags.fields, look.allFields) });
  // Data and progress would mix on one terminal.
  const quiet = flags.quiet ?? stdout.isTTY;
  await runBulk({ verb: 'get', resource, flags: { ...flags, quiet }, printer }, config);
}

async function runBulk(command: BulkCommand, config: Config): Promise<void> {
  const { verb, resource, flags, printer, pairs = [] } = command;
  const { from: input, errors = null, dryRun: isDryRun = false, quiet: isQuiet = false } = flags;
  checkErrorsPath({ errors, input });
  const apiKey = await config.apiKey();
  const reporter = new Reporter(isQuiet);
  const client = await connect({ ...config, apiKey: async () => apiKey }, reporter.onWait);
  const source = await surveyInput(input, { format: 'lines', encoding: null });
  await command.confirm?.(source.rowCount);
  const greeting = await preflight(client);
  const constants: Data = (await command.constants?.found(new References(client))) ?? {};
  const interruption = new AbortController();
  const requestIds: string[] = [];
  const job = new BulkJob({
    ...{ verb, resource, client, reporter, interruption, isDryRun, constants, concurrency: CONCURRENCY },
    onFound: async (records) => printer?.print(records),
    onRequest: (requestId) => requestIds.push(requestId),
  });
  const request = {
    ...{ input, isDryRun, isQuiet, errors, isResumeWanted: flags.resume ?? true },
    ...{ stopAfter: null, concurrency: CONCURRENCY, batchSize: BATCH_SIZE, isConfirmed: true },
  };
  const result = await runRows({
    ...{ job, request, input: source, url: config.url, apiKey, reporter, interruption, ...greeting },
  });
  await printer?.end();
  const retry = (path: string): string =>
    ['crm', verb, resource.name, '--from', path, ...pairs].map(shellWord).join(' ');
  const { lines: reasons } = reporter.reasons;
  await reportBulk(
    { client, verb, resource, input, isDryRun, isQuiet, result, reasons, retry, requestIds },
    config,
  );
}

function bothIdAndFrom(id: string): CliError {
  return usageError(
    `Use either the ID ${id} or --from, not both.`,
    'remove one of them. With --from, the file has the IDs.',
  );
}
