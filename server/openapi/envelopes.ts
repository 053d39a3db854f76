// What every answer of the interface is wrapped in, as component schemas, and examples of it.
import type { Data, JsonValue } from '../../db/declare/json.ts';
import { type Detail, ERROR_CODES } from '../errors.ts';
import type { Api } from '../operation.ts';
import { refTo } from './json-schema.ts';

const text = { type: 'string' };

function closed(properties: Data, more: Data = {}): Data {
  return {
    type: 'object',
    required: Object.keys(properties),
    properties,
    additionalProperties: false,
    ...more,
  };
}

function meta(version: string): Data {
  return closed({
    request_id: { ...text, description: 'Names this exchange; also in X-Request-Id.', example: REQUEST_ID },
    api_version: { ...text, enum: [version] },
    timestamp: { ...text, format: 'date-time', description: 'When the request arrived.', example: TIMESTAMP },
  });
}

function errorEnvelope(metaName: string): Data {
  const error = closed({
    code: { ...text, enum: [...ERROR_CODES], description: 'What to tell errors apart by.' },
    message: { ...text, description: 'For people: what is wrong, and what to do.' },
    details: {
      type: 'array',
      nullable: true,
      items: refTo('schemas', 'ErrorDetail'),
      description: 'Every fault of the request; null where there is nothing to list.',
    },
  });
  return closed({ object: { ...text, enum: ['error'] }, error, meta: refTo('schemas', metaName) });
}

const REQUEST_ID = 'req_kZ3vQ8mT1xB6cJ0wYp4L';
const TIMESTAMP = '2026-01-01T00:00:00.000Z';

/** Component schemas that both versions, or all resources, share. */
export const SHARED_SCHEMAS: Data = {
  Meta: meta('2'),
  V1Meta: meta('1'),
  PageInfo: closed({
    has_next_page: { type: 'boolean', description: 'Whether there is more after this page.' },
    end_cursor: {
      ...text,
      nullable: true,
      description: 'Send it as cursor for the next page; null if this page is empty.',
    },
  }),
  Error: errorEnvelope('Meta'),
  V1Error: errorEnvelope('V1Meta'),
  ErrorDetail: closed({
    path: { ...text, description: 'Where: dotted, such as alt_emails.0; empty for the request as a whole.' },
    message: { ...text, description: 'What is allowed there.' },
    code: { ...text, enum: [...ERROR_CODES], description: "This fault's own code." },
  }),
};

function metaRef(api: Api): Data {
  return refTo('schemas', api === 'v1' ? 'V1Meta' : 'Meta');
}

/** Schema of a successful answer around the schema of its data. */
export function envelopeSchema(api: Api, object: 'success' | 'list' | 'batch', data: Data): Data {
  const kind = { object: { type: 'string', enum: [object] } };
  if (object !== 'list') return closed({ ...kind, data, meta: metaRef(api) });
  const list = { data: { type: 'array', items: data }, page_info: refTo('schemas', 'PageInfo') };
  return closed({ ...kind, ...list, meta: metaRef(api) });
}

function metaExample(api: Api): Data {
  return { request_id: REQUEST_ID, api_version: api === 'v1' ? '1' : '2', timestamp: TIMESTAMP };
}

/** Example of a successful answer around an example of its data (of one record of a list). */
export function envelopeExample(api: Api, object: 'success' | 'list' | 'batch', data: JsonValue): Data {
  if (object !== 'list') return { object, data, meta: metaExample(api) };
  const page_info = { has_next_page: true, end_cursor: 'k3RvQm9uZ2U0Y3Vyc29yZm9ydGhlbmV4dHBhZ2U' };
  return { object, data: [data], page_info, meta: metaExample(api) };
}

/** Example of an error. */
export function errorExample(api: Api, code: string, message: string, details: Detail[] | null): Data {
  const shown = details === null ? null : details.map((detail) => ({ ...detail }));
  return { object: 'error', error: { code, message, details: shown }, meta: metaExample(api) };
}
