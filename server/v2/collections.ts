// List, get, create, update, delete and batch create of one resource.
import { type TSchema, Type } from 'typebox';
import { andThen, type Eventually } from '../../db/engine/engine.ts';
import type { Field } from '../../db/model/fields.ts';
import type { Data } from '../../db/model/json.ts';
import type { Resource, Verb } from '../../db/model/resource.ts';
import { newRecordFaults } from '../../db/model/rules.ts';
import { idAlone, named, recordSchema } from '../../db/model/schemas.ts';
import { withArticle } from '../../db/model/text.ts';
import type { Answer, Call, Operation, ReadOperation, WriteOperation } from '../operation.ts';
import { createRecord, removeRecord, updateRecordFields } from '../records/changes.ts';
import { getRecord, listPage, placeAfter } from '../records/records.ts';
import { rulesOf } from '../records/registry.ts';
import { batchCreate, batchSchema } from './batch.ts';
import { capitalized, operationId, pathOf, titleOf } from './naming.ts';
import { identityOf, listParameters, pageRequest } from './paging.ts';
import { requireVersion, versionOf } from './versions.ts';

/** What a record contains only when requested by ID. */
export interface ShownAlone {
  show(call: Call, record: Data): Eventually<Data>;
  example: Data;
}

type Common = Pick<Operation, 'api' | 'tag'>;

/** The operations of a resource, as listed in its declaration. */
export function collectionOperations(resource: Resource, alone?: ShownAlone): Operation[] {
  const common: Common = { api: 'v2', tag: titleOf(resource) };
  const makers: Record<Verb, () => Operation> = {
    list: () => ({ ...common, ...list(resource) }),
    get: () => ({ ...common, ...get(resource, alone) }),
    create: () => ({ ...common, ...create(resource) }),
    update: () => ({ ...common, ...update(resource) }),
    delete: () => ({ ...common, ...remove(resource) }),
    batch: () => ({ ...common, ...batch(resource) }),
  };
  return resource.verbs.map((verb) => makers[verb]());
}

type SpecificRead = Omit<ReadOperation, keyof Common>;
type SpecificWrite = Omit<WriteOperation, keyof Common>;

function list(resource: Resource): SpecificRead {
  const path = pathOf(resource);
  return {
    method: 'GET',
    path,
    id: operationId('list', resource),
    summary: `List ${resource.name}`,
    description: explained(resource, 'list', resource.description),
    scopes: [`${resource.name}:read`],
    isWrite: false,
    query: listParameters(resource),
    answer: resource.responseSchema,
    answerKind: 'list',
    successes: { 200: 'One page of results.' },
    errorStatuses: [422],
    run: async (call): Promise<Answer> => {
      const cursors = await call.cursors.of(identityOf(call, path));
      const request = pageRequest(call, resource, cursors);
      const { records, hasNextPage } = await listPage(call, resource, request);
      const cursorAfter = (index: number) => cursors.issue(placeAfter(records[index], request.sortBy));
      return { status: 200, object: 'list', data: records, hasNextPage, cursorAfter };
    },
  };
}

function get(resource: Resource, alone?: ShownAlone): SpecificRead {
  return {
    method: 'GET',
    path: `${pathOf(resource)}/{id}`,
    id: operationId('get', resource, true),
    summary: `Get ${withArticle(resource.singular)}`,
    description: explained(resource, 'get'),
    scopes: [`${resource.name}:read`],
    isWrite: false,
    query: {},
    answer: resource.responseSchema,
    answerKind: 'success',
    successes:
      alone === undefined ? { 200: 'Found.', 304: 'The client has this version.' } : { 200: 'Found.' },
    ...(alone && { examples: { data: alone.example } }),
    isConditional: true,
    errorStatuses: [404, 422],
    run: (call): Eventually<Answer> =>
      andThen(getRecord(call, resource, idOf(call)), (record) => {
        const version = versionOf(record);
        if (alone === undefined) return { status: 200, object: 'success', data: record, version };
        const { etag } = version;
        return andThen(alone.show(call, record), (data) => ({
          ...{ status: 200, object: 'success', data },
          version: { etag, json: null },
        }));
      }),
  };
}

function create(resource: Resource): SpecificWrite {
  return {
    ...writing(resource),
    method: 'POST',
    path: pathOf(resource),
    id: operationId('create', resource, true),
    summary: `Create ${withArticle(resource.singular)}`,
    description: explained(resource, 'create'),
    ...(resource.verbs.includes('batch') && { batchPath: `${pathOf(resource)}/batch` }),
    ...createRules(resource),
    answer: createdSchema(resource),
    answerKind: 'success',
    successes: { 201: 'Created.' },
    errorStatuses: [...conflictsOf(resource), 413, 422],
    run: async (call): Promise<Answer> => {
      const data = await createRecord(call, resource, call.body as Data);
      const location = `${pathOf(resource)}/${data.id}`;
      return { status: 201, object: 'success', data, location };
    },
  };
}

