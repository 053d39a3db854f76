// What an upsert finds records by, and what it does with them.
import type { Resource } from './resource.ts';

/** What an upsert does with a record that it finds; the first is the default. */
export const ON_MATCH = ['update', 'fill', 'keep'] as const;
export type OnMatch = (typeof ON_MATCH)[number];
/** What it does if it finds none; the first is the default. */
export const ON_MISSING = ['create', 'fail'] as const;

/** The names of the values by which an upsert can find a record, in their default order. */
export function matchNames({ unique }: Resource): string[] {
  return ['external_id', ...Object.keys(unique)];
}
