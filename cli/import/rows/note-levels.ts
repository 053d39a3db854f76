// Orders trees of notes: parents must be imported before their children.

import type { SourceRow } from '../row.ts';
import type { KeyStore } from './key-store.ts';

/** Finds the level of every row; resolves with the number of levels. Rows without a known parent are at level 0. */
export async function markLevels(
  rows: () => Promise<AsyncIterable<SourceRow>>,
  store: KeyStore,
): Promise<number> {
  for await (const row of await rows()) store.add(`row ${idOf(row)}`, '');
  let levels = 0;
  for (let marked = -1; marked !== 0; levels += 1) {
    marked = 0;
    for await (const row of await rows()) {
      const parent = cellOf(row, 'parent_id');
      const isTop = parent === '' || store.get(`row ${parent}`) === undefined;
      const isNext = isTop ? levels === 0 : store.get(`level ${parent}`) === String(levels - 1);
      if (isNext && store.add(`level ${idOf(row)}`, String(levels))) marked += 1;
    }
  }
  return levels - 1;
}

/** Whether a row is at the given level; invalid rows are reported at level 0. */
export function isAtLevel(row: SourceRow, level: number, store: KeyStore): boolean {
  return (store.get(`level ${idOf(row)}`) ?? '0') === String(level);
}

/** The ID of a row in the export. */
export function idOf(row: SourceRow): string {
  return cellOf(row, 'id');
}

function cellOf(row: SourceRow, header: string): string {
  const value = row.entries.find(([name]) => name === header)?.[1];
  return value === null || value === undefined ? '' : String(value);
}
