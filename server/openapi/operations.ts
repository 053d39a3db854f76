// What the description says about one operation, as the `detail` of its route.
import { type TSchema, Type } from 'typebox';
import { type Data, isObject } from '../../db/model/json.ts';
import { BATCH_ITEMS_MAX, type Operation } from '../operation.ts';
import { takesDryRun } from '../pipeline/dry-run.ts';
import { takesIdempotencyKey } from '../pipeline/replay.ts';
import { envelopeSchema } from './envelopes.ts';
import { errorResponses } from './errors.ts';
import { COMMON_HEADERS, type HeaderName, headersOf, RATE_LIMIT_HEADERS } from './headers.ts';
import { parametersOf } from './parameters.ts';
import { sampleOf } from './sample.ts';
import { KEY_SCHEMES } from './security.ts';

/** The detail of an operation's route, which @elysiajs/swagger reads. */
export function operationDetail(operation: Operation): Data {
  const { id, tag, summary, api, scopes, admit } = operation;
  const detail: Data = {
    operationId: id,
    tags: [tag],
    summary,
    description: descriptionOf(operation),
    parameters: parametersOf(operation),
    responses: { ...successResponses(operation), ...errorResponses(operation) },
    security: admit === undefined ? [{ [KEY_SCHEMES[api]]: [] }] : [],
    'x-required-scopes': [...scopes],
  };
  if (operation.body !== undefined) detail.requestBody = requestBody(operation);
  if (api === 'v1') detail.deprecated = true;
  return detail;
}

function descriptionOf({ description, scopes, admit, isOrganizationOnly, isWrite }: Operation): string {
  const named = scopes.map((scope) => `\`${scope}\``).join(' and ');
  const needs = [
    scopes.length > 0 ? `Required ${scopes.length > 1 ? 'scopes' : 'scope'}: ${named}.` : '',
    admit === undefined ? '' : 'No key is required.',
    isOrganizationOnly === true && isWrite ? 'Requires an organization-wide key.' : '',
  ];
  const paragraphs = [description, needs.filter((need) => need !== '').join(' ')];
  return paragraphs.filter((paragraph) => paragraph !== undefined && paragraph !== '').join('\n\n');
}

function requestBody({ body = {}, isBatch, examples }: Operation): Data {
  const example = examples?.body ?? sampleOf(body as Data);
  const list: TSchema = Type.Array(body, { maxItems: BATCH_ITEMS_MAX });
  const content = isBatch ? { schema: list as Data, example: [example] } : { schema: body as Data, example };
  return { required: true, content: { 'application/json': content } };
}

function successResponses(operation: Operation): Data {
  return Object.fromEntries(
    Object.entries(operation.successes).map(([status, meaning]) => [
      status,
      successResponse(operation, status, meaning),
    ]),
  );
}

function successResponse(operation: Operation, status: string, description: string): Data {
  const { answer, answerKind, api, examples, isConditional, isWrite, pageInfo, included } = operation;
  const names: HeaderName[] = [...COMMON_HEADERS[api], ...RATE_LIMIT_HEADERS];
  if (status === '201') names.push('Location');
  if (takesIdempotencyKey(operation)) names.push('Idempotent-Replayed');
  if (takesDryRun(operation)) names.push('Dry-Run');
  if (isConditional === true && !isWrite) names.push('ETag');
  const response: Data = { description, headers: headersOf(names) };
  if (answerKind === 'none' || answer === undefined || status === '304') return response;
  if (answerKind === 'stream') return { ...response, content: { 'text/event-stream': eventsOf(answer) } };
  const schema = envelopeSchema(api, answerKind, { data: answer, page: pageInfo, included }) as Data;
  const sample = sampleOf(schema) as Data;
  const example = isObject(sample.data) ? { ...sample, data: { ...sample.data, ...examples?.data } } : sample;
  return { ...response, content: { 'application/json': { schema, example } } };
}

// A schema cannot say what the lines of a stream contain, so the example does.
function eventsOf(answer: TSchema): Data {
  const data = JSON.stringify(sampleOf(answer as Data));
  const example = `retry: 1000\n\nevent: change\nid: k3RvQm9uZ2U0Y3Vyc29yZm9ydGhlbmV4dHBhZ2U\ndata: ${data}\n\n`;
  return { schema: { type: 'string' }, example };
}
