// What a query can be as a whole: an address, a telephone number or an ID, which finds its record before all others.

import { IsEmail } from 'typebox/format';
import { memoize } from '../cache.ts';
import { type ExternalId, externalIdName, parseExternalIdName } from './external-ids.ts';
import type { JsonValue } from './json.ts';
import type { Resource, Row } from './resource.ts';
import type { SearchQuery } from './search-query.ts';
import { isPhone } from './searched.ts';
import { snippetAt } from './snippet.ts';
import { caselessKey, isDomain, isInternationalEmail, normalizeDomain } from './text.ts';
import { digitsOf, foldedText } from './words.ts';

/** What a query can be, each in the form in which it is looked up; null for what it cannot be. */
export interface Identifiers {
  /** An email address, as `caselessKey` gives it. */
  readonly email: string | null;
  /** A domain, as companies store it. */
  readonly domain: string | null;
  /** The digits of a telephone number. */
  readonly phone: string | null;
  /** An ID in another system, whatever its source, or the `primary_id` of an interaction. */
  readonly foreignId: string;
  /** An ID in another system with its source. */
  readonly externalId: ExternalId | null;
  readonly recordId: string | null;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
// Digits, and what is written between them.
const PHONE = /^[\p{Nd}\s+()./\u2010-\u2013-]+$/u;

/** What a query can be as a whole. */
export function identifiersIn({ text }: SearchQuery): Identifiers {
  const id = text.toLowerCase();
  const folded = foldedText(text);
  return {
    email: IsEmail(text) || isInternationalEmail(text) ? caselessKey(text) : null,
    domain: isDomain(text) ? normalizeDomain(text) : null,
    phone: PHONE.test(folded) ? digitsOf(folded) : null,
    foreignId: text,
    externalId: parseExternalIdName(text) ?? null,
    recordId: UUID.test(id) ? id : null,
  };
}

/** Where a whole query identifies a record. */
export interface IdentifierHit {
  tier: 'identifier';
  field: string;
  snippet: string;
}

/** Whether the whole query identifies a stored record with these IDs in other systems. */
export function identifierHitIn(
  identifiers: Identifiers,
  resource: Resource,
  row: Row,
  externalIds: readonly ExternalId[] = [],
): IdentifierHit | null {
  for (const { field, by, formOf, valuesIn } of identifyingFields(resource)) {
    const wanted = identifiers[by];
    const stored = row[field] ?? null;
    if (wanted === null || typeof stored !== 'string') continue;
    const value = valuesIn(stored).find((one) => formOf(one) === wanted);
    if (value !== undefined) return hit(field, value);
  }
  const { foreignId, externalId } = identifiers;
  const given = externalIds.find(
    ({ source, id }) => id === foreignId || (source === externalId?.source && id === externalId.id),
  );
  return given === undefined ? null : hit('external_id', externalIdName(given));
}

/** A field whose value can identify its record. */
interface IdentifyingField {
  field: string;
  by: Exclude<keyof Identifiers, 'externalId'>;
  /** A value in the form in which it is looked up. */
  formOf: (value: string) => string;
  /** The values of a field, as it is stored. */
  valuesIn: (stored: string) => string[];
}

const identifyingFields = memoize((resource: Resource): readonly IdentifyingField[] =>
  Object.entries(resource.fields).flatMap(([field, { kind, decode }]) => {
    const by = identifierOf(field, kind);
    if (by === null) return [];
    const valuesIn = (stored: string) => (kind === 'emails' ? listOf(decode(stored)) : [stored]);
    return { field, by, formOf: FORMS[by] ?? same, valuesIn };
  }),
);

const same = (value: string): string => value;
const FORMS: Partial<Record<IdentifyingField['by'], IdentifyingField['formOf']>> = {
  email: caselessKey,
  phone: (value) => digitsOf(foldedText(value)),
};

function identifierOf(field: string, kind: string): IdentifyingField['by'] | null {
  if (kind === 'email' || kind === 'emails') return 'email';
  if (kind === 'domain') return 'domain';
  if (isPhone(field)) return 'phone';
  if (field === 'external_id' || field === 'primary_id') return 'foreignId';
  return field === 'id' ? 'recordId' : null;
}

function listOf(value: JsonValue): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

function hit(field: string, value: string): IdentifierHit {
  return { tier: 'identifier', field, snippet: snippetAt(value, 0) };
}
