// Ids that a body names: each must be of a record that exists and that the key can see, in the same words for both.
import { type Fault, unknownReference } from '../../db/declare/faults.ts';
import type { Field } from '../../db/declare/fields.ts';
import type { Data } from '../../db/declare/json.ts';
import { findResource } from '../../db/resources/index.ts';
import type { Db, RecordRow } from '../../db/schema.ts';
import { statement } from '../../db/statement.ts';
import { findRecord } from '../../db/tables/records.ts';
import { type Access, canSee } from '../access.ts';

const user = statement<{ id: string }>((db, param) =>
  db.selectFrom('users').select('id').where('org_id', '=', param('org')).where('id', '=', param('id')),
);

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

/** Whether an id names a user of the organization or a record that the key sees. */
export async function isKnown(db: Db, access: Access, target: string, id: string): Promise<boolean> {
  if (target === 'users') return (await user(db, { org: access.orgId, id })).length > 0;
  return (await findVisible(db, access, target, id)) !== undefined;
}

/** The faults of all reference fields among `input`; stages are left to the deal's own rules. */
export async function checkReferences(
  db: Db,
  access: Access,
  fields: Readonly<Record<string, Field>>,
  input: Data,
): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const [name, value] of Object.entries(input)) {
    const target = fields[name]?.references;
    if (target === undefined || target === '' || target === 'stages' || typeof value !== 'string') continue;
    if (!(await isKnown(db, access, target, value))) faults.push(unknownReference(name, target));
  }
  return faults;
}
