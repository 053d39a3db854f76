// Opens the journal of a run: a new one, that of an interrupted run, or that of a finished one.
import { CliError, usageError } from '../../errors.ts';
import { sha256 } from '../../files/digest.ts';
import { kindAt } from '../../files/private-file.ts';
import { counted, formatCount } from '../../terminal/format.ts';
import { canAsk, confirm } from '../../terminal/questions.ts';
import { note } from '../../terminal/streams.ts';
import { type ImportRequest, totalCounts } from '../request.ts';
import type { ErrorsMark } from './errors-file.ts';
import { Journal } from './journal.ts';
import type { JournalHeader, JournalState, Pass } from './journal-state.ts';
import { lockRun } from './lock.ts';
import type { RowJob } from './row-job.ts';

/** What is done with which rows, and where. */
export interface RunSubject {
  /** Digest of the input; null if it can be read only once. */
  content: string | null;
  job: RowJob;
  /** Server URL. */
  url: string;
  apiKey: string;
  organizationId: string;
  request: Pick<ImportRequest, 'batchSize' | 'isResumeWanted' | 'isConfirmed'>;
}

export interface ResumeOptions extends RunSubject {
  /** The file next to which the journal is, or null if there is none, as with standard input. */
  beside: string | null;
  /** Whether it is one of several journals of the same run. */
  isPart?: boolean;
}

// The server remembers idempotency keys for 24 hours.
const CERTAIN_MS = 23 * 60 * 60 * 1000;

/** The journal to use; its state shows whether the import is finished, or its progress. */
export async function openJournal(options: ResumeOptions): Promise<Journal> {
  const { beside, request, job } = options;
  const { settings } = job;
  // An input that can be read only once has no digest, so it gets new keys every time. So do rows that may be sent
  // again: replayed responses to the first time would keep the second from writing.
  const isSalted = !request.isResumeWanted || options.content === null || job.ifRepeated === null;
  const header = headerOf(options, isSalted ? crypto.randomUUID() : '');
  const pass = passOf(header, settings, 1);
  if (beside === null) return Journal.begin(null, header, pass);
  const { path, journal } = request.isResumeWanted
    ? journalOf(beside, job, header)
    : { path: `${beside}${job.journalSuffix}`, journal: undefined };
  if (journal === undefined) return beginAt(path, job, header, pass);
  const { state } = journal;
  const isForgettable = job.ifRepeated === null ? isChanged(state, header) : isInVain(state);
  const isDone = state.finishedAt !== null && (state.rejected.size === 0 || state.pass.settings === settings);
  const isAgain = isDone && job.isSentAgain === true;
  if (!options.isPart && (isAgain || (isForgettable && isOther(state, header, settings)))) {
    journal.close();
    // Replayed responses about refused rows must not count as current ones.
    const fresh = { ...header, salt: crypto.randomUUID() };
    // The rejected rows of other content are still wanted.
    const errors = isInVain(state) ? state.errors : null;
    return beginAt(path, job, fresh, passOf(fresh, settings, 1), errors);
  }
  refuseOtherRows(state, header, options);
  if (state.finishedAt === null && job.ifRepeated !== null) await settleDoubts(state, options, path);
  return journal;
}

/** Locks out other runs with the same rows; the returned function releases the lock. */
export function lockRows(subject: RunSubject): () => void {
  const { content, mapping, server, organizationId } = headerOf(subject, '');
  return lockRun(subject.job, [content, mapping, server, organizationId].join('\n'));
}

/** The next pass, with the given settings. */
export function nextPass(state: JournalState, settings: string): Pass {
  return passOf(state, settings, state.pass.number + 1);
}

function headerOf(options: RunSubject, salt: string): JournalHeader {
  const { content, job, url, apiKey, organizationId, request } = options;
  return {
    content: sha256(content ?? ''),
    mapping: job.mapping,
    resource: job.resource.name,
    server: url,
    keyDigest: sha256(apiKey),
    organizationId,
    salt,
    batchSize: request.batchSize,
    startedAt: new Date().toISOString(),
  };
}

/**
 * Keys depend only on the content of batches: the input's bytes, the mapping, the batch size and the pass. So a run
 * without the journal of an earlier one, lost or on another machine, sends the same batches with the same keys, and for
 * 24 hours the server replays its responses instead of writing again. A batch with other rows, or with rows that are
 * read differently, never has the key of an earlier one.
 */
function passOf(header: JournalHeader, settings: string, number: number): Pass {
  const { content, mapping, batchSize, salt } = header;
  const values = (JSON.parse(settings) as string[]).at(-1);
  const parts = [content, mapping, values, batchSize, salt, number === 1 ? '' : `${number} ${settings}`];
  return { number, settings, keyPrefix: `crm-import-${sha256(parts.join('\n')).slice(0, 40)}` };
}

