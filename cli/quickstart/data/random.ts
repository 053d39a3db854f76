// Seeded choices, so that the demo data is the same on every machine.

/** A source of choices that is the same for the same seed. */
export interface Random {
  /** A number from 0 up to, not including, 1. */
  next(): number;
  /** A whole number from `min` to `max`, both included. */
  integer(min: number, max: number): number;
  pick<T>(items: readonly T[]): T;
  /** An item, chosen in proportion to its weight. */
  weighted<T>(items: readonly (readonly [item: T, weight: number])[]): T;
  chance(probability: number): boolean;
  /** `count` different items in random order; all of them if there are fewer. */
  sample<T>(items: readonly T[], count: number): T[];
}

/** A Random whose sequence depends on the name alone (mulberry32 over an FNV-1a hash). */
export function createRandom(name: string): Random {
  let state = hash(name);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  const pick = <T>(items: readonly T[]): T => items[integer(0, items.length - 1)] as T;
  return {
    next,
    integer,
    pick,
    weighted: (items) => pickWeighted(items, next()),
    chance: (probability) => next() < probability,
    sample: (items, count) => shuffled(items, integer).slice(0, count),
  };
}

function pickWeighted<T>(items: readonly (readonly [T, number])[], portion: number): T {
  const total = items.reduce((sum, [, weight]) => sum + weight, 0);
  let left = portion * total;
  for (const [item, weight] of items) {
    left -= weight;
    if (left < 0) return item;
  }
  throw new Error('weighted() needs at least one item with a positive weight');
}

function shuffled<T>(items: readonly T[], integer: Random['integer']): T[] {
  const all = [...items];
  for (let last = all.length - 1; last > 0; last--) {
    const other = integer(0, last);
    [all[last], all[other]] = [all[other] as T, all[last] as T];
  }
  return all;
}

function hash(name: string): number {
  let value = 0x811c9dc5;
  for (const character of name) value = Math.imul(value ^ (character.codePointAt(0) ?? 0), 0x01000193);
  return value;
}
