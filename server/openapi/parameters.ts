// The parameters of an operation: path, query, and headers.
import { EXTERNAL_ID_NAME_PATTERN, externalIdFields } from '../../db/model/external-ids.ts';
import { exampleId } from '../../db/model/fields.ts';
import type { Data } from '../../db/model/json.ts';
import { singularOf } from '../../db/model/text.ts';
import type { Operation, QueryParameter } from '../operation.ts';
import { DRY_RUN_HEADER, takesDryRun } from '../pipeline/dry-run.ts';
import { IF_MATCH, IF_NONE_MATCH } from '../pipeline/preconditions.ts';
import { KEY_HEADER, takesIdempotencyKey } from '../pipeline/replay.ts';
import { component } from './components.ts';
import { sampleOf } from './sample.ts';

// Without an example: documentation pages that fill in examples would send it.
const IDEMPOTENCY_KEY = component('parameters', 'IdempotencyKey', {
  name: KEY_HEADER,
  in: 'header',
  description:
    'Identifies this write, so that a repeated request returns the stored response instead of writing again. ' +
    'Stored for 24 hours; using the key for a different request returns 422.',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[!-~]+$' },
});

const DRY_RUN = component('parameters', 'DryRun', {
  name: DRY_RUN_HEADER,
  in: 'header',
  description:
    '`true` runs the write, undoes it, and returns the response that it would have had. IDs in that response are not kept. ' +
    'Cannot be combined with Idempotency-Key.',
  schema: { type: 'string', enum: ['true'] },
});

const IF_MATCH_TAGS = component('parameters', 'IfMatch', {
  name: IF_MATCH,
  in: 'header',
  description:
    'The ETag of the version that you changed. If the record has another version by now, the response is 409, and nothing ' +
    'changes. `*` stands for any version.',
  schema: { type: 'string' },
});

const IF_NONE_MATCH_TAGS = component('parameters', 'IfNoneMatch', {
  name: IF_NONE_MATCH,
  in: 'header',
  description:
    'The ETag of the version that you have. If it is still the current one, the response is 304, without a body.',
  schema: { type: 'string' },
});

const LAST_EVENT = component('parameters', 'LastEventId', {
  name: 'Last-Event-ID',
  in: 'header',
  description: 'The `id` of the last event that you have; the stream continues behind it.',
  schema: { type: 'string' },
});

const SOURCE: Data = {
  name: 'source',
  in: 'path',
  required: true,
  description: 'The source of the external ID.',
  schema: { ...externalIdFields.source.schema, examples: [externalIdFields.source.example] },
};

/** All parameters of an operation. */
export function parametersOf(operation: Operation): Data[] {
  const path = [...operation.path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) =>
    pathParameter(operation, name),
  );
  const isOwnCredential = operation.admit !== undefined;
  const query = Object.entries(operation.query).map(([name, parameter]) =>
    queryParameter(name, parameter, isOwnCredential || parameter.isRequired === true),
  );
  return [...path, ...query, ...headersOf(operation)];
}

function headersOf(operation: Operation): Data[] {
  const { answerKind, isConditional, isWrite, successes } = operation;
  const taken: [boolean, Data][] = [
    [takesIdempotencyKey(operation), IDEMPOTENCY_KEY],
    [takesDryRun(operation), DRY_RUN],
    [isConditional === true && isWrite, IF_MATCH_TAGS],
    [successes[304] !== undefined, IF_NONE_MATCH_TAGS],
    [answerKind === 'stream', LAST_EVENT],
  ];
  return taken.flatMap(([isTaken, parameter]) => (isTaken ? [parameter] : []));
}

function pathParameter(operation: Operation, name: string): Data {
  if (name === 'source') return SOURCE;
  const collection = collectionOf(operation);
  const isChild = name === 'child_id';
  const description = isChild ? 'ID of the linked record.' : `ID of the ${singularOf(collection)}.`;
  const example = exampleId(isChild ? 'linked' : collection);
  const schema = { type: 'string', format: 'id', examples: [example] };
  return { name, in: 'path', required: true, description, schema };
}

// The collection before the first parameter.
function collectionOf({ path }: Operation): string {
  const [, collection = 'records'] = /(\w+)\/\{/.exec(path) ?? [];
  return collection;
}

function queryParameter(name: string, parameter: QueryParameter, required: boolean): Data {
  const { description, initial, timesMax } = parameter;
  const one = querySchema(parameter);
  const example = parameter.example ?? initial ?? sampleOf(one);
  // In the schema: documentation pages would fill in and send an example of the parameter itself.
  const schema: Data =
    timesMax === undefined
      ? { ...one, examples: [example] }
      : { type: 'array', items: one, maxItems: timesMax, examples: [[example]] };
  return { name, in: 'query', ...(required && { required }), description, schema };
}

function querySchema({ type, minimum, maximum, initial }: QueryParameter): Data {
  const schema: Data = initial === undefined ? {} : { default: initial };
  if (type === 'external ID') return { type: 'string', pattern: EXTERNAL_ID_NAME_PATTERN, ...schema };
  if (type === 'text') return { type: 'string', minLength: 1, ...schema };
  if (type === 'boolean') return { type: 'boolean', ...schema };
  if (type === 'instant') {
    const anyOf = [
      { type: 'string', format: 'date-time' },
      { type: 'integer', format: 'int64' },
    ];
    return { anyOf, ...schema };
  }
  if (type !== 'integer') return { type: 'string', enum: [...type], ...schema };
  return {
    type: 'integer',
    ...(minimum !== undefined && { minimum }),
    ...(maximum !== undefined && { maximum }),
    ...schema,
  };
}
