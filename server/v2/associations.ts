// Single associations: read, set and clear the one record that another is associated with.
import { Type } from 'typebox';
import type { Data } from '../../db/declare/json.ts';
import type { Association, Resource } from '../../db/declare/resource.ts';
import { getResource } from '../../db/resources/index.ts';
import { updateRecord } from '../../db/tables/records.ts';
import { validationError } from '../errors.ts';
import type { Answer, Call, Operation } from '../operation.ts';
import { readAssociation } from '../records/links.ts';
import { getRow } from '../records/records.ts';
import { findVisible, unknownReference } from '../records/references.ts';
import { capitalized, pathOf, titleOf } from './naming.ts';

/** The operations of one association. */
export function associationOperations(parent: Resource, name: string, association: Association): Operation[] {
  const { column, description } = association;
  const child = getResource(association.child);
  const title = capitalized(parent.singular) + capitalized(name);
  const common = {
    api: 'v2' as const,
    tag: titleOf(parent),
    path: `${pathOf(parent)}/{id}/${name}`,
    description,
    query: {},
  };
  const read = async (call: Call): Promise<Answer> => {
    const data = await readAssociation(call, parent, call.params.id ?? '', column, child);
    return { status: 200, object: 'success', data };
  };
  const get: Operation = {
    ...common,
    method: 'GET',
    id: `get${title}`,
    summary: `Get the ${name} of a ${parent.singular}`,
    scopes: [`${parent.name}:read`, `${child.name}:read`],
    isWrite: false,
    answer: Type.Union([child.responseSchema, Type.Null()]),
    answerKind: 'success',
    successStatuses: [200],
    errorStatuses: [404, 422],
    run: read,
  };
  const writing = { ...common, scopes: [`${parent.name}:write`], isWrite: true };
  const put: Operation = {
    ...writing,
    method: 'PUT',
    id: `set${title}`,
    summary: `Set the ${name} of a ${parent.singular}`,
    body: Type.Object({ [column]: Type.String({ maxLength: 1_000 }) }, { additionalProperties: false }),
    answer: child.responseSchema,
    answerKind: 'success',
    successStatuses: [200],
    errorStatuses: [404, 413, 422],
    run: async (call): Promise<Answer> => {
      await setAssociation(call, parent, child, column, String((call.body as Data)[column]));
      return read(call);
    },
  };
  const remove: Operation = {
    ...writing,
    method: 'DELETE',
    id: `clear${title}`,
    summary: `Clear the ${name} of a ${parent.singular}`,
    answerKind: 'none',
    successStatuses: [204],
    errorStatuses: [404, 422],
    run: async (call): Promise<Answer> => {
      await setAssociation(call, parent, child, column, null);
      return { status: 204 };
    },
  };
  return [get, put, remove];
}

async function setAssociation(
  { db, access, params, now }: Call,
  parent: Resource,
  child: Resource,
  column: string,
  childId: string | null,
): Promise<void> {
  const row = await getRow({ db, access }, parent, params.id ?? '');
  if (childId !== null && (await findVisible(db, access, child.name, childId)) === undefined) {
    throw validationError([unknownReference(column, child.name)]);
  }
  if (row[column] === childId) return;
  await updateRecord(db, parent, access.orgId, row.id, { [column]: childId, updated_at: now });
}
