// Ids that a body names: each must be of a record that exists and that the key can see, in the same words for both.

import type { Db, RecordRow } from '../../db/engine/schema.ts';
import type { Fault } from '../../db/model/faults.ts';
import type { Field } from '../../db/model/fields.ts';
import type { Data } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import { findResource } from '../../db/model/resources/registry.ts';
import { findRecord, findRecords } from '../../db/tables/records.ts';
import { findReferences, referenceFaults, type Viewer } from '../../db/tables/references.ts';
import { type Access, canSee } from '../access.ts';

/** The record of that id, if it exists and the key sees it. */
export async function findVisible(
  db: Db,
  access: Access,
  resourceName: string,
  id: string,
): Promise<RecordRow | undefined> {
  const resource = findResource(resourceName);
  if (resource === undefined) return undefined;
  const row = await findRecord(db, resource, { orgId: access.orgId, id });
  return row !== undefined && canSee(access, resource, row) ? row : undefined;
}

/** Those of the ids of records that the key sees. */
export async function findVisibleIds(
  db: Db,
  access: Access,
  resource: Resource,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (access.userId === null) return new Set(ids);
  const rows = await findRecords(db, resource, access.orgId, ids);
  return new Set(rows.filter((row) => canSee(access, resource, row)).map((row) => row.id));
}

/** Whoever has the key, as those who look up references know them. */
export function viewerOf(access: Access): Viewer {
  return { orgId: access.orgId, sees: (resource, row) => canSee(access, resource, row) };
}

/** The faults of all reference fields of a body. */
export async function checkReferences(
  db: Db,
  access: Access,
  fields: Readonly<Record<string, Field>>,
  body: Data,
): Promise<Fault[]> {
  const given = { input: body, current: null };
  return referenceFaults(fields, given, await findReferences(db, fields, [given], viewerOf(access)));
}
