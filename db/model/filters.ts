// The kinds of list filter a declaration can use.
import { EXTERNAL_ID_EXAMPLE } from './external-ids.ts';
import { parentsOf } from './links.ts';
import type { Filter, Match, SideTable } from './resource.ts';
import { caselessKey, joinWithOr, normalizeDomain, singularOf, textKey, withArticle } from './text.ts';

const unchanged = (value: string): string => value;

function filter(shape: Partial<Filter> & Pick<Filter, 'match' | 'description'>): Filter {
  return { type: 'text', normalize: unchanged, references: [], isAddress: false, ...shape };
}

const column = (name: string): Match => ({ column: name, operator: '=' });
const keyed = (name: string): Match => ({ keyed: name });

/** Exact match of any of the fields, whose key is their whole text. */
export function equals(...names: string[]): Filter {
  return filter({
    match: names.map(keyed),
    normalize: textKey,
    description: `Exact match of ${names.join(' or ')}.`,
  });
}

/** Match of an ID that refers to a record (or user); an ID that the key cannot see finds nothing. */
export function refersTo(target: string | readonly string[], ...match: (string | Match)[]): Filter {
  const references = typeof target === 'string' ? [target] : target;
  return filter({
    match: match.map((one) => (typeof one === 'string' ? column(one) : one)),
    references,
    description: `ID of ${withArticle(joinWithOr(references.map(singularOf)))}.`,
  });
}

/** Whole, case-insensitive match of a field whose key has no case. */
export function caseless(name: string): Filter {
  return filter({
    match: [keyed(name)],
    normalize: caselessKey,
    description: `Case-insensitive match of the whole ${name}.`,
  });
}

/** The filter, marked as one of email addresses or telephone numbers. */
export function ofAddress(one: Filter): Filter {
  return { ...one, isAddress: true };
}

/** Case-insensitive match of an email in a table of addresses. */
export function emailIn(addresses: SideTable): Filter {
  return filter({
    match: [parentsOf(addresses)],
    normalize: caselessKey,
    isAddress: true,
    description: 'An email address, primary or alternative; case-insensitive.',
  });
}

/** Match of a domain in any spelling that normalises to it. */
export function domainIs(name: string): Filter {
  return filter({
    match: [keyed(name)],
    normalize: (value) => textKey(normalizeDomain(value)),
    description: 'A domain; scheme, www., path and case are ignored.',
  });
}

/** The ID of the record in another system, as `SOURCE:ID`. */
export function externalId(): Filter {
  return filter({
    type: 'external ID',
    match: [column('id')],
    description: `The ID of the record in another system, as \`SOURCE:ID\`, such as \`${EXTERNAL_ID_EXAMPLE}\`.`,
  });
}

/** `true` or `false`. */
export function isTrue(name: string): Filter {
  return filter({
    type: 'boolean',
    match: [column(name)],
    description: `Only records with this value of ${name}.`,
  });
}

/** One of the named values. */
export function oneOf(name: string, values: readonly string[]): Filter {
  return filter({ type: values, match: [column(name)], description: `One of ${values.join(', ')}.` });
}

/** Instants before the given one, which is excluded. */
export function before(name: string): Filter {
  return filter({
    type: 'instant',
    match: [{ column: name, operator: '<' }],
    description: `Only records with ${name} before this time, in RFC 3339 or Unix milliseconds.`,
  });
}

/** Instants at or after the given one. */
export function after(name: string): Filter {
  return filter({
    type: 'instant',
    match: [{ column: name, operator: '>=' }],
    description: `Only records with ${name} at or after this time, in RFC 3339 or Unix milliseconds.`,
  });
}
