// The resources that are searched, with their numbers in the search index, and what it has of their records.

import { sql } from 'kysely';
import { memoize } from '../cache.ts';
import { type Db, tableOf } from '../engine/schema.ts';
import { lookup } from '../engine/statement.ts';
import type { Resource, Row } from '../model/resource.ts';
import { recordings } from '../model/resources/recordings.ts';
import { getResource } from '../model/resources/registry.ts';
import { SEARCHED_RESOURCES, type StoredBeside, searchedColumns } from '../model/searched.ts';
import { findSegmentTexts } from '../tables/transcript-texts.ts';
import { resourceList } from './keys.ts';

/** The resource with that number. */
export function searchedResource(number: number): Resource {
  return getResource(SEARCHED_RESOURCES[number] ?? '');
}

/** The number of a resource; -1 if it is not searched. */
export const searchNumber = memoize(({ name }: Pick<Resource, 'name'>): number =>
  (SEARCHED_RESOURCES as readonly string[]).indexOf(name),
);

/** The column of a row that has the transcript of a recording. */
export const TRANSCRIPT = 'transcript';

/** The columns that the index has something of. */
export const indexedColumns = memoize((resource: Resource): readonly string[] => [
  ...new Set([...searchedColumns(resource), ...(resource.owner === null ? [] : [resource.owner])]),
]);

/** The list of all records of a resource. */
export function wholeList(resource: Resource): string {
  return resourceList(searchNumber(resource));
}

/** What is searched of a record and stored elsewhere, as `withTranscripts` adds it to a row. */
export function besideOf(row: Row): StoredBeside {
  const transcript = row[TRANSCRIPT];
  return { transcript: typeof transcript === 'string' ? transcript : null };
}

/** Adds transcripts to rows of recordings; other rows stay as they are. */
export async function withTranscripts<R extends Row>(
  db: Db,
  resource: Resource,
  orgNumber: number,
  rows: readonly (R & { id: string })[],
): Promise<readonly (R & { id: string })[]> {
  if (resource !== recordings || rows.length === 0) return rows;
  const ids = rows.map(({ id }) => id);
  const texts = new Map(
    (await findSegmentTexts(db, orgNumber, ids)).map((one) => [one.recording_id, one.segments]),
  );
  return rows.map((row) => ({ ...row, [TRANSCRIPT]: texts.get(row.id) ?? null }));
}

/** What the index has something of. */
export type IndexedRow = Row & { id: string };

const indexedRows = memoize((resource: Resource) => {
  const columns = ['id', ...indexedColumns(resource)].map((name) => sql.ref(name).as(name));
  return lookup<IndexedRow>((db, param, isGiven) =>
    db
      .selectFrom(tableOf(resource))
      .select(columns)
      .$castTo<IndexedRow>()
      .where('org_id', '=', param('org'))
      .where(isGiven(sql.ref('id'))),
  );
});

/** The records with these IDs that exist, by ID, with what the index has something of. */
export async function findIndexedRecords(
  db: Db,
  resource: Resource,
  orgNumber: number,
  ids: readonly string[],
): Promise<ReadonlyMap<string, IndexedRow>> {
  const found = await indexedRows(resource)(db, orgNumber, ids);
  const rows = new Map<string, IndexedRow>();
  for (const row of await withTranscripts(db, resource, orgNumber, found)) rows.set(row.id, row);
  return rows;
}
