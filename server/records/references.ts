// Ids that a body names: each must be of a record that exists and that the key can see, in the same words for both.
import type { Fault } from '../../db/declare/faults.ts';
import type { Field } from '../../db/declare/fields.ts';
import type { Data } from '../../db/declare/json.ts';
import { findResource } from '../../db/resources/index.ts';
import type { Db, RecordRow } from '../../db/schema.ts';
import { findRecord } from '../../db/tables/records.ts';
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
