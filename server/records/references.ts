// IDs in bodies: each must belong to an existing record that the key can see; the error is the same for both cases.

import type { Db, RecordRow } from '../../db/engine/schema.ts';
import type { Fault } from '../../db/model/faults.ts';
import type { Field } from '../../db/model/fields.ts';
import type { Data } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import { findResource } from '../../db/model/resources/registry.ts';
import { findRecord, findRecords } from '../../db/records/records.ts';
import { findReferences, referenceFaults, type Viewer } from '../../db/records/references.ts';
import { type Access, canSee } from '../access.ts';

/** The record with that ID, if it exists and the key can see it. */
export async function findVisible(
  db: Db,
  access: Access,
  resourceName: string,
  id: string,
): Promise<RecordRow | undefined> {
  const resource = findResource(resourceName);
  if (resource === undefined) return undefined;
  const row = await findRecord(db, resource, { orgNumber: access.orgNumber, id });
  return row !== undefined && canSee(access, resource, row) ? row : undefined;
}

/** The IDs of records that the key can see. */
export async function findVisibleIds(
  db: Db,
  access: Access,
  resource: Resource,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (access.userId === null) return new Set(ids);
  const rows = await findRecords(db, resource, access.orgNumber, ids);
  return new Set(rows.filter((row) => canSee(access, resource, row)).map((row) => row.id));
}

/** The key's owner and organization, as lookups of references need them. */
export function viewerOf(access: Access): Viewer {
  return { orgNumber: access.orgNumber, sees: (resource, row) => canSee(access, resource, row) };
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