function update(resource: Resource): SpecificWrite {
  return {
    ...writing(resource),
    method: 'PATCH',
    path: `${pathOf(resource)}/{id}`,
    id: operationId('update', resource, true),
    summary: `Update ${withArticle(resource.singular)}`,
    description: explained(
      resource,
      'update',
      'Changes only the fields you send; null clears an optional field. If no value changes, nothing is written, and ' +
        '`updated_at` stays.',
    ),
    body: resource.updateSchema,
    answer: resource.responseSchema,
    answerKind: 'success',
    successes: { 200: 'Updated.' },
    examples: { body: exampleOf(resource, ['write'], FIELDS_UPDATED) },
    isConditional: true,
    errorStatuses: [404, 409, 413, 422],
    run: async (call): Promise<Answer> => {
      await requireVersion(call, resource, idOf(call));
      const data = await updateRecordFields(call, resource, idOf(call), call.body as Data);
      return { status: 200, object: 'success', data };
    },
  };
}

function remove(resource: Resource): SpecificWrite {
  return {
    ...writing(resource),
    method: 'DELETE',
    path: `${pathOf(resource)}/{id}`,
    id: operationId('delete', resource, true),
    summary: `Delete ${withArticle(resource.singular)}`,
    description: explained(
      resource,
      'delete',
      'Deletes the record permanently. Links to it are removed, references to it become null, and interactions are kept.',
    ),
    scopes: [`${resource.name}:delete`],
    answerKind: 'none',
    successes: { 204: 'Deleted. The response has no body.' },
    isConditional: true,
    errorStatuses: [404, 409, 422],
    run: async (call): Promise<Answer> => {
      await requireVersion(call, resource, idOf(call));
      await removeRecord(call, resource, idOf(call));
      return { status: 204 };
    },
  };
}

function batch(resource: Resource): SpecificWrite {
  return {
    ...writing(resource),
    method: 'POST',
    path: `${pathOf(resource)}/batch`,
    id: operationId('batchCreate', resource),
    summary: `Create up to 100 ${resource.name}`,
    description: explained(
      resource,
      'batch',
      'Items are created independently and in order. A 200 does not mean that every item succeeded: check summary.failed.',
    ),
    ...createRules(resource),
    isBatch: true,
    answer: batchSchema(capitalized(resource.singular), createdSchema(resource)),
    answerKind: 'batch',
    successes: { 200: 'The result of every item, in the order sent.' },
    errorStatuses: [413, 422],
    run: async (call): Promise<Answer> => {
      const data = await batchCreate(call, resource);
      return { status: 200, object: 'batch', data };
    },
  };
}

function createRules(resource: Resource) {
  return {
    body: resource.createSchema,
    inspect: (body: Data) => newRecordFaults(resource, body),
    examples: { body: exampleOf(resource, ['write', 'create', 'input']) },
  };
}

// Number of fields in the example of an update.
const FIELDS_UPDATED = 3;

// Without references, whose IDs would have to exist; everything else can be sent unchanged.
function exampleOf({ fields }: Resource, accesses: readonly Field['access'][], fieldsMax?: number): Data {
  const sendable = Object.entries(fields).filter(
    ([, { access, kind }]) => accesses.includes(access) && kind !== 'reference',
  );
  return Object.fromEntries(sendable.slice(0, fieldsMax).map(([name, { example }]) => [name, example]));
}

function explained(resource: Resource, verb: Verb, common = ''): string {
  return [common, resource.explanations[verb] ?? ''].filter((text) => text !== '').join('\n\n');
}

function writing(resource: Resource) {
  return {
    scopes: [`${resource.name}:write`],
    isWrite: true,
    isOrganizationOnly: resource.owner === null,
    query: {},
  } as const;
}

// 409 is documented only if a rule can cause it.
function conflictsOf(resource: Resource): number[] {
  return Object.keys(resource.unique).length > 0 || rulesOf(resource).claim !== undefined ? [409] : [];
}

// For an existing duplicate, the response can contain only the ID.
function createdSchema(resource: Resource): TSchema {
  const { fields, createdFields } = resource;
  if (Object.keys(createdFields).length === 0) return resource.responseSchema;
  const typeName = capitalized(resource.singular);
  const whole = named(`Created${typeName}`, recordSchema({ ...fields, ...createdFields }));
  const bare = named(`Duplicate${typeName}`, recordSchema({ ...idAlone(fields), ...createdFields }));
  return named(`${typeName}CreateResult`, Type.Union([whole, bare]));
}

function idOf(call: Call): string {
  return call.params.id ?? '';
}
