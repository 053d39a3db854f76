// Bodies and answers of version 1, in its own names.
import { type TSchema, Type } from 'typebox';
import { EMAIL_CHARACTERS_MAX, INSTANT_MS_MAX, INSTANT_MS_MIN } from '../../db/declare/fields.ts';
import { INTERACTION_DIRECTIONS, INTERACTION_TYPES } from '../../db/resources/interactions.ts';
import {
  INTERACTION_FILTERS,
  INTERACTIONS_PAGE_MAX,
  PEOPLE_FILTERS,
  PEOPLE_PAGE_MAX,
} from '../../db/resources/v1.ts';
import { COMPANY_WRITABLE_FIELDS } from './translate.ts';

const PAGE_DEFAULT = 20;

const closed = { additionalProperties: false };
const text = Type.String({ maxLength: 1_000 });
const longText = Type.String({ maxLength: 10_000 });
const email = Type.String({ format: 'email', maxLength: EMAIL_CHARACTERS_MAX, example: 'ada@example.com' });
const dateTime = Type.String({ format: 'date-time' });
const optionalText = Type.Optional(text);

const personFields = {
  firstName: optionalText,
  lastName: optionalText,
  title: optionalText,
  phone: optionalText,
  personalPhone: optionalText,
  linkedin: optionalText,
  twitter: optionalText,
  facebook: optionalText,
  instagram: optionalText,
  whatsapp: optionalText,
  remarks: Type.Optional(longText),
  altEmails: Type.Optional(Type.Array(email, { maxItems: 100 })),
};

export const personCreate = Type.Object(
  {
    type: Type.Enum(['email']),
    identifier: email,
    firstName: text,
    lastName: optionalText,
    title: optionalText,
  },
  closed,
);
export const personUpsert = Type.Object({ email, ...personFields }, closed);
export const personUpdate = Type.Object({ email: Type.Optional(email), ...personFields }, closed);
export const peopleQuery = querySchema(PEOPLE_PAGE_MAX, PEOPLE_FILTERS);

const socialFields = Object.fromEntries(
  COMPANY_WRITABLE_FIELDS.filter((name) => name !== 'domain').map((name) => [name, optionalText]),
);
const additional = {
  propertyNames: Type.String({ maxLength: 100 }),
  additionalProperties: Type.Union([
    text,
    Type.Number({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER }),
    Type.Boolean(),
    Type.Null(),
  ]),
};
const domain = Type.String({ minLength: 1, maxLength: 1_000, example: 'example.com' });
export const companyCreate = Type.Object({ domain, ...socialFields }, additional);
export const companyUpdate = Type.Object({ domain: Type.Optional(domain), ...socialFields }, additional);

export const interactionsQuery = querySchema(INTERACTIONS_PAGE_MAX, INTERACTION_FILTERS);
export const interactionCreate = Type.Object(
  {
    type: Type.Enum([...INTERACTION_TYPES]),
    direction: Type.Enum([...INTERACTION_DIRECTIONS]),
    title: text,
    summary: Type.Optional(longText),
    primaryId: optionalText,
    secondaryId: optionalText,
    interactionDate: Type.Optional(
      Type.Number({ minimum: INSTANT_MS_MIN, maximum: INSTANT_MS_MAX, description: 'Unix milliseconds.' }),
    ),
    mainContact: Type.Optional({ ...text, description: 'Exactly one of mainContact and mainContactEmail.' }),
    mainContactEmail: Type.Optional(email),
  },
  closed,
);

const shownText = Type.Optional(Type.String());
export const person = Type.Object({
  id: shownText,
  email: Type.Optional(Type.String({ format: 'email' })),
  ...personFields,
  companyId: shownText,
  owner: shownText,
  createdBy: shownText,
  creationTime: Type.Optional(dateTime),
  lastInteraction: Type.Optional(dateTime),
});
export const company = Type.Object({
  id: shownText,
  ...Object.fromEntries(COMPANY_WRITABLE_FIELDS.map((name) => [name, shownText])),
  createdBy: shownText,
  creationTime: Type.Optional(dateTime),
  lastInteraction: Type.Optional(dateTime),
});
export const interaction = Type.Object({
  id: shownText,
  type: shownText,
  direction: shownText,
  title: shownText,
  summary: shownText,
  createdBy: shownText,
  interactionDate: Type.Optional(dateTime),
  creationTime: Type.Optional(dateTime),
});
export const idOnly = Type.Object({ id: Type.String() }, closed);
export const interactionCreated = Type.Object({ id: Type.String(), isDuplicate: Type.Boolean() }, closed);
export const team = Type.Object({ team_name: Type.String() }, closed);

function querySchema(limitMax: number, filters: readonly string[]): TSchema {
  return Type.Object(
    {
      cursor: Type.Optional(Type.String({ description: 'The end_cursor of the page before.' })),
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: limitMax, default: PAGE_DEFAULT })),
      filter: Type.Optional(
        Type.Object(Object.fromEntries(filters.map((name) => [name, Type.Optional(Type.String())])), closed),
      ),
    },
    closed,
  );
}
