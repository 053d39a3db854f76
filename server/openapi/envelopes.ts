// The envelope of every response as schemas, and examples of it.
import { type TSchema, Type } from 'typebox';
import type { Data, JsonValue } from '../../db/model/json.ts';
import { nullable } from '../../db/model/schemas.ts';
import type { Api } from '../../db/tables/key-format.ts';
import { type Detail, errorCodeSchema, errorDetailSchema } from '../errors.ts';
import { sampleOf } from './sample.ts';

const closed = { additionalProperties: false };

function metaOf(version: string, $id: string): TSchema {
  return Type.Object(
    {
      request_id: Type.String({
        description: 'Identifies the request; also in X-Request-Id.',
        examples: ['req_kZ3vQ8mT1xB6cJ0wYp4L'],
      }),
      api_version: Type.Enum([version]),
      timestamp: Type.String({ format: 'date-time', description: 'When the service received the request.' }),
    },
    { ...closed, $id },
  );
}

const META: Record<Api, TSchema> = { v1: metaOf('1', 'V1Meta'), v2: metaOf('2', 'Meta') };

const error = Type.Object(
  {
    code: errorCodeSchema,
    message: Type.String({ description: 'What is wrong and what to do, for people.' }),
    details: nullable(
      Type.Array(errorDetailSchema, {
        description: 'The errors of the request; null if there is nothing to list.',
      }),
    ),
  },
  closed,
);

function errorEnvelope(api: Api, $id: string): TSchema {
  return Type.Object({ object: Type.Enum(['error']), error, meta: META[api] }, { ...closed, $id });
}

/** Schemas of the errors of each version. */
export const ERROR_ENVELOPE: Record<Api, TSchema> = {
  v1: errorEnvelope('v1', 'V1ErrorEnvelope'),
  v2: errorEnvelope('v2', 'ErrorEnvelope'),
};

const pageInfo = Type.Object(
  {
    has_next_page: Type.Boolean({
      description: 'Whether there are more records after this page.',
      examples: [true],
    }),
    end_cursor: nullable(
      Type.String({
        description: 'The cursor for the next page; null if this page is empty and the last one.',
        examples: ['k3RvQm9uZ2U0Y3Vyc29yZm9ydGhlbmV4dHBhZ2U'],
      }),
    ),
  },
  { ...closed, $id: 'PageInfo' },
);

/** The parts of a successful response that operations describe. */
interface EnvelopeParts {
  /** For a list, the schema of one record. */
  data: TSchema;
  /** Schema of `page_info`, if that differs from other lists. */
  page?: TSchema | undefined;
  /** Schema of what it can include besides its data. */
  included?: TSchema | undefined;
}

/** Schema of a successful response around the schema of its data. */
export function envelopeSchema(
  api: Api,
  object: 'success' | 'list' | 'batch',
  { data, page = pageInfo, included }: EnvelopeParts,
): TSchema {
  const kind = Type.Enum([object]);
  const meta = META[api];
  const others: Record<string, TSchema> = included === undefined ? {} : { included: Type.Optional(included) };
  if (object !== 'list') return Type.Object({ object: kind, data, ...others, meta }, closed);
  return Type.Object({ object: kind, data: Type.Array(data), ...others, page_info: page, meta }, closed);
}

/** Example of an error. */
export function errorExample(api: Api, code: string, message: string, details: Detail[] | null): Data {
  const example = sampleOf(ERROR_ENVELOPE[api] as Data) as Data;
  return { ...example, error: { code, message, details: details as JsonValue } };
}
