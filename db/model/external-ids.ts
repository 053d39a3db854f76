// External IDs: the IDs that records have in other systems, here called sources.
import { type TSchema, Type } from 'typebox';
import { field, text, timestamp } from './fields.ts';
import { bodySchema, named, recordSchema } from './schemas.ts';

/** An ID in another system; records of one resource never share it. */
export interface ExternalId {
  source: string;
  id: string;
}

/** Their table, and the sub-resource of a record. */
export const EXTERNAL_IDS = 'external_ids';

/** Maximum number of external IDs of a record, which has at most one of each source. */
export const EXTERNAL_IDS_MAX = 20;

const SOURCE_CHARACTERS_MAX = 64;
const ID_CHARACTERS_MAX = 255;
/** A source consists of these characters; other systems' IDs can have any. */
const SOURCE_PATTERN = '^[a-z0-9_.-]+$';
/** The name of an external ID: its source ends at the first colon. */
export const EXTERNAL_ID_NAME_PATTERN = '^([a-z0-9_.-]{1,64}):([\\s\\S]+)$';

const EXAMPLE: ExternalId = { source: 'salesforce', id: '003Hs00004kXyZ1IAK' };

/** The fields of an external ID that a client sends. */
export const externalIdFields = {
  source: field(
    {
      kind: 'text',
      column: 'text',
      schema: Type.String({ pattern: SOURCE_PATTERN, maxLength: SOURCE_CHARACTERS_MAX }),
    },
    { required: true, example: EXAMPLE.source, description: 'The other system, by a name that you choose.' },
  ),
  id: text({
    required: true,
    maxLength: ID_CHARACTERS_MAX,
    example: EXAMPLE.id,
    description: 'The ID in that system; case-sensitive.',
  }),
};

/** Schema of an external ID in a body. */
export const externalIdSchema: TSchema = named(
  'ExternalIdCreate',
  bodySchema(externalIdFields, () => true, true),
);

/** Schema of an external ID in a response. */
export const shownExternalIdSchema: TSchema = named(
  'ExternalId',
  recordSchema({
    ...externalIdFields,
    created_at: timestamp({ required: true, description: 'When it was added.' }),
  }),
);

/** Identifies an external ID among those of its resource. */
export function externalIdName({ source, id }: ExternalId): string {
  return `${source}:${id}`;
}

/** The name of an external ID, for descriptions and messages. */
export const EXTERNAL_ID_EXAMPLE = externalIdName(EXAMPLE);

const NAME = new RegExp(EXTERNAL_ID_NAME_PATTERN);

/** The external ID with a name; undefined if no external ID can have it. */
export function parseExternalIdName(name: string): ExternalId | undefined {
  const [, source, id] = NAME.exec(name) ?? [];
  return source === undefined || id === undefined ? undefined : { source, id };
}
