// Lookups that the checks of changes need, made for all items of a batch together.

import { allOf, andThen, type Eventually } from '../../db/engine/engine.ts';
import type { RecordRow } from '../../db/engine/schema.ts';
import type { Data } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import { uniqueValues } from '../../db/model/rules.ts';
import { findRecords } from '../../db/records/records.ts';
import { findReferences, type References } from '../../db/records/references.ts';
import { findOwners, uniqueName } from '../../db/records/unique.ts';
import { viewerOf } from './references.ts';
import type { Change, Reader } from './rules.ts';

export interface KnownRecords {
  /** Which IDs in reference fields exist. */
  references: References;
  /** The owner of each unique value, by name. */
  owners: Map<string, string>;
  /** Owners that the batch is about to write, by ID; no table contains them yet. */
  accepted: Map<string, Data>;
  /** The row of an existing owner; the first call reads all of them. */
  ownerRow(id: string): Promise<RecordRow | undefined>;
}

/**
 * Makes the lookups for the checks of changes to records of one resource.
 * @param known owners of the unique values, if these were looked up already
 */
export function loadKnownRecords(
  { db, access }: Reader,
  resource: Resource,
  changes: readonly Change[],
  known?: Map<string, string>,
): Eventually<KnownRecords> {
  const finding = allOf([
    findReferences(db, resource.fields, changes, viewerOf(access)),
    known ?? findOwners(db, resource, access.orgNumber, changes),
  ]);
  return andThen(finding, ([references, owners]) => {
    let rows: Eventually<RecordRow[]> | undefined;
    const ownerRow = async (id: string) => {
      rows ??= findRecords(db, resource, access.orgNumber, [...new Set(owners.values())]);
      return (await rows).find((row) => row.id === id);
    };
    return { references, owners, accepted: new Map(), ownerRow };
  });
}

/** Makes a lookup once for all changes that are checked together, when the first of them asks. */
export function oncePerBatch<T>(
  find: (reader: Reader, batch: readonly Change[]) => Promise<T>,
): (change: Change) => Promise<T> {
  const found = new WeakMap<readonly Change[], Promise<T>>();
  return ({ trx: db, access, batch }) => {
    let finding = found.get(batch);
    if (finding === undefined) {
      finding = find({ db, access }, batch);
      found.set(batch, finding);
    }
    return finding;
  };
}

/** Notes a change that will be written, for the later items of the batch. */
export function noteAccepted({ owners, accepted }: KnownRecords, change: Change): void {
  const { resource, id, current, next, unique } = change;
  let values = unique;
  if (current !== null) {
    const isTouched = Object.values(resource.unique).some((names) =>
      names.some((name) => next[name] !== current[name]),
    );
    if (!isTouched) return;
    // What the change gives up is free for later items.
    for (const value of uniqueValues(resource, current))
      if (owners.get(uniqueName(value)) === id) owners.delete(uniqueName(value));
    values = uniqueValues(resource, next);
  }
  for (const value of values) {
    owners.set(uniqueName(value), id);
    accepted.set(id, next);
  }
}
