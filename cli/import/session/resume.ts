// Opens the journal of an import: a new one, that of an interrupted run, or that of a finished one.
import { CliError, usageError } from '../../errors.ts';
import { sha256 } from '../../files/digest.ts';
import { kindAt } from '../../files/private-file.ts';
import { counted, formatCount } from '../../terminal/format.ts';
import { canAsk, confirm, note } from '../../terminal/streams.ts';
import { type Plan, planKey } from '../plan/plan.ts';
import { type ImportRequest, totalCounts } from '../request.ts';
import type { ErrorsMark } from './errors-file.ts';
import { JOURNAL_SUFFIX, Journal } from './journal.ts';
import type { JournalHeader, JournalState, Pass } from './journal-state.ts';
import { lockImport } from './lock.ts';

/** What is imported, and where. */
export interface ImportSubject {
  /** Digest of the input; null if it can be read only once. */
  content: string | null;
  plan: Plan;
  /** Server URL. */
  url: string;
  apiKey: string;
  oldestPipelineId: string | null;
  request: ImportRequest;
}

export interface ResumeOptions extends ImportSubject {
  /** The file next to which the journal is, or null if there is none, as with standard input. */
  beside: string | null;
  /** Whether it is one of several journals of the same import. */
  isPart?: boolean;
}

// The server remembers idempotency keys for 24 hours.
const CERTAIN_MS = 23 * 60 * 60 * 1000;

/** The journal to use; its state shows whether the import is finished, or its progress. */
export async function openJournal(options: ResumeOptions): Promise<Journal> {
  const { beside, request } = options;
  const settings = settingsOf(options);
  // An input that can be read only once has no digest, so it gets new keys every time.
  const isSalted = !request.isResumeWanted || options.content === null;
  const header = headerOf(options, isSalted ? crypto.randomUUID() : '');
  const pass = passOf(header, settings, 1);
  if (beside === null) return Journal.begin(null, header, pass);
  const { path, journal } = request.isResumeWanted
    ? journalOf(beside, header)
    : { path: `${beside}${JOURNAL_SUFFIX}`, journal: undefined };
  if (journal === undefined) return beginAt(path, header, pass);
  if (!options.isPart && isInVain(journal.state) && isOther(journal.state, header, settings)) {
    journal.close();
    // Replayed responses about refused rows must not count as current ones.
    const fresh = { ...header, salt: crypto.randomUUID() };
    return beginAt(path, fresh, passOf(fresh, settings, 1), journal.state.errors);
  }
  refuseOtherRows(journal.state, header, options);
  if (journal.state.finishedAt === null) await settleDoubts(journal.state, options, path);
  return journal;
}

/** Locks out other imports of the same rows; the returned function releases the lock. */
export function lockRows(subject: ImportSubject): () => void {
  const { content, mapping, server, oldestPipelineId, keyDigest } = headerOf(subject, '');
  return lockImport([content, mapping, server, oldestPipelineId ?? keyDigest].join('\n'));
}

/** The settings of a request that may differ between passes. */
export function settingsOf({ request, plan }: Pick<ImportSubject, 'request' | 'plan'>): string {
  const values = JSON.stringify([...plan.values].map(([header, map]) => [header, [...map]]));
  return JSON.stringify([request.onDuplicate, request.createMissing, sha256(values).slice(0, 16)]);
}

/** The next pass, with the given settings. */
export function nextPass(state: JournalState, settings: string): Pass {
  return passOf(state, settings, state.pass.number + 1);
}

function headerOf(options: ImportSubject, salt: string): JournalHeader {
  const { content, plan, url, apiKey, oldestPipelineId, request } = options;
  return {
    content: sha256(content ?? ''),
    // Replaced values may differ between passes.
    mapping: sha256(planKey({ ...plan, values: new Map() })),
    resource: plan.resource.name,
    server: url,
    keyDigest: sha256(apiKey),
    oldestPipelineId,
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
  const [, , values] = JSON.parse(settings) as string[];
  const parts = [content, mapping, values, batchSize, salt, number === 1 ? '' : `${number} ${settings}`];
  return { number, settings, keyPrefix: `crm-import-${sha256(parts.join('\n')).slice(0, 40)}` };
}

/** The journal of an earlier run for this resource and organization, or the path for a new one. */
function journalOf(beside: string, header: JournalHeader): { path: string; journal: Journal | undefined } {
  for (let number = 1; ; number += 1) {
    const path = `${beside}${JOURNAL_SUFFIX}${number === 1 ? '' : `.${number}`}`;
    const journal = kindAt(path) === 'nothing' ? undefined : Journal.resume(path);
    if (journal === undefined || isOfSame(journal.state, header)) return { path, journal };
    journal.close();
  }
}

function isOfSame(earlier: JournalState, header: JournalHeader): boolean {
  if (earlier.server !== header.server || earlier.resource !== header.resource) return false;
  if (earlier.keyDigest === header.keyDigest) return true;
  if (earlier.oldestPipelineId !== null && header.oldestPipelineId !== null) {
    return earlier.oldestPipelineId === header.oldestPipelineId;
  }
  throw new CliError(
    'This file was imported, at least in part, with another API key, maybe into another organization.',
    { nextSteps: ['use the same key to continue, or add --no-resume to import every row with this one.'] },
  );
}

/** Whether a run imported nothing, so that no row can be duplicated now. */
function isInVain({ accepted, counts, pending, rejected }: JournalState): boolean {
  const { created, updated } = totalCounts([accepted, counts]);
  return created + updated === 0 && pending.length === 0 && rejected.size > 0;
}

/** Whether a run does not continue the earlier one. */
function isOther(earlier: JournalState, header: JournalHeader, settings: string): boolean {
  const isEnded = earlier.finishedAt !== null && earlier.pass.settings === settings;
  return isEnded || earlier.content !== header.content || earlier.mapping !== header.mapping;
}

function beginAt(path: string, header: JournalHeader, pass: Pass, errors?: ErrorsMark | null): Journal {
  try {
    return Journal.begin(path, header, pass, errors);
  } catch {
    note(
      `crm: cannot write ${path}, so this import has no journal. If it is interrupted, run the same command`,
    );
    note('crm: again within 24 hours: the server remembers the rows, and none is imported twice.');
    return Journal.begin(null, header, pass);
  }
}

/** Changed rows, or the same rows with another mapping, are never imported unasked: most may already exist. */
function refuseOtherRows(
  earlier: JournalState,
  header: JournalHeader,
  { beside: input, plan, request }: Pick<ResumeOptions, 'beside' | 'plan' | 'request'>,
): void {
  const hasChanged = earlier.content !== header.content;
  if (!hasChanged && earlier.mapping === header.mapping) return;
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
    `add --no-resume to import every row again, ${amongOthers(plan, request)}.`,
  );
}

/** What happens to rows whose records already exist. */
function amongOthers({ resource }: Plan, { onDuplicate }: ImportRequest): string {
  if (resource.repeatedBy.length > 0) return 'except those that already exist';
  const unique = Object.keys(resource.unique);
  if (unique.length === 0) return 'as new records';
  return {
    fail: `as new records; rows whose ${unique.join(' or ')} already exists are rejected`,
    skip: `except those whose ${unique.join(' or ')} already exists`,
    update: `which updates ${resource.name} whose ${unique.join(' or ')} already exists`,
  }[onDuplicate];
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
