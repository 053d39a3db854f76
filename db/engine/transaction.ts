// A transaction: what its connection can do, and its progress, which it alone changes: connections only report to it.
import type { CompiledQuery } from 'kysely';
import type { Author } from './author.ts';
import type { ChangeRow } from './change-row.ts';
import type { Engine } from './engine.ts';
import { NotedList } from './noted-list.ts';
import type { SearchNote } from './search-rows.ts';

/** What happens to inserted rows whose key exists: they replace those with the same values in these columns. */
export type Repeats = 'fail' | 'are left out' | { readonly key: readonly string[] };

/** The engine of a connection that can carry out a transaction. */
export interface TransactionEngine extends Engine {
  /** Runs a command without a result: in order with the statements, but without waiting for it. */
  post(sql: string): void;
  /** Inserts those columns from a JSON array of rows, its only parameter; null if one parameter per value is cheaper. */
  insertOf(table: string, columns: readonly string[], repeats: Repeats): CompiledQuery | null;
  /**
   * Sets those columns of rows from a JSON array of their IDs and values, its first parameter, in the organization that is
   * its second; null if a statement per row is cheaper.
   */
  updateOf(table: string, columns: readonly string[]): CompiledQuery | null;
  /** Whether the transaction is gone after this error, so that no part of it can continue. */
  endsTransaction(error: unknown): boolean;
  readonly progress: TransactionProgress;
}

/** Number of records, and of bytes in them. */
export interface RecordTotals {
  readonly records: number;
  readonly bytes: number;
}

/** What an organization has, and its maximum; null for no limit. */
export interface QuotaState extends RecordTotals {
  readonly recordsMax: number | null;
  readonly bytesMax: number | null;
}

/** Size of an organization's stored responses, by hour in the format of `stored-response-bytes.ts`, and their limit. */
export interface StoredResponseBytes {
  readonly byHour: string | null;
  /** Null for the default limit. */
  readonly bytesMax: number | null;
}

/** The log of an organization's changes. */
export interface ChangeLogState {
  /** The sequence number of the last change. */
  readonly last: number;
  /** The lowest sequence number from which the log is complete. */
  readonly first: number;
  /** Whether changes are written into it. */
  readonly areKept: boolean;
}

/** What a transaction knows about an organization that it writes to; immutable, a change makes a new object. */
export interface OrganizationState {
  readonly orgNumber: number;
  /** The last instant that was assigned, in Unix milliseconds. */
  readonly instant: number;
  /** Whether the database already has this state. */
  readonly isStored: boolean;
  /** Null if the organization's content is not counted. */
  readonly quota: QuotaState | null;
  readonly answers: StoredResponseBytes;
  readonly changes: ChangeLogState;
}

/** How much a transaction had noted at some point. */
interface Noted {
  states: number;
  changes: number;
  searched: number;
}

/** The progress of the transaction on a connection, from `begin` to the next one. */
export class TransactionProgress {
  /** What is written before the commit: changes, and what the search index does not have yet. */
  readonly changes = new NotedList<ChangeRow>();
  readonly searched = new NotedList<SearchNote>();
  readonly #engine: Pick<TransactionEngine, 'post' | 'endsTransaction'>;
  readonly #states: OrganizationState[] = [];
  #author: Author | null = null;
  #writes = 0;
  #hasSavepoints = false;
  #isSpoiled = false;
  #failure: unknown = null;

  constructor(engine: Pick<TransactionEngine, 'post' | 'endsTransaction'>) {
    this.#engine = engine;
  }

  /** Number of statements that have written, since the connection was opened. */
  get writes(): number {
    return this.#writes;
  }

  /** Whether parts use savepoints. These cost more than most parts, so a group first runs without. */
  get hasSavepoints(): boolean {
    return this.#hasSavepoints;
  }

  /** Whether a part failed after writing, without a savepoint: the whole group must run again with savepoints. */
  get isSpoiled(): boolean {
    return this.#isSpoiled;
  }

  /**
   * The error after which the transaction accepts no statements until it is rolled back to a savepoint; null if there was
   * none, or the engine continues after errors.
   */
  get failure(): unknown {
    return this.#failure;
  }

