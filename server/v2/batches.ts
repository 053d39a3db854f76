// The batches of a resource: what can be done with up to 100 of its records in one request.
import { type TObject, Type } from 'typebox';
import { exampleId, idSchema } from '../../db/model/fields.ts';
import { type Data, isObject, type JsonValue } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import { named } from '../../db/model/schemas.ts';
import { ApiError, notFound } from '../errors.ts';
import type { LookupOperation, WriteOperation } from '../operation.ts';
import { createRecords, updateRecords } from '../records/changes.ts';
import { removeRecords } from '../records/deletes.ts';
import type { ItemOutcome } from '../records/outcomes.ts';
import { getRecords } from '../records/records.ts';
import type { Result } from '../records/run-plan.ts';
import { batchAnswer, batchSchema } from './batch.ts';
import { createdSchema, createRules, explained, updateExample, writing } from './declared.ts';
import { capitalized, operationId, pathOf } from './naming.ts';

type SpecificWrite = Omit<WriteOperation, 'api' | 'tag'>;
type SpecificLookup = Omit<LookupOperation, 'api' | 'tag'>;

const BY_ID = 'The body is an array of IDs.';
const itself = (id: JsonValue) => id;
/** What holds for the items of every batch. */
export const EACH_ALONE =
  'Items are independent of each other. A 200 does not mean that every item succeeded: check summary.failed.';

/** Creates records. */
export function batchCreate(resource: Resource): SpecificWrite {
  return {
    ...writing(resource),
    ...batchOf(resource, 'create'),
    summary: `Create up to 100 ${resource.name}`,
    description: explained(
      resource,
      'batch',
      'Items are created independently and in order. A 200 does not mean that every item succeeded: check summary.failed.',
    ),
    ...createRules(resource),
    answer: batchSchema(`${capitalized(resource.singular)}Batch`, ['created'], createdSchema(resource)),
    run: (call) =>
      batchAnswer<Data>(call, async (items) => (await createRecords(call, resource, items)).map(outcomeOf)),
  };
}

/** Changes records by their IDs. */
export function batchUpdate(resource: Resource): SpecificWrite {
  const { properties } = resource.updateSchema as TObject;
  const typeName = capitalized(resource.singular);
  return {
    ...writing(resource),
    ...batchOf(resource, 'update'),
    summary: `Update up to 100 ${resource.name}`,
    description: explained(
      resource,
      'update',
      `The body is an array of changes, each with the \`id\` of its record. Each is made as PATCH makes it, and an item that changes no value is \`unchanged\`. Items are processed in order: a record whose ID is sent twice is updated twice. ${EACH_ALONE}`,
    ),
    body: named(
      `${typeName}BatchUpdate`,
      Type.Object({ id: idSchema(), ...properties }, { additionalProperties: false }),
    ),
    examples: { body: { id: exampleId(resource.name), ...updateExample(resource) } },
    answer: batchSchema(`${typeName}BatchUpdate`, ['updated', 'unchanged'], resource.responseSchema, true),
    run: (call) =>
      batchAnswer<Data>(
        call,
        async (items) => {
          const updates = items.map(({ id, ...input }) => ({ id: String(id), input }));
          return (await updateRecords(call, resource, updates)).map(outcomeOf);
        },
        (item) => (isObject(item) ? item.id : undefined),
      ),
  };
}

function outcomeOf(result: Result): ItemOutcome {
  return result instanceof ApiError ? result : { status: result.status, data: result.record };
}

/** Gets records by their IDs. */
export function batchGet(resource: Resource): SpecificLookup {
  const { singular, name } = resource;
  return {
    ...batchOf(resource, 'get'),
    summary: `Get up to 100 ${name} by ID`,
    description: `${BY_ID} Records are shown as in a list, in the order of the IDs; a record whose ID is sent twice is returned twice. ${EACH_ALONE}`,
    scopes: [`${name}:read`],
    isWrite: false,
    isLookup: true,
    body: idSchema(),
    examples: { body: exampleId(name) },
    answer: batchSchema(`${capitalized(singular)}BatchGet`, ['found'], resource.responseSchema, true),
    run: (call) =>
      batchAnswer<string>(
        call,
        async (ids) => {
          const found = await getRecords(call, resource, ids);
          return ids.map((id): ItemOutcome => {
            const data = found.get(id);
            return data === undefined ? notFound(singular) : { status: 'found', data };
          });
        },
        itself,
      ),
  };
}

const batchDeleteAnswer = batchSchema('BatchDelete', ['deleted'], null, true);

/** Deletes records by their IDs. */
export function batchDelete(resource: Resource): SpecificWrite {
  return {
    ...writing(resource),
    ...batchOf(resource, 'delete'),
    summary: `Delete up to 100 ${resource.name}`,
    description: explained(
      resource,
      'delete',
      `${BY_ID} Deletes each record as DELETE does. An item that succeeds has no \`data\`. ${EACH_ALONE}`,
    ),
    scopes: [`${resource.name}:delete`],
    isDelete: true,
    body: idSchema(),
    examples: { body: exampleId(resource.name) },
    answer: batchDeleteAnswer,
    run: (call) => batchAnswer<string>(call, (ids) => removeRecords(call, resource, ids), itself),
  };
}

/** What all batches have in common. */
export function batchOf(resource: Resource, verb: string) {
  const path = `${pathOf(resource)}/batch`;
  return {
    method: 'POST',
    path: verb === 'create' ? path : `${path}/${verb}`,
    id: operationId(`batch${capitalized(verb)}`, resource),
    query: {},
    isBatch: true,
    answerKind: 'batch',
    successes: { 200: 'The result of every item, in the order sent.' },
    errorStatuses: [413, 422],
  } as const;
}
