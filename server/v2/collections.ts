// List, get, create, update and delete of one resource, and its batches.
import { andThen, type Eventually } from '../../db/engine/engine.ts';
import type { Data } from '../../db/model/json.ts';
import type { Resource, Verb } from '../../db/model/resource.ts';
import { withArticle } from '../../db/model/text.ts';
import type {
  Answer,
  Call,
  LookupOperation,
  Operation,
  ReadCall,
  ReadOperation,
  WriteOperation,
} from '../operation.ts';
import { createRecord, updateRecordFields } from '../records/changes.ts';
import { removeRecord } from '../records/deletes.ts';
import { getRecord, listPage, placeAfter } from '../records/records.ts';
import { selectFrom, unseenFields } from '../records/selections.ts';
import { batchCreate, batchDelete, batchGet, batchUpdate } from './batches.ts';
import { conflictsOf, createdSchema, createRules, explained, updateExample, writing } from './declared.ts';
import { operationId, pathOf, titleOf } from './naming.ts';
import { identityOf, listParameters, pageRequest } from './paging.ts';
import { includedSchema } from './selection-schemas.ts';
import { includeParameter, selectionOf } from './selections.ts';
import { batchUpsert, upsertOne } from './upserts.ts';
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
  const makers: Record<Verb, () => Specific[]> = {
    list: () => [list(resource)],
    get: () => [get(resource, alone), batchGet(resource)],
    create: () => [create(resource)],
    update: () => [update(resource), batchUpdate(resource), upsertOne(resource), batchUpsert(resource)],
    delete: () => [remove(resource), batchDelete(resource)],
    batch: () => [batchCreate(resource)],
  };
  return resource.verbs.flatMap((verb) => makers[verb]().map((operation) => ({ ...common, ...operation })));
}

type SpecificRead = Omit<ReadOperation, keyof Common>;
type SpecificWrite = Omit<WriteOperation, keyof Common>;
type Specific = SpecificRead | SpecificWrite | Omit<LookupOperation, keyof Common>;

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
    included: includedSchema(resource),
    answerKind: 'list',
    successes: { 200: 'One page of results. With `fields`, records have no other fields than these.' },
    errorStatuses: [422],
    run: async (call): Promise<Answer> => {
      const cursors = await call.cursors.of(identityOf(call, path));
      const selection = selectionOf(call, resource, call.query);
      const request = { ...pageRequest(call, resource, cursors), unseen: unseenFields(resource, selection) };
      const { records, hasNextPage } = await listPage(call, resource, request);
      const { isCut, ...selected } = await selectFrom(call, resource, selection, records);
      const cursorAfter = (index: number) => cursors.issue(placeAfter(records[index], request.sortBy));
      return { status: 200, object: 'list', ...selected, hasNextPage: hasNextPage || isCut, cursorAfter };
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
    query: includeParameter(resource),
    answer: resource.responseSchema,
    included: includedSchema(resource),
    answerKind: 'success',
    successes:
      alone === undefined ? { 200: 'Found.', 304: 'The client has this version.' } : { 200: 'Found.' },
    ...(alone && { examples: { data: alone.example } }),
    isConditional: true,
    errorStatuses: [404, 422],
    run: (call): Eventually<Answer> =>
      call.query.include === undefined
        ? getOne(call, resource, alone)
        : getWithIncluded(call, resource, alone),
  };
}

function getOne(call: ReadCall, resource: Resource, alone: ShownAlone | undefined): Eventually<Answer> {
  return andThen(getRecord(call, resource, idOf(call)), (record): Eventually<Answer> => {
    const version = versionOf(record);
    if (alone === undefined) return { status: 200, object: 'success', data: record, version };
    const { etag } = version;
    return andThen(alone.show(call, record), (data) => ({
      ...{ status: 200, object: 'success', data },
      version: { etag, json: null },
    }));
  });
}

// Without an ETag: the version of a record says nothing of what it includes.
async function getWithIncluded(
  call: ReadCall,
  resource: Resource,
  alone: ShownAlone | undefined,
): Promise<Answer> {
  const selection = selectionOf(call, resource, call.query);
  const record = await getRecord(call, resource, idOf(call));
  const shown = alone === undefined ? record : await alone.show(call, record);
  const { data, included } = await selectFrom(call, resource, selection, [shown]);
  return { status: 200, object: 'success', data: data[0] ?? null, ...(included && { included }) };
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
    examples: { body: updateExample(resource) },
    isConditional: true,
    errorStatuses: [404, 409, 413, 422],
    run: (call): Eventually<Answer> =>
      andThen(requireVersion(call, resource, idOf(call)), () =>
        andThen(updateRecordFields(call, resource, idOf(call), call.body as Data), (data) => ({
          ...{ status: 200, object: 'success', data },
        })),
      ),
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
      'Deletes the record. Links to it are removed, references to it become null, and interactions are kept. As long as its ' +
        'change is kept, `POST /{id}/undelete` restores it.',
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

function idOf(call: Call): string {
  return call.params.id ?? '';
}