  /** Starts a transaction. */
  begin(hasSavepoints: boolean): void {
    this.#states.length = 0;
    this.changes.clear();
    this.searched.clear();
    this.#author = null;
    this.#hasSavepoints = hasSavepoints;
    this.#isSpoiled = false;
    this.#failure = null;
  }

  noteWrite(): void {
    this.#writes += 1;
  }

  /** Notes an error after which the transaction accepts no statements, and returns the first such error. */
  noteFailure(error: unknown): unknown {
    this.#failure ??= error;
    if (!this.#hasSavepoints) this.#isSpoiled = true;
    return this.#failure;
  }

  /** What the transaction knows about an organization. */
  stateOf(orgNumber: number): OrganizationState | undefined {
    return this.#states.findLast((one) => one.orgNumber === orgNumber);
  }

  /** Notes what is known about an organization from now on; undone with the part that does it. */
  noteState(state: OrganizationState): void {
    this.#states.push(state);
  }

  /** The last known state of each organization. */
  get states(): Iterable<OrganizationState> {
    return new Map(this.#states.map((one) => [one.orgNumber, one])).values();
  }

  /** The sequence numbers of the last changes that it adds, by organization. */
  get newChanges(): ReadonlyMap<number, number> {
    const first = new Map<number, number>();
    const last = new Map<number, number>();
    for (const { orgNumber, changes } of this.#states) {
      const before = first.get(orgNumber) ?? changes.last;
      first.set(orgNumber, before);
      if (changes.last > before) last.set(orgNumber, changes.last);
    }
    return last;
  }

  /** Who writes records in the running job. */
  get author(): Author {
    if (this.#author === null) throw new Error('no one is known to write');
    return this.#author;
  }

  set author(author: Author) {
    this.#author = author;
  }

  /**
   * Runs a part; if it throws, its writes are undone and the error is rethrown. Without savepoints, a part that fails after
   * writing spoils the transaction. The writes of a rehearsal are undone in any case, for which it has a savepoint.
   */
  async attempt<T>(name: 'job' | 'part' | 'rehearsal', part: () => Promise<T>): Promise<T> {
    const writesBefore = this.#writes;
    const { changes, searched } = this;
    const before = { states: this.#states.length, changes: changes.length, searched: searched.length };
    const from = { changes: changes.from, searched: searched.from };
    const hadSavepoints = this.#hasSavepoints;
    if (name === 'job') this.#author = null;
    const isRehearsal = name === 'rehearsal';
    this.#hasSavepoints ||= isRehearsal;
    if (this.#hasSavepoints) {
      this.#engine.post(`savepoint ${name}`);
      changes.from = before.changes;
      searched.from = before.searched;
    }
    try {
      const result = await part();
      if (isRehearsal) this.#undo(name, before);
      else if (this.#hasSavepoints) this.#engine.post(`release savepoint ${name}`);
      return result;
    } catch (error) {
      this.#forget(before);
      if (!this.#hasSavepoints) this.#isSpoiled ||= this.#writes !== writesBefore;
      else if (!this.#engine.endsTransaction(error)) this.#undo(name, before);
      throw error;
    } finally {
      this.#hasSavepoints = hadSavepoints;
      changes.from = from.changes;
      searched.from = from.searched;
    }
  }

  #undo(name: string, before: Noted): void {
    this.#forget(before);
    this.#failure = null;
    this.#engine.post(`rollback to savepoint ${name}`);
    this.#engine.post(`release savepoint ${name}`);
  }

  // Without savepoints, earlier changes can have been written: then the whole group runs again.
  #forget({ states, changes, searched }: Noted): void {
    this.#states.length = states;
    this.changes.cutTo(changes);
    this.searched.cutTo(searched);
  }
}

/** Runs a part of a write that can fail without failing the whole; if it throws, its writes are undone. */
export function withSavepoint<T>(
  { engine }: { readonly engine: TransactionEngine },
  part: () => Promise<T>,
): Promise<T> {
  return engine.progress.attempt('part', part);
}

/** Runs a part of a write for its result only: what it writes is undone. */
export function rehearse<T>(
  { engine }: { readonly engine: TransactionEngine },
  part: () => Promise<T>,
): Promise<T> {
  return engine.progress.attempt('rehearsal', part);
}
