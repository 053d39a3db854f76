// Opens the journal of an import: afresh, where an earlier run stopped, or to find that there is nothing left to do.
import { CliError, usageError } from '../../errors.ts';
import { formatCount } from '../../terminal/format.ts';
import { canAsk, confirm, note } from '../../terminal/streams.ts';
import { sha256 } from '../digest.ts';
import type { ImportRequest } from '../request.ts';
import { canWriteBeside, JOURNAL_SUFFIX, Journal, type JournalState, readJournal } from './journal.ts';

export interface ResumeOptions {
  /** The input; null where no journal can be kept, as for standard input. */
  input: string | null;
  /** Stands for the content of the input and what is made of it. */
  content: string;
  /** Address of the server. */
  url: string;
  apiKey: string;
  /** Stands for the organization, whose own id no endpoint tells; null where the key may not read it. */
  oldestPipelineId: string | null;
  request: Pick<ImportRequest, 'batchSize' | 'isResumeWanted' | 'isConfirmed'>;
}

// The server remembers idempotency keys for 24 hours.
const CERTAIN_MS = 23 * 60 * 60 * 1000;

/** The journal to go on with; its state says whether the import is finished, or how far it is. */
export async function openJournal(options: ResumeOptions): Promise<Journal> {
  const { input, request } = options;
  const { isResumeWanted } = request;
  if (input === null) return new Journal(null, freshState(options, true));
  const path = `${input}${JOURNAL_SUFFIX}`;
  if (!canWriteBeside(path)) {
    note(`crm: ${path} cannot be written, so there will be no journal; for 24 hours the server still`);
    note('crm: knows the rows of a run that is cut off, if the same command is run again.');
    return new Journal(null, freshState(options, !isResumeWanted));
  }
  const earlier = isResumeWanted ? readJournal(path) : undefined;
  if (earlier === undefined || !isSameImport(earlier, options, path)) {
    return new Journal(path, freshState(options, !isResumeWanted));
  }
  if (earlier.finishedAt === null) await settleDoubts(earlier, options, path);
  return new Journal(path, earlier);
}

function freshState(options: ResumeOptions, isSalted: boolean): JournalState {
  return {
    crm_journal: 1,
    fingerprint: fingerprintOf(options),
    keyDigest: sha256(options.apiKey),
    oldestPipelineId: options.oldestPipelineId,
    salt: isSalted ? crypto.randomUUID() : '',
    batchSize: options.request.batchSize,
    startedAt: new Date().toISOString(),
    finishedAt: null,
    batches: 0,
    rows: 0,
    counts: { created: 0, updated: 0, skipped: 0, rejected: 0 },
    errorsFile: null,
    errorsBytes: 0,
    pending: [],
  };
}

function fingerprintOf({ content, url }: ResumeOptions): string {
  return sha256(`${content}\n${url}`);
}

function isSameImport(earlier: JournalState, options: ResumeOptions, path: string): boolean {
  if (earlier.fingerprint !== fingerprintOf(options)) {
    note(`crm: ${path} is of another content, mapping or server; starting anew.`);
    return false;
  }
  if (earlier.keyDigest === sha256(options.apiKey)) return true;
  if (earlier.oldestPipelineId === null || options.oldestPipelineId === null) {
    throw new CliError(
      'This file was imported, in part or whole, with another API key, and whether it was into the same organization cannot be told.',
      {
        nextSteps: ['use the same key to go on, or --no-resume to import every row with this one.'],
      },
    );
  }
  if (earlier.oldestPipelineId === options.oldestPipelineId) return true;
  note(`crm: ${path} is of another organization; starting anew.`);
  return false;
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
