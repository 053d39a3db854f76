// Filters by chance, of values that the records of a world have.
import fc from 'fast-check';
import type { Json } from './harness.ts';
import { FILTERED_FIELDS, type FilterKind, OPERATORS_OF } from './query-contract.ts';
import type { Seen } from './query-model.ts';
import type { QueryWorld } from './query-world.ts';
import { DAYS, NUMBERS, TEXTS } from './query-world.ts';
import { ABSENT } from './v2.ts';

const ENUMS: Record<string, string[]> = {
  'deals.status': ['open', 'won', 'lost'],
  'segments.record_type': ['contact', 'company'],
  'interactions.type': ['EMAIL', 'MEMO', 'VOICE_NOTE'],
  'interactions.direction': ['INBOUND', 'EVENT'],
  'meetings.status': ['confirmed', 'tentative', 'cancelled'],
  'bookings.status': ['booked', 'rescheduled', 'cancelled'],
};
const SPANS = ['1h', '7d', '30d', '52w'].flatMap((span) => [{ ago: span }, { ahead: span }]);

const CONDITIONS_MAX = 25;

/** A filter of a resource that is not too long. */
export function validFilter(world: QueryWorld, seen: Seen, resource: string): fc.Arbitrary<Json> {
  return filterOf(world, seen, resource).filter((filter) => conditionsIn(filter) <= CONDITIONS_MAX);
}

/** How many conditions a filter has. */
export function conditionsIn(filter: Json): number {
  let count = 0;
  for (const [name, value] of Object.entries<Json>(filter)) {
    if (name === 'not') count += conditionsIn(value);
    else if (name === 'and' || name === 'or') for (const part of value) count += conditionsIn(part);
    else count += typeof value === 'object' ? Object.keys(value).length : 1;
  }
  return count;
}

// With at most that many levels of `and`, `or` and `not`.
function filterOf(world: QueryWorld, seen: Seen, resource: string, levels = 3): fc.Arbitrary<Json> {
  const leaf = conditionsOf(world, seen, resource);
  if (levels === 0) return leaf;
  const inner = filterOf(world, seen, resource, levels - 1);
  const several = fc.array(inner, { minLength: 1, maxLength: 3 });
  return fc.oneof(
    { weight: 4, arbitrary: leaf },
    { weight: 2, arbitrary: several.map((and) => ({ and })) },
    { weight: 2, arbitrary: several.map((or) => ({ or })) },
    { weight: 1, arbitrary: inner.map((not) => ({ not })) },
  );
}

function conditionsOf(world: QueryWorld, seen: Seen, resource: string): fc.Arbitrary<Json> {
  // Kinds of which there are few fields come up as often as others.
  const kinds = [
    ...Map.groupBy(Object.entries(FILTERED_FIELDS[resource] ?? {}), ([, kind]) => kind).values(),
  ];
  const condition = fc
    .constantFrom(...kinds)
    .chain((fields) => fc.constantFrom(...fields))
    .chain(([name, kind]) => fieldOf(world, seen, resource, name, kind).map((value) => ({ [name]: value })));
  return fc.array(condition, { minLength: 1, maxLength: 2 }).map((parts) => Object.assign({}, ...parts));
}

function fieldOf(
  world: QueryWorld,
  seen: Seen,
  resource: string,
  name: string,
  kind: FilterKind,
): fc.Arbitrary<Json> {
  const value = fieldValue(world, seen, resource, name, kind);
  const one = fc
    .constantFrom(...OPERATORS_OF[kind])
    .chain((operator) => operatorOf(operator, kind, value).map((given) => ({ [operator]: given })));
  const operators = fc.array(one, { minLength: 1, maxLength: 2 }).map((parts) => Object.assign({}, ...parts));
  return OPERATORS_OF[kind].includes('eq') ? fc.oneof(value, operators) : operators;
}

function operatorOf(operator: string, kind: FilterKind, value: fc.Arbitrary<Json>): fc.Arbitrary<Json> {
  if (operator === 'is_null') return fc.boolean();
  const isText = operator === 'contains' || operator === 'starts_with';
  const isOrder = kind === 'custom' && ['lt', 'lte', 'gt', 'gte', 'between'].includes(operator);
  const own = isText ? fragment : isOrder ? fc.constantFrom(...NUMBERS, 5, 7) : value;
  if (operator === 'between') return fc.tuple(own, own);
  if (operator === 'in' || operator === 'not_in' || operator === 'any_of')
    return fc.array(own, { minLength: 1, maxLength: 4 });
  return own;
}

const fragment = fc
  .tuple(fc.constantFrom(...TEXTS, 'Big', 'x.TEST', 'l1'), fc.nat(3), fc.nat(6))
  .map(([text, from, length]) => text.slice(from, from + length).toWellFormed());

function fieldValue(
  world: QueryWorld,
  seen: Seen,
  resource: string,
  name: string,
  kind: FilterKind,
): fc.Arbitrary<Json> {
  const stored = (seen.records[resource] ?? []).flatMap((record) => record[name] ?? []);
  const some = stored.length === 0 ? [] : [fc.constantFrom(...stored)];
  const ids = Object.values(world.ids).flat();
  const byKind: Record<FilterKind, fc.Arbitrary<Json>> = {
    text: fc.oneof(fc.constantFrom(...TEXTS), ...some),
    texts: fc.oneof(fc.constantFrom(...TEXTS), ...some),
    id: fc.oneof(fc.constantFrom(ABSENT, 'none', ...world.users, ...world.stages), ...some),
    ids: fc.oneof(fc.constantFrom(...(world.ids.contacts ?? []), ...(world.ids.companies ?? [])), ...some),
    link: fc.oneof(
      { weight: 4, arbitrary: fc.constantFrom(...(world.ids[name] ?? [ABSENT])) },
      { weight: 1, arbitrary: fc.constantFrom(ABSENT, ...ids) },
    ),
    enum: fc.constantFrom(...(ENUMS[`${resource}.${name}`] ?? [''])),
    boolean: fc.boolean(),
    number: fc.oneof(fc.constantFrom(...NUMBERS), ...some),
    instant: fc.oneof(fc.constantFrom(...world.instants), fc.constantFrom(...SPANS), ...some),
    date: fc.oneof(fc.constantFrom(...DAYS), fc.constantFrom(...SPANS)),
    custom: fc.constantFrom<Json>(5, 7.5, 'FIVE', 'five', true, false, 'BIG', 'ada'),
  };
  return byKind[kind].map((value) =>
    kind === 'text' && typeof value === 'string' ? swapCase(value) : value,
  );
}

// Every other character in the other case, so that case matters nowhere.
function swapCase(text: string): string {
  return /^[\x20-\x7e]*$/.test(text)
    ? [...text].map((char, index) => (index % 2 === 0 ? char.toUpperCase() : char)).join('')
    : text;
}
