// What a response must include with its records, and nothing else.
import { expect } from 'bun:test';
import type { Json } from './harness.ts';
import { expectedIds, INCLUDES, type Listed, recordsOf } from './related-records.ts';

/** Checks what a response includes with records of a resource, and gives the records without it. */
export function expectIncluded(
  listed: Listed,
  resource: string,
  names: readonly string[],
  body: Json,
): Json[] {
  const records: Json[] = Array.isArray(body.data) ? body.data : [body.data];
  const groups = names.map((name) => INCLUDES[resource]?.[name]?.[0] ?? '');
  const included: Record<string, Json> = Object.fromEntries(groups.map((group) => [group, {}]));
  const plain = records.map(({ included_ids, ...record }) => {
    const expected = names.map((name) => [name, expectedIds(listed, resource, name, record)] as const);
    expect({ id: record.id, ...included_ids }).toEqual({ id: record.id, ...Object.fromEntries(expected) });
    for (const [name, ids] of expected) {
      const [group = ''] = INCLUDES[resource]?.[name] ?? [];
      const known = new Map(recordsOf(listed, group).map((one) => [one.id, one]));
      for (const id of ids) included[group][id] = known.get(id);
    }
    return record;
  });
  expect(body.included).toEqual(included);
  return plain;
}
