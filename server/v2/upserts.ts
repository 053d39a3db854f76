// Upserts of one resource, and batches of them.
import { type TObject, type TSchema, Type } from 'typebox';
import { externalIdSchema } from '../../db/model/external-ids.ts';
import type { Data, JsonValue } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import { named, nullable } from '../../db/model/schemas.ts';
import { withArticle } from '../../db/model/text.ts';
import { matchNames, ON_MATCH, ON_MISSING } from '../../db/model/upserts.ts';
import { mayRead } from '../access.ts';
import { ApiError } from '../errors.ts';
import type { Answer, WriteCall, WriteOperation } from '../operation.ts';
import { upsertRecord, upsertRecords } from '../records/changes.ts';
import type { ItemOutcome } from '../records/outcomes.ts';
import type { SavedRecord } from '../records/run-plan.ts';
import { upsertFaults } from '../records/upserts.ts';
import { batchAnswer, batchSchema } from './batch.ts';
import { batchOf, EACH_ALONE } from './batches.ts';
import { createExample, writing } from './declared.ts';
import { capitalized, operationId, pathOf } from './naming.ts';

type SpecificWrite = Omit<WriteOperation, 'api' | 'tag'>;

const STATUSES = ['created', 'updated', 'unchanged'] as const;
const closed = { additionalProperties: false };

/** Creates a record, or changes the one that has an identifying value of the body. */
export function upsertOne(resource: Resource): SpecificWrite {
  const path = pathOf(resource);
  return {
    ...writing(resource),
    ...bodyOf(resource),
    method: 'POST',
    path: `${path}/upsert`,
    recordPath: `${path}/{id}`,
    batchPath: `${path}/batch/upsert`,
    id: operationId('upsert', resource, true),
    summary: `Create or update ${withArticle(resource.singular)}`,
    description: `${howItWorks(resource)} \`outcome\` says what was done; \`unchanged\` writes nothing.`,
    answer: answerSchema(resource, { outcome: Type.Enum([...STATUSES]) }, `${typeNameOf(resource)}Upsert`),
    answerKind: 'success',
    successes: { 200: 'Found, and changed if necessary.', 201: 'Created.' },
    errorStatuses: [404, 409, 413, 422],
    run: async (call): Promise<Answer> => {
      const done = await upsertRecord(call, resource, call.body as Data);
      const { status: outcome, record, matchedBy } = done;
      const data = { ...shown(call, resource, done), outcome, matched_by: matchedBy };
      if (outcome !== 'created') return { status: 200, object: 'success', data };
      return { status: 201, object: 'success', data, location: `${path}/${record.id}` };
    },
  };
}

/** Upserts records. */
export function batchUpsert(resource: Resource): SpecificWrite {
  const name = `${typeNameOf(resource)}BatchUpsert`;
  return {
    ...writing(resource),
    ...batchOf(resource, 'upsert'),
    ...bodyOf(resource),
    summary: `Create or update up to 100 ${resource.name}`,
    description:
      `The body is an array of upserts. ${howItWorks(resource)} Items are processed in order and see the items ` +
      `before them: if two name the same new record, the first creates it. ${EACH_ALONE}`,
    answer: batchSchema(name, STATUSES, answerSchema(resource, {}, name)),
    run: (call) =>
      batchAnswer<Data>(call, async (bodies) =>
        (await upsertRecords(call, resource, bodies)).map((result): ItemOutcome => {
          if (result instanceof ApiError) return result;
          const data = { ...shown(call, resource, result), matched_by: result.matchedBy };
          return { status: result.status, data };
        }),
      ),
  };
}

// A key without the read scope sees what it has created, and only the ID of what it has found.
function shown({ access }: WriteCall, resource: Resource, { record, matchedBy }: SavedRecord): Data {
  return matchedBy === null || mayRead(access, resource) ? record : { id: record.id ?? null };
}

function howItWorks(resource: Resource): string {
  const names = matchNames(resource).map((name) => `\`${name}\``);
  return (
    `Finds ${withArticle(resource.singular)} by the fields that \`match\` lists, by default ${names.join(' and ')}, if ` +
    'the body has them. The first that finds a record decides. `on_match` says what is written to that record: ' +
    '`update` writes all fields of the body, as PATCH does; `fill` only those that the record lacks; `keep` none. ' +
    'All three add a new `external_id`. If no record is found, one is created, or, with `on_missing: fail`, the ' +
    'response is 404. If another record already has one of the unique values, the response is 409.'
  );
}

function typeNameOf({ singular }: Resource): string {
  return capitalized(singular);
}

function bodyOf(resource: Resource) {
  const { properties } = resource.createSchema as TObject;
  const fields = Object.entries(properties).map(([name, schema]) => [name, Type.Optional(schema)]);
  const names = matchNames(resource);
  const chosen = (values: readonly string[], description: string) =>
    Type.Optional(Type.Enum([...values], { description: `${description} Default: \`${values[0]}\`.` }));
  const body = Type.Object(
    {
      ...(Object.fromEntries(fields) as Record<string, TSchema>),
      external_id: Type.Optional(
        named('UpsertExternalId', {
          ...nullable(externalIdSchema),
          description: 'The ID of the record in another system.',
        }),
      ),
      match: Type.Optional(
        Type.Array(Type.Enum([...names]), {
          description: `What to find the record by, in order. Default: ${names.join(', ')}, if the body has them.`,
        }),
      ),
      on_match: chosen(ON_MATCH, 'What to write to a record that is found.'),
      on_missing: chosen(ON_MISSING, 'What to do if none is found.'),
    },
    closed,
  );
  const external: JsonValue = { source: 'salesforce', id: `${resource.singular}-1842` };
  return {
    body: named(`${typeNameOf(resource)}Upsert`, body),
    inspect: (given: Data) => upsertFaults(resource, given),
    examples: { body: { ...createExample(resource), external_id: external } },
  };
}

function answerSchema(resource: Resource, own: Record<string, TSchema>, name: string): TSchema {
  const { properties } = resource.responseSchema as TObject;
  const { id } = properties;
  const matched = Type.Enum([...matchNames(resource)], {
    description: 'What the record was found by; null if it was created.',
  });
  const common = { ...own, matched_by: nullable(matched) };
  const whole = named(`${name}Record`, Type.Object({ ...properties, ...common }, closed));
  const bare = named(`${name}Reference`, Type.Object({ ...(id && { id }), ...common }, closed));
  return named(`${name}Answer`, Type.Union([whole, bare]));
}
