// Makes filters that are wrong in one place out of valid ones.
import fc from 'fast-check';
import type { Json } from './harness.ts';

/** Something that is wrong at a place of a filter, whatever was there. */
type Spoiler = (filter: Json) => Json;

const NO_FIELDS = [
  'nope',
  'constructor',
  'toString',
  'hasOwnProperty',
  'AND',
  'custom',
  'attendee_email',
  'and ',
];
const NO_OPERATORS = ['like', 'constructor', 'EQ', 'and', '$eq'];
const NO_FILTERS: Json[] = [7, null, 'x', true, [], [{}], {}];
const NO_VALUES: Json[] = [
  null,
  {},
  { eq: 1 },
  [[]],
  { ago: '1d', ahead: '1d' },
  { ago: '0d' },
  { ago: 30 },
  { ago: '1y' },
];
const LISTS = new Set(['in', 'not_in', 'any_of', 'between']);

/** The filter with one mistake in it. */
export function spoiled(filter: Json, choices: readonly number[]): Json {
  const pick = <T>(list: readonly T[], at: number): T => list[(choices[at] ?? 0) % list.length] as T;
  const copy = structuredClone(filter);
  const nodes = filtersIn(copy);
  const node = pick(nodes, 0);
  const leaves = Object.keys(node).filter((name) => !['and', 'or', 'not'].includes(name));
  const spoilers: Spoiler[] = [
    (one) => Object.assign(one, { [pick(NO_FIELDS, 1)]: 1 }),
    (one) => Object.assign(one, { and: pick<Json>([[], {}, 'x', null, [7], [null], [{}]], 1) }),
    (one) => Object.assign(one, { or: pick<Json>([[], { name: 'x' }, [[]]], 1) }),
    (one) => Object.assign(one, { not: pick(NO_FILTERS, 1) }),
    (one) => Object.assign(one, { and: [{ or: [{ not: { and: [{ or: [{ id: 'x' }] }] } }] }] }),
    (one) => Object.assign(one, { not: { or: Array.from({ length: 26 }, () => ({ id: 'x' })) } }),
  ];
  const leaf = pick(['', ...leaves], 1);
  if (leaf !== '') {
    spoilers.push(
      (one) => Object.assign(one, { [leaf]: pick<Json>([null, [], {}, ['x'], [null]], 3) }),
      (one) => Object.assign(one, { [leaf]: { [pick(NO_OPERATORS, 3)]: 1 } }),
    );
    for (const operator of Object.keys(typeof node[leaf] === 'object' ? node[leaf] : {})) {
      if (operator === 'ago' || operator === 'ahead') continue;
      spoilers.push((one) =>
        Object.assign(one, { [leaf]: { [operator]: wrongFor(operator, (list) => pick(list, 3)) } }),
      );
    }
  }
  pick(spoilers, 2)(node);
  return copy;
}

function wrongFor(operator: string, pick: (list: readonly Json[]) => Json): Json {
  if (operator === 'is_null') return pick([null, 'true', 1, {}, []]);
  if (!LISTS.has(operator)) return pick([...NO_VALUES, []]);
  if (operator === 'between') return pick([[], [1], [1, 2, 3], 'x', { from: 1 }, [null, null]]);
  return pick([[], 'x', null, {}, [null], [{}], Array(101).fill('x')]);
}

function filtersIn(filter: Json): Json[] {
  return [
    filter,
    ...Object.entries<Json>(filter).flatMap(([name, value]) => {
      if (name === 'not') return filtersIn(value);
      return name === 'and' || name === 'or' ? value.flatMap(filtersIn) : [];
    }),
  ];
}

/** What decides about a mistake. */
export const mistakes = fc.array(fc.nat(1_000), { minLength: 4, maxLength: 4 });
