// Ids in reference fields: each must lead to a user of the organization, or to a record of it that can be seen.
import { type Fault, unknownReference } from '../declare/faults.ts';
import type { Field } from '../declare/fields.ts';
import type { Data } from '../declare/json.ts';
import type { Resource, Row } from '../declare/resource.ts';
import { findResource } from '../resources/index.ts';
import type { Db, RecordRow } from '../schema.ts';
import { findUserById } from './accounts.ts';
import { findRecord } from './records.ts';

/** Whose organization it is, and which of its records can be seen. */
export interface Viewer {
  orgId: number;
  sees(resource: Resource, row: RecordRow): boolean;
}

/**
 * The faults of all reference fields among `data`; stages are left to the deal's own rules.
 * @param stored the record before, if there is one: what it refers to already is not looked up again, and may be
 *   hidden by now
 */
export async function referenceFaults(
  db: Db,
  fields: Readonly<Record<string, Field>>,
  { data, stored }: { data: Data; stored: Data | Row | null },
  viewer: Viewer,
): Promise<Fault[]> {
  const faults: Fault[] = [];
  for (const name in data) {
    const id = data[name];
    const target = fields[name]?.references;
    if (target === undefined || target === 'stages' || typeof id !== 'string') continue;
    if (stored?.[name] === id) continue;
    if (!(await leadsSomewhere(db, target, id, viewer))) faults.push(unknownReference(name, target));
  }
  return faults;
}

async function leadsSomewhere(db: Db, target: string, id: string, viewer: Viewer): Promise<boolean> {
  const key = { orgId: viewer.orgId, id };
  if (target === 'users') return (await findUserById(db, key)) !== undefined;
  const resource = findResource(target);
  const row = resource && (await findRecord(db, resource, key));
  return row !== undefined && viewer.sees(resource as Resource, row);
}
