// Single associations: a record linked to one other record, whose ID a reference field holds.
import { referenceFault } from '../../db/model/faults.ts';
import type { Data } from '../../db/model/json.ts';
import type { Association, Resource } from '../../db/model/resource.ts';
import { getResource } from '../../db/model/resources/registry.ts';
import { updateRecord } from '../../db/records/record-updates.ts';
import { mayRead } from '../access.ts';
import { validationError } from '../errors.ts';
import { getRow, presentAll } from './records.ts';
import { findVisible } from './references.ts';
import type { Reader, Writer } from './rules.ts';

/** The association of one parent. */
export interface AssociatedRecord {
  parent: Resource;
  parentId: string;
  association: Association;
}

/** The resource of an association: the one that its field refers to. */
export function associatedResource(parent: Resource, { column }: Association): Resource {
  return getResource(parent.fields[column]?.references ?? '');
}

/** Reads an association: the associated record, or null if none is set or the key cannot see it. */
export async function readAssociation(reader: Reader, at: AssociatedRecord): Promise<Data | null> {
  const row = await getRow(reader, at.parent, at.parentId);
  const childId = row[at.association.column];
  if (typeof childId !== 'string') return null;
  const child = associatedResource(at.parent, at.association);
  const childRow = await findVisible(reader.db, reader.access, child.name, childId);
  if (childRow === undefined) return null;
  // A key that can set the association but not read the record gets what it sent.
  if (!mayRead(reader.access, child)) return { id: childId };
  const [record] = await presentAll(reader, child, [childRow]);
  return record ?? null;
}

/**
 * Sets an association, or clears it with null.
 * @throws ApiError 404 if the parent does not exist, 422 if the child does not
 */
export async function setAssociation(
  { db, access, now }: Writer,
  { parent, parentId, association }: AssociatedRecord,
  childId: string | null,
): Promise<void> {
  const row = await getRow({ db, access }, parent, parentId);
  const child = associatedResource(parent, association);
  const { column, linkedAt } = association;
  if (childId !== null && (await findVisible(db, access, child.name, childId)) === undefined) {
    throw validationError([referenceFault(column, child.name)]);
  }
  if (row[column] === childId) return;
  await updateRecord(
    db,
    parent,
    { orgNumber: access.orgNumber, row },
    { [column]: childId, [linkedAt]: childId === null ? null : now, updated_at: now },
  );
}
