// The records that can meet a filter, in the order of a query: gathered where few can, else along an index.
import type { Db } from '../engine/schema.ts';
import type { Predicate } from '../model/query/predicate.ts';
import {
  inQueryOrder,
  type QueryDirection,
  type QueryPlace,
  type QuerySort,
  queryPlaceOf,
} from '../model/query/sorts.ts';
import type { Resource, Row } from '../model/resource.ts';
import type { Examination } from './examination.ts';
import { type IdRange, idsAfter } from './id-ranges.ts';
import { type IdSource, listIds } from './id-sources.ts';
import { IndexScan, type ScanQuery } from './index-scan.ts';
import { readColumnsOf } from './read-columns.ts';

/** A record that may meet the filter. */
export interface Candidate {
  place: QueryPlace;
  /** Undefined if it depends on links. */
  meets: boolean | undefined;
  row: Row;
}

/** Candidates in the order of a query. */
export interface Walk {
  readonly isDone: boolean;
  /** The least that the next candidate can cost. */
  readonly leastCost: number;
  /** The next candidates, at most that many; possibly none although it is not done. */
  next(limit: number): Promise<Candidate[]>;
}

/** What all walks need. */
export interface WalkQuery {
  db: Db;
  org: number;
  resource: Resource;
  sort: QuerySort;
  direction: QueryDirection;
  after: QueryPlace | null;
  /** The columns that the predicate and the order read. */
  columns: readonly string[];
  meets: Predicate;
  examination: Examination;
}

function candidateOf({ sort, meets }: WalkQuery, row: Row): Candidate {
  return { place: queryPlaceOf(sort, row), meets: meets(row), row };
}

/** Along an index in the order of the query. */
export class IndexWalk implements Walk {
  readonly #query: WalkQuery;
  readonly #scan: IndexScan;

  constructor(query: WalkQuery, where: Pick<ScanQuery, 'ids' | 'bounds' | 'lead'>) {
    this.#query = query;
    this.#scan = new IndexScan({ ...query, ...where });
  }

  get isDone(): boolean {
    return this.#scan.isDone;
  }

  get leastCost(): number {
    return this.#scan.leastCost;
  }

  async next(limit: number): Promise<Candidate[]> {
    const { db, examination } = this.#query;
    const before = this.#scan.rowsRead;
    const rows = await this.#scan.next(db, limit);
    examination.add(this.#scan.rowsRead - before - rows.length);
    examination.addRows(rows);
    return rows.map((row) => candidateOf(this.#query, row));
  }
}

/** Along the IDs of sources, in the order of creation. */
export class SourceWalk implements Walk {
  readonly #query: WalkQuery;
  readonly #sources: readonly IdSource[];
  #range: IdRange;
  isDone = false;

  constructor(query: WalkQuery, sources: readonly IdSource[], range: IdRange) {
    const { after, direction } = query;
    this.#query = query;
    this.#sources = sources;
    this.#range = after === null ? range : idsAfter(range, direction, after.id);
  }

  // An entry of each source, and the row that it leads to.
  get leastCost(): number {
    return 2 * this.#sources.length;
  }

  async next(limit: number): Promise<Candidate[]> {
    const { db, org, resource, direction, columns, examination } = this.#query;
    const share = Math.max(1, Math.floor(limit / (2 * this.#sources.length)));
    const page = { range: this.#range, direction, limit: share };
    const { ids, isLast, entries } = await listIds(db, org, this.#sources, page);
    const rows = await readColumnsOf(db, resource, org, columns, ids);
    examination.add(entries);
    examination.addRows(rows);
    const last = ids.at(-1);
    this.isDone = isLast;
    if (last !== undefined) this.#range = idsAfter(this.#range, direction, last);
    return inOrder(
      this.#query,
      rows.map((row) => candidateOf(this.#query, row)),
    );
  }
}

/** Through records that were gathered. */
export class GatheredWalk implements Walk {
  readonly #candidates: readonly Candidate[];
  #taken = 0;

  private constructor(candidates: readonly Candidate[]) {
    this.#candidates = candidates;
  }

  /** Reads the records with these IDs, and leaves out those that do not meet the filter. */
  static async of(query: WalkQuery, ids: readonly string[], rowsAtOnce: number): Promise<GatheredWalk> {
    const { db, org, resource, columns, direction, after, examination } = query;
    const compare = inQueryOrder(direction);
    const candidates: Candidate[] = [];
    for (let from = 0; from < ids.length; from += rowsAtOnce) {
      const rows = await readColumnsOf(db, resource, org, columns, ids.slice(from, from + rowsAtOnce));
      // Their texts are not counted: a page that ended here would begin again each time.
      examination.add(rows.length);
      for (const row of rows) {
        const one = candidateOf(query, row);
        if (one.meets === false || (after !== null && compare(one.place, after) <= 0)) continue;
        // Of a record that is decided, only its place is needed.
        candidates.push(one.meets === true ? { ...one, row: withoutTexts(row) } : one);
      }
      await examination.pause();
    }
    return new GatheredWalk(inOrder(query, candidates));
  }

  get isDone(): boolean {
    return this.#taken >= this.#candidates.length;
  }

  // They were all counted when they were read.
  get leastCost(): number {
    return 0;
  }

  async next(limit: number): Promise<Candidate[]> {
    const some = this.#candidates.slice(this.#taken, this.#taken + limit);
    this.#taken += some.length;
    return some;
  }
}

function withoutTexts({ id = null }: Row): Row {
  return { id };
}

function inOrder({ direction }: WalkQuery, candidates: Candidate[]): Candidate[] {
  const compare = inQueryOrder(direction);
  return candidates.sort((one, other) => compare(one.place, other.place));
}
