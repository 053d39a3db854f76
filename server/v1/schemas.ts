// Bodies and responses of version 1, with its field names.
import { type TSchema, Type } from 'typebox';
import {
  EMAIL_CHARACTERS_MAX,
  exampleId,
  INSTANT_MS_MAX,
  INSTANT_MS_MIN,
  idSchema,
  LONG_TEXT_CHARACTERS_MAX,
  NAME_CHARACTERS_MAX,
  nonBlankText,
} from '../../db/model/fields.ts';
import { customEntries } from '../../db/model/json-fields.ts';
import type { Resource } from '../../db/model/resource.ts';
import { companies } from '../../db/model/resources/companies.ts';
import { contacts } from '../../db/model/resources/contacts.ts';
import {
  INTERACTION_DIRECTIONS,
  INTERACTION_TYPES,
  interactions,
} from '../../db/model/resources/interactions.ts';
import {
  INTERACTION_FILTERS,
  INTERACTIONS_PAGE_MAX,
  PEOPLE_FILTERS,
  PEOPLE_PAGE_MAX,
} from '../../db/model/v1-names.ts';
import { COMPANY_WRITABLE_FIELDS, v1Text, v2Name } from './translate.ts';

/** Default page size. */
export const PAGE_DEFAULT = 20;

type Properties = Record<string, TSchema>;

const closed = { additionalProperties: false };
const text = Type.String({ maxLength: NAME_CHARACTERS_MAX });
const requiredText = nonBlankText({ maxLength: NAME_CHARACTERS_MAX });
const longText = Type.String({ maxLength: LONG_TEXT_CHARACTERS_MAX });
const email = Type.String({
  format: 'email',
  maxLength: EMAIL_CHARACTERS_MAX,
  examples: ['ada@example.com'],
});
const dateTime = Type.String({ format: 'date-time' });
const shownText = Type.String();

const personFields = {
  firstName: text,
  lastName: text,
  title: text,
  phone: text,
  personalPhone: text,
  linkedin: text,
  twitter: text,
  facebook: text,
  instagram: text,
  whatsapp: text,
  remarks: longText,
  altEmails: Type.Array(email, { maxItems: 100 }),
};
const { firstName, ...restOfName } = described(contacts, {
  firstName: requiredText,
  lastName: text,
  title: text,
});

export const personCreate = Type.Object(
  { type: Type.Enum(['email']), identifier: email, firstName, ...optional(restOfName) },
  { ...closed, $id: 'V1PersonCreate' },
);
export const personUpsert = Type.Object(
  { email, ...optional(described(contacts, personFields)) },
  { ...closed, $id: 'V1PersonUpsert' },
);
export const personUpdate = Type.Object(optional(described(contacts, { email, ...personFields })), {
  ...closed,
  $id: 'V1PersonUpdate',
});
export const peopleQuery = querySchema('V1PeopleQuery', PEOPLE_PAGE_MAX, Object.keys(PEOPLE_FILTERS));

const writableText = Object.fromEntries(COMPANY_WRITABLE_FIELDS.map((name) => [name, text]));
const domain = Type.String({ format: 'domain', minLength: 1, maxLength: NAME_CHARACTERS_MAX });
const { domain: requiredDomain = domain, ...companyFields } = described(companies, {
  ...writableText,
  domain,
});
export const companyCreate = Type.Object(
  { domain: requiredDomain, ...optional(companyFields) },
  { ...customEntries, $id: 'V1CompanyCreate' },
);
export const companyUpdate = Type.Object(optional({ domain: requiredDomain, ...companyFields }), {
  ...customEntries,
  $id: 'V1CompanyUpdate',
});

export const interactionsQuery = querySchema(
  'V1InteractionsQuery',
  INTERACTIONS_PAGE_MAX,
  Object.keys(INTERACTION_FILTERS),
);
const { type, direction, title, ...interactionFields } = described(interactions, {
  type: Type.Enum([...INTERACTION_TYPES]),
  direction: Type.Enum([...INTERACTION_DIRECTIONS]),
  title: requiredText,
  summary: longText,
  primaryId: text,
  secondaryId: text,
  interactionDate: Type.Number({
    minimum: INSTANT_MS_MIN,
    maximum: INSTANT_MS_MAX,
    description: 'In Unix milliseconds.',
  }),
  mainContact: { ...idSchema(), description: 'Send either mainContact or mainContactEmail.' },
  mainContactEmail: email,
});
export const interactionCreate = Type.Object(
  { type, direction, title, ...optional(interactionFields) },
  { ...closed, $id: 'V1InteractionCreate' },
);

export const person = Type.Object(
  optional(
    described(contacts, {
      id: shownText,
      email: Type.String({ format: 'email' }),
      ...personFields,
      companyId: shownText,
      owner: shownText,
      createdBy: shownText,
      creationTime: dateTime,
      lastInteraction: dateTime,
    }),
  ),
  { $id: 'V1Person' },
);
export const company = Type.Object(
  optional(
    described(companies, {
      id: shownText,
      ...Object.fromEntries(COMPANY_WRITABLE_FIELDS.map((name) => [name, shownText])),
      createdBy: shownText,
      creationTime: dateTime,
      lastInteraction: dateTime,
    }),
  ),
  { $id: 'V1Company' },
);
export const interaction = Type.Object(
  optional(
    described(interactions, {
      id: shownText,
      type: shownText,
      direction: shownText,
      title: shownText,
      summary: shownText,
      createdBy: shownText,
      interactionDate: dateTime,
      creationTime: dateTime,
    }),
  ),
  { $id: 'V1Interaction' },
);
export const companyId = Type.Object(
  { id: Type.String({ examples: [exampleId('companies')] }) },
  { ...closed, $id: 'V1CompanyReference' },
);
export const interactionCreated = Type.Object(
  { id: Type.String({ examples: [exampleId('interactions')] }), isDuplicate: Type.Boolean() },
  { ...closed, $id: 'V1InteractionCreateResult' },
);
export const team = Type.Object(
  { team_name: Type.String({ examples: ['Example Ltd'] }) },
  { ...closed, $id: 'V1Team' },
);

function optional<P extends Properties>(properties: P): Properties {
  return Object.fromEntries(Object.entries(properties).map(([name, one]) => [name, Type.Optional(one)]));
}

// A property has the description of its v2 field if both have the same type.
function described<P extends Properties>({ fields }: Resource, properties: P): P {
  const entries = Object.entries(properties).map(([name, schema]) => {
    const field = fields[v2Name(name)];
    const isSameType = field !== undefined && (schema as { type?: string }).type === typeOf(field.example);
    if (!isSameType) return [name, schema];
    const description = v1Text(field.description);
    return [name, { ...(description !== '' && { description }), examples: [field.example], ...schema }];
  });
  return Object.fromEntries(entries);
}

function typeOf(value: unknown): string {
  return Array.isArray(value) ? 'array' : typeof value;
}

function querySchema($id: string, limitMax: number, filters: readonly string[]): TSchema {
  const texts = Object.fromEntries(filters.map((name) => [name, Type.String()]));
  return Type.Object(
    optional({
      cursor: Type.String({ description: 'The end_cursor of the previous page.' }),
      limit: Type.Integer({
        minimum: 1,
        maximum: limitMax,
        description: `Maximum number of records per page. Default: ${PAGE_DEFAULT}.`,
      }),
      filter: Type.Object(optional(texts), closed),
    }),
    { ...closed, $id },
  );
}
