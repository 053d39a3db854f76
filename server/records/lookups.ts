// What the checks of changes ask of the records there are, looked up for all items of a batch together.
import type { Data } from '../../db/declare/json.ts';
import type { Resource } from '../../db/declare/resource.ts';
import { findReferences, type References } from '../../db/tables/references.ts';
import { findOwners, uniqueName } from '../../db/tables/unique.ts';
import { viewerOf } from './references.ts';
import type { Change, Reader } from './rules.ts';

export interface Known {
  /** Where the ids in reference fields lead. */
  references: References;
  /** Who has a unique value, by its name. */
  owners: Map<string, string>;
  /** Those of them that the batch is going to write, by their ids: no table has them yet. */
  accepted: Map<string, Data>;
}

/** Looks up what the checks of changes to records of one resource ask. */
export async function lookUp(
  { db, access }: Reader,
  resource: Resource,
  changes: readonly Change[],
): Promise<Known> {
  return {
    references: await findReferences(db, resource.fields, changes, viewerOf(access)),
    owners: await findOwners(db, resource, access.orgId, changes),
    accepted: new Map(),
  };
}

/** Notes what is going to be written, for the items of the batch that come after it. */
export function noteAccepted({ owners, accepted }: Known, { id, next, unique }: Change): void {
  for (const value of unique) {
    owners.set(uniqueName(value), id);
    accepted.set(id, next);
  }
}
