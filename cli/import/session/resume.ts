// Opens the journal of an import: afresh, where an earlier run stopped, or to find that there is nothing left to do.
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

/** What is imported, and into what. */
export interface ImportSubject {
  /** Stands for the bytes of the input; null where it can be read only once. */
  content: string | null;
  plan: Plan;
  /** Address of the server. */
  url: string;
  apiKey: string;
  oldestPipelineId: string | null;
  request: ImportRequest;
}

export interface ResumeOptions extends ImportSubject {
  /** What the journal stands beside, or null where none can be kept, as for standard input. */
  beside: string | null;
  /** Whether it is one of several journals of an import, which belong together. */
  isPart?: boolean;
}

// The server remembers idempotency keys for 24 hours.
const CERTAIN_MS = 23 * 60 * 60 * 1000;

/** The journal to go on with; its state says whether the import is finished, or how far it is. */
export async function openJournal(options: ResumeOptions): Promise<Journal> {
  const { beside, request } = options;
  const settings = settingsOf(options);
  // Of what cannot be read again nothing is known beforehand: its keys are new ones every time.
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
    // What the server remembers of the rows that it refused must not be taken for what it says now.
    const fresh = { ...header, salt: crypto.randomUUID() };
    return beginAt(path, fresh, passOf(fresh, settings, 1), journal.state.errors);
  }
  refuseOtherRows(journal.state, header, options);
  if (journal.state.finishedAt === null) await settleDoubts(journal.state, options, path);
  return journal;
}

/** Keeps other imports of the same rows out; the function it returns lets them in again. */
export function lockRows(subject: ImportSubject): () => void {
  const { content, mapping, server, oldestPipelineId, keyDigest } = headerOf(subject, '');
  return lockImport([content, mapping, server, oldestPipelineId ?? keyDigest].join('\n'));
}

/** What of a request may differ from one pass over the rows to the next. */
export function settingsOf({ request, plan }: Pick<ImportSubject, 'request' | 'plan'>): string {
  const values = JSON.stringify([...plan.values].map(([header, map]) => [header, [...map]]));
  return JSON.stringify([request.onDuplicate, request.createMissing, sha256(values).slice(0, 16)]);
}

/** The pass that follows, with those settings. */
export function nextPass(state: JournalState, settings: string): Pass {
  return passOf(state, settings, state.pass.number + 1);
}

function headerOf(options: ImportSubject, salt: string): JournalHeader {
  const { content, plan, url, apiKey, oldestPipelineId, request } = options;
  return {
    content: sha256(content ?? ''),
    // Values that are replaced are a matter of each pass.
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
 * Keys are made of nothing but what the batches are: the input's bytes, what is made of a row, how many rows go into
 * one, and which pass it is. So a run that knows nothing of an earlier one, its journal lost or another machine used,
 * asks for the same batches by the same keys, and for 24 hours the server answers from memory instead of writing again.
 * A batch of other rows, or of the same rows read otherwise, never has the key of an earlier one.
 */
function passOf(header: JournalHeader, settings: string, number: number): Pass {
  const { content, mapping, batchSize, salt } = header;
  const [, , values] = JSON.parse(settings) as string[];
  const parts = [content, mapping, values, batchSize, salt, number === 1 ? '' : `${number} ${settings}`];
  return { number, settings, keyPrefix: `crm-import-${sha256(parts.join('\n')).slice(0, 40)}` };
}

/** The journal of an earlier run for this resource and organization, or the path of the one to be. */
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
    'This file was imported, in part or whole, with another API key, and whether it was into the same organization cannot be told.',
    { nextSteps: ['use the same key to go on, or --no-resume to import every row with this one.'] },
  );
}

/** Whether nothing of a run went in: whatever is made of the rows now, none of them can be doubled. */
function isInVain({ accepted, counts, pending, rejected }: JournalState): boolean {
  const { created, updated } = totalCounts([accepted, counts]);
  return created + updated === 0 && pending.length === 0 && rejected.size > 0;
}

/** Whether a run is not the earlier one gone on with. */
function isOther(earlier: JournalState, header: JournalHeader, settings: string): boolean {
  const isEnded = earlier.finishedAt !== null && earlier.pass.settings === settings;
  return isEnded || earlier.content !== header.content || earlier.mapping !== header.mapping;
}

function beginAt(path: string, header: JournalHeader, pass: Pass, errors?: ErrorsMark | null): Journal {
  try {
    return Journal.begin(path, header, pass, errors);
  } catch {
    note(`crm: ${path} cannot be written, so there will be no journal; for 24 hours the server still`);
    note('crm: knows the rows of a run that is cut off, if the same command is run again.');
    return Journal.begin(null, header, pass);
  }
}

/** Other rows under the name, or the same ones read otherwise, are never imported unasked: most are in already. */
function refuseOtherRows(
  earlier: JournalState,
  header: JournalHeader,
  { beside: input, plan, request }: Pick<ResumeOptions, 'beside' | 'plan' | 'request'>,
): void {
  const hasChanged = earlier.content !== header.content;
  if (!hasChanged && earlier.mapping === header.mapping) return;
  const part =
    earlier.finishedAt === null
      ? `the first ${counted(earlier.rows, 'row')} of ${input} were`
      : `${input} was`;
  const what = hasChanged ? 'and has changed since' : 'with another mapping';
  const { rejected } = earlier;
  throw usageError(
    `${part} imported before, ${what}.`,
    ...(rejected.size > 0 ? ['correct rows that were rejected in the errors file, and import that.'] : []),
    hasChanged ? 'put other rows into a file of another name.' : 'map as before to go on with that import.',
    `add --no-resume to import every row again, ${amongOthers(plan, request)}.`,
  );
}

/** What becomes of rows whose records are there already. */
function amongOthers({ resource }: Plan, { onDuplicate }: ImportRequest): string {
  if (resource.repeatedBy.length > 0) return 'without those that are there already';
  const unique = Object.keys(resource.unique);
  if (unique.length === 0) return 'as new ones';
  return {
    fail: `as new ones; rows whose ${unique.join(' or ')} is there already are rejected`,
    skip: `without those whose ${unique.join(' or ')} is there already`,
    update: `which updates the ${resource.name} whose ${unique.join(' or ')} is there already`,
  }[onDuplicate];
}

/** Batches whose answers were never seen are sent again; that is safe only while the server remembers their keys. */
async function settleDoubts(earlier: JournalState, options: ResumeOptions, path: string): Promise<void> {
  const [first] = earlier.pending;
  const last = earlier.pending.at(-1);
  if (first === undefined || last === undefined) return;
  const isForgotten = Date.now() - first.sentAt > CERTAIN_MS;
  const isOtherKey = earlier.keyDigest !== sha256(options.apiKey);
  if ((!isForgotten && !isOtherKey) || options.request.isConfirmed) return;
  const lines = `lines ${first.rows[0]?.line} to ${last.rows.at(-1)?.line}`;
  const reason = isForgotten ? 'more than 23 hours ago' : 'with another API key';
  const doubt = `The rows of ${lines} were sent ${reason} without an answer; they may be in the service already.`;
  if (canAsk() && (await confirm(`${doubt}\nSend them again?`))) return;
  const sent = earlier.rows + earlier.pending.reduce((sum, { rows }) => sum + rows.length, 0);
  throw usageError(
    doubt,
    'look whether they are there; if not, run the command again with --yes.',
    `if they are, take the first ${formatCount(sent)} rows out of the input, remove ${path} and import the rest.`,
  );
}
