// What a query can be as a whole: an address, a telephone number or an ID, which finds its record before all others.

import { IsEmail } from 'typebox/format';
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
  for (const [field, { kind, decode }] of Object.entries(resource.fields)) {
    const stored = row[field] ?? null;
    if (typeof stored !== 'string') continue;
    const values = kind === 'emails' ? listOf(decode(stored)) : [stored];
    const value = values.find((one) => isIdentified(identifiers, field, kind, one));
    if (value !== undefined) return hit(field, value);
  }
  const { foreignId, externalId } = identifiers;
  const given = externalIds.find(
    ({ source, id }) => id === foreignId || (source === externalId?.source && id === externalId.id),
  );
  return given === undefined ? null : hit('external_id', externalIdName(given));
}

function isIdentified(
  { email, domain, phone, foreignId, recordId }: Identifiers,
  field: string,
  kind: string,
  value: string,
): boolean {
  if (kind === 'email' || kind === 'emails') return caselessKey(value) === email;
  if (kind === 'domain') return value === domain;
  if (isPhone(field)) return phone !== null && digitsOf(foldedText(value)) === phone;
  if (field === 'external_id' || field === 'primary_id') return value === foreignId;
  return field === 'id' && value === recordId;
}

function listOf(value: JsonValue): string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

function hit(field: string, value: string): IdentifierHit {
  return { tier: 'identifier', field, snippet: snippetAt(value, 0) };
}
