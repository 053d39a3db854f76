// Filters that are made to cost time: reading one grows by no more than linear, and what it costs to find nothing is bounded.
import { expect, test } from 'bun:test';
import type { JsonValue } from '../../db/model/json.ts';
import { readFilter } from '../../db/model/query/filter.ts';
import { predicateOf } from '../../db/model/query/predicate.ts';
import { getResource } from '../../db/model/resources/registry.ts';
import { growthOf } from '../support/growth.ts';
import { hostileTexts } from '../support/hostile.ts';

const KIB = 1024;
const contacts = getResource('contacts');

/** Filters of about so many bytes. */
const FILTERS: Record<string, (size: number) => JsonValue> = {
  'a long name': (size) => ({ ['n'.repeat(size)]: 1 }),
  'a long name of a custom field': (size) => ({ [`custom.${'n'.repeat(size)}`]: 1 }),
  'a long operator': (size) => ({ first_name: { ['o'.repeat(size)]: 1 } }),
  'a long time': (size) => ({ created_at: '2'.repeat(size) }),
  'a long fraction of a second': (size) => ({ created_at: `2026-01-01T00:00:00.${'1'.repeat(size)}Z` }),
  'a long span': (size) => ({ created_at: { gte: { ago: `${'1'.repeat(size)}d` } } }),
  'many unknown fields': (size) => ({
    and: Array.from({ length: 200 }, (_, index) => ({ [`f${index}${'x'.repeat(size / 200)}`]: 1 })),
  }),
  'many conditions': (size) => ({ or: Array.from({ length: size / 20 }, () => ({ first_name: 'x' })) }),
  'many operators that do not exist': (size) => ({
    first_name: Object.fromEntries(Array.from({ length: size / 10 }, (_, index) => [`o${index}`, 1])),
  }),
  'many levels': (size) => {
    let filter: JsonValue = { first_name: 'x' };
    for (let level = 0; level < size / 100; level++) filter = { not: filter };
    return filter;
  },
};

for (const [name, make] of Object.entries(FILTERS)) {
  test(`reading a filter with ${name}`, async () => {
    const known = new Map<number, JsonValue>();
    const { isTooMuch, costs } = await growthOf(
      (size) =>
        readFilter(
          contacts,
          known.getOrInsertComputed(size, () => make(size)),
          0,
        ),
      { from: 4 * KIB, to: 64 * KIB },
    );
    expect({ isTooMuch, costs }).toEqual({ isTooMuch: false, costs });
  });
}

test('comparing with a long text', async () => {
  for (const { name, make } of hostileTexts('Ada Lovelace')) {
    const { isTooMuch, costs } = await growthOf(
      (size) => {
        const text = make(size);
        const { filter } = readFilter(contacts, { remarks: { contains: `${text.slice(size / 2)}!` } }, 0);
        return predicateOf(filter)({ remarks: text });
      },
      { from: 4 * KIB, to: 64 * KIB },
    );
    expect({ name, isTooMuch, costs }).toEqual({ name, isTooMuch: false, costs });
  }
});
