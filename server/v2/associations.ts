// Single associations: get, set and clear the one record associated with another.
import { type TSchema, Type } from 'typebox';
import { exampleId, idSchema } from '../../db/model/fields.ts';
import type { Data } from '../../db/model/json.ts';
import type { Association, Resource } from '../../db/model/resource.ts';
import { idAlone, named, recordSchema } from '../../db/model/schemas.ts';
import { withArticle } from '../../db/model/text.ts';
import type { Answer, Call, Operation, ReadOperation, WriteOperation } from '../operation.ts';
import { associatedResource, readAssociation, setAssociation } from '../records/associations.ts';
import { capitalized, pathOf, titleOf } from './naming.ts';

/** The operations of one association. */
export function associationOperations(parent: Resource, name: string, association: Association): Operation[] {
  const { column, description } = association;
  const child = associatedResource(parent, association);
  const title = capitalized(parent.singular) + capitalized(name);
  const common = {
    api: 'v2' as const,
    tag: titleOf(parent),
    path: `${pathOf(parent)}/{id}/${name}`,
    description,
    query: {},
  };
  const childId = idSchema({ examples: [exampleId(child.name)] });
  const at = (call: Call) => ({ parent, parentId: call.params.id ?? '', association });
  const read = async (call: Call): Promise<Answer> => {
    const data = await readAssociation(call, at(call));
    return { status: 200, object: 'success', data };
  };
  const get: ReadOperation = {
    ...common,
    method: 'GET',
    id: `get${title}`,
    summary: `Get the ${name} of ${withArticle(parent.singular)}`,
    description: `${description} \`data\` is null if no ${name} is set.`,
    scopes: [`${parent.name}:read`, `${child.name}:read`],
    isWrite: false,
    answer: Type.Union([child.responseSchema, Type.Null()]),
    answerKind: 'success',
    successes: { 200: 'Found.' },
    errorStatuses: [404, 422],
    run: read,
  };
  const writing = { ...common, scopes: [`${parent.name}:write`], isWrite: true as const };
  const put: WriteOperation = {
    ...writing,
    method: 'PUT',
    id: `set${title}`,
    summary: `Set the ${name} of ${withArticle(parent.singular)}`,
    body: named(`${title}Update`, Type.Object({ [column]: childId }, { additionalProperties: false })),
    answer: named(`${title}Association`, Type.Union([child.responseSchema, idOf(child)])),
    answerKind: 'success',
    successes: { 200: 'Set.' },
    errorStatuses: [404, 413, 422],
    run: async (call): Promise<Answer> => {
      await setAssociation(call, at(call), String((call.body as Data)[column]));
      return read(call);
    },
  };
  const remove: WriteOperation = {
    ...writing,
    method: 'DELETE',
    id: `clear${title}`,
    summary: `Clear the ${name} of ${withArticle(parent.singular)}`,
    answerKind: 'none',
    successes: { 204: 'Cleared. The response has no body.' },
    errorStatuses: [404, 422],
    run: async (call): Promise<Answer> => {
      await setAssociation(call, at(call), null);
      return { status: 204 };
    },
  };
  return [get, put, remove];
}

// A key that can set the association but not read the record gets only its ID.
function idOf(child: Resource): TSchema {
  return named(`${capitalized(child.singular)}Reference`, recordSchema(idAlone(child.fields)));
}
