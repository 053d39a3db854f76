// What the description says of one operation, as the `detail` of its route.
import type { DocumentDecoration } from 'elysia';
import type { Data } from '../../db/declare/json.ts';
import { BATCH_ITEMS_MAX, type Operation } from '../operation.ts';
import { honoursKeys } from '../pipeline/replay.ts';
import { envelopeExample, envelopeSchema } from './envelopes.ts';
import { errorResponses } from './errors.ts';
import { bodyExample, dataExample } from './examples.ts';
import { type HeaderName, headersOf, RATE_LIMIT_HEADERS } from './headers.ts';
import { NOTES } from './notes.ts';
import { parametersOf } from './parameters.ts';
import { describeSchema } from './schemas.ts';

/** The detail of an operation's route, from which @elysiajs/swagger describes it. */
export function operationDetail(operation: Operation): DocumentDecoration {
  const { id, tag, summary, api, scopes, admit } = operation;
  const detail: Data = {
    operationId: id,
    tags: [tag],
    summary,
    description: descriptionOf(operation),
    parameters: parametersOf(operation),
    responses: { ...successResponses(operation), ...errorResponses(operation) },
    'x-required-scopes': [...scopes],
  };
  if (operation.body !== undefined) detail.requestBody = requestBody(operation);
  if (api === 'v1') detail.deprecated = true;
  if (admit !== undefined) detail.security = [];
  return detail as DocumentDecoration;
}

function descriptionOf(operation: Operation): string {
  const { description, id, scopes, isOrganizationOnly } = operation;
  const named = scopes.map((scope) => `\`${scope}\``).join(' and ');
  const needs = [
    scopes.length > 0 ? `Needs the ${scopes.length > 1 ? 'scopes' : 'scope'} ${named}.` : 'Needs no key.',
    isOrganizationOnly === true && operation.isWrite ? 'Organization-wide keys only.' : '',
  ];
  const paragraphs = [description, NOTES[id], needs.join(' ').trim()];
  return paragraphs.filter((paragraph) => paragraph !== undefined && paragraph !== '').join('\n\n');
}

function requestBody(operation: Operation): Data {
  const { body, isBatch } = operation;
  const schema = body === undefined ? {} : describeSchema(body);
  const example = bodyExample(operation);
  const content = isBatch
    ? { schema: { type: 'array', maxItems: BATCH_ITEMS_MAX, items: schema }, example: [example] }
    : { schema, example };
  return { required: true, content: { 'application/json': content } };
}

function successResponses(operation: Operation): Data {
  return Object.fromEntries(
    operation.successStatuses.map((status) => [String(status), successResponse(operation, status)]),
  );
}

function successResponse(operation: Operation, status: number): Data {
  const { answer, answerKind, api } = operation;
  const names: HeaderName[] = ['X-Request-Id', ...RATE_LIMIT_HEADERS];
  if (status === 201) names.push('Location');
  if (honoursKeys(operation)) names.push('Idempotent-Replayed');
  const response: Data = { description: meaningOf(operation, status), headers: headersOf(names) };
  if (answerKind === 'none' || answer === undefined) return response;
  const schema = envelopeSchema(api, answerKind, describeSchema(answer));
  const example = envelopeExample(api, answerKind, dataExample(operation));
  return { ...response, content: { 'application/json': { schema, example } } };
}

function meaningOf({ answerKind, method, successStatuses }: Operation, status: number): string {
  if (status === 201) return 'Created.';
  if (successStatuses.length > 1) return 'It was there already.';
  if (answerKind === 'list') return 'A page.';
  if (answerKind === 'batch') return 'The outcome of every item, in the order sent.';
  if (answerKind === 'none') return 'Done; there is no body.';
  return method === 'GET' ? 'Found.' : 'Done.';
}