/** The journal of an earlier run for this resource and organization, or the path for a new one. */
function journalOf(
  beside: string,
  { journalSuffix }: RowJob,
  header: JournalHeader,
): { path: string; journal: Journal | undefined } {
  for (let number = 1; ; number += 1) {
    const path = `${beside}${journalSuffix}${number === 1 ? '' : `.${number}`}`;
    const journal = kindAt(path) === 'nothing' ? undefined : Journal.resume(path);
    if (journal === undefined || isOfSame(journal.state, header)) return { path, journal };
    journal.close();
  }
}

function isOfSame(earlier: JournalState, header: JournalHeader): boolean {
  if (earlier.server !== header.server || earlier.resource !== header.resource) return false;
  if (earlier.organizationId !== null) return earlier.organizationId === header.organizationId;
  if (earlier.keyDigest === header.keyDigest) return true;
  throw new CliError(
    'This file was imported, at least in part, with another API key, maybe into another organization.',
    { nextSteps: ['use the same key to continue, or add --no-resume to import every row with this one.'] },
  );
}

/** Whether a run wrote nothing, so that no row can be duplicated now. */
function isInVain({ accepted, counts, pending, rejected }: JournalState): boolean {
  const { created, updated, unchanged, deleted } = totalCounts([accepted, counts]);
  return created + updated + unchanged + deleted === 0 && pending.length === 0 && rejected.size > 0;
}

/** Whether a run does not continue the earlier one. */
function isOther(earlier: JournalState, header: JournalHeader, settings: string): boolean {
  const isEnded = earlier.finishedAt !== null && earlier.pass.settings === settings;
  return isEnded || isChanged(earlier, header);
}

function isChanged(earlier: JournalState, { content, mapping }: JournalHeader): boolean {
  return earlier.content !== content || earlier.mapping !== mapping;
}

function beginAt(
  path: string,
  { verb, ifRepeated }: RowJob,
  header: JournalHeader,
  pass: Pass,
  errors?: ErrorsMark | null,
): Journal {
  try {
    return Journal.begin(path, header, pass, errors);
  } catch {
    note(
      `crm: cannot write ${path}, so this ${verb} has no journal. If it is interrupted, run the same command`,
    );
    note(
      ifRepeated === null
        ? 'crm: again: it starts with the first row.'
        : 'crm: again within 24 hours: the server remembers the rows, and none is imported twice.',
    );
    return Journal.begin(null, header, pass);
  }
}

/** Changed rows, or the same rows with another mapping, are never imported unasked: most may already exist. */
function refuseOtherRows(
  earlier: JournalState,
  header: JournalHeader,
  { beside: input, job }: Pick<ResumeOptions, 'beside' | 'job'>,
): void {
  if (!isChanged(earlier, header)) return;
  const hasChanged = earlier.content !== header.content;
  const part =
    earlier.finishedAt === null
      ? `The first ${counted(earlier.rows, 'row')} of ${input} ${earlier.rows === 1 ? 'was' : 'were'} already`
      : `${input} was already`;
  const what = hasChanged ? 'and the file has changed since' : 'with another mapping';
  const { rejected } = earlier;
  throw usageError(
    `${part} imported, ${what}.`,
    ...(rejected.size > 0 ? ['correct rejected rows in the errors file, and import that.'] : []),
    hasChanged
      ? 'put new rows into a file with another name.'
      : 'use the same mapping to continue that import.',
    ...(job.otherWays ?? []),
    `add --no-resume to import every row again, ${job.ifRepeated}.`,
  );
}

/** Batches without a response are sent again; that is safe only while the server remembers their keys. */
async function settleDoubts(earlier: JournalState, options: ResumeOptions, path: string): Promise<void> {
  const [first] = earlier.pending;
  const last = earlier.pending.at(-1);
  if (first === undefined || last === undefined) return;
  const isForgotten = Date.now() - first.sentAt > CERTAIN_MS;
  const isOtherKey = earlier.keyDigest !== sha256(options.apiKey);
  if ((!isForgotten && !isOtherKey) || options.request.isConfirmed) return;
  const lines = `lines ${first.rows[0]?.line} to ${last.rows.at(-1)?.line}`;
  const reason = isForgotten ? 'more than 23 hours ago' : 'with another API key';
  const doubt = `The rows in ${lines} were sent ${reason}, but no response arrived. They may already be imported.`;
  if (canAsk() && (await confirm(`${doubt}\nSend them again?`))) return;
  const sent = earlier.rows + earlier.pending.reduce((sum, { rows }) => sum + rows.length, 0);
  throw usageError(
    doubt,
    'check whether these records exist. If not, run the command again with --yes.',
    `if they exist, remove the first ${formatCount(sent)} rows from the input, delete ${path} and import the rest.`,
  );
}
