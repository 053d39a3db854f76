// What of records a response shows, and what it includes besides them.

import { memoize } from '../../db/cache.ts';
import type { Eventually } from '../../db/engine/engine.ts';
import type { Data } from '../../db/model/json.ts';
import { shownColumns } from '../../db/model/record-forms.ts';
import type { Resource } from '../../db/model/resource.ts';
import type { Include } from '../../db/model/resources/includes.ts';
import { longTexts } from '../../db/tables/page-size.ts';
import type { IncludedRecords } from '../included.ts';
import { includeRecords } from './includes.ts';
import type { Reader } from './rules.ts';

/** What a request selects. */
export interface Selection {
  includes: readonly Include[];
  /** The fields to show, besides the ID; null for all. */
  fields: ReadonlySet<string> | null;
}

/** Whole records, without others: what most requests select. */
export const WHOLE: Selection = { includes: [], fields: null };

/** Records with what a request selects. */
export interface SelectedRecords {
  /** Those that fit on a page, as the response shows them. */
  data: Data[];
  /** Whether that is not all of them. */
  isCut: boolean;
  /** Absent if nothing is to be included. */
  included?: IncludedRecords;
}

/** The names of the fields that responses show, in their order. */
export const shownFields = memoize(({ fields }: Resource): readonly string[] =>
  shownColumns(fields).map(({ name }) => name),
);

/**
 * The fields that a page need not read, if there are any. Only those with long texts: what the others take is little, and each combination
 * of fields is another statement.
 */
export function unseenFields(resource: Resource, { fields }: Selection): readonly string[] | undefined {
  return fields === null ? undefined : longTexts(resource).filter((name) => !fields.has(name));
}

/** What a request selects of records, whose other fields can have been left out. */
export function selectFrom(
  reader: Reader,
  resource: Resource,
  selection: Selection,
  records: Data[],
): Eventually<SelectedRecords> {
  const { includes, fields } = selection;
  if (includes.length > 0) return selectIncluding(reader, resource, selection, records);
  return { data: fields === null ? records : withFields(resource, fields, records), isCut: false };
}

async function selectIncluding(
  reader: Reader,
  resource: Resource,
  { includes, fields }: Selection,
  records: Data[],
): Promise<SelectedRecords> {
  const { count, ids, included } = await includeRecords(reader, includes, records);
  const some = records.slice(0, count);
  const shown = fields === null ? some : withFields(resource, fields, some);
  // In place: copying the records of a page costs a third of a list.
  for (const [index, record] of shown.entries()) record.included_ids = ids[index] ?? {};
  return { data: shown, isCut: count < records.length, included };
}

function withFields(resource: Resource, fields: ReadonlySet<string>, records: readonly Data[]): Data[] {
  const names = shownFields(resource).filter((name) => name === 'id' || fields.has(name));
  return records.map((record) => Object.fromEntries(names.map((name) => [name, record[name] ?? null])));
}
