// Which values of the sort field a filter wants at most: the range of its index that a query needs to go through.
import { type Condition, type FilterNode, requiredConditions } from '../model/query/filter.ts';
import type { QuerySort } from '../model/query/sorts.ts';
import { compareText } from '../model/query/text-order.ts';
import { firstSigmaForm, foldSigma, keyStart, textKey } from '../model/text.ts';
import { smallestId } from '../tables/record-id.ts';
import type { ValueBounds } from './sort-ranges.ts';

type Bound = string | number | null;

const GREATEST_CHARACTER = '\u{10FFFF}';

/** The bounds that the conditions which every record must meet set for a sort field, as its index has the values. */
export function boundsOf(filter: FilterNode, sort: QuerySort): ValueBounds {
  const bounds: ValueBounds = { from: null, to: null };
  for (const condition of requiredConditions(filter)) {
    if (condition.field.name !== sort.name) continue;
    const { from, to } = boundsOfCondition(condition, sort);
    if (from !== null && (bounds.from === null || compare(from, bounds.from) > 0)) bounds.from = from;
    if (to !== null && (bounds.to === null || compare(to, bounds.to) < 0)) bounds.to = to;
  }
  return bounds;
}

function boundsOfCondition({ operator, values }: Condition, sort: QuerySort): ValueBounds {
  const [first = null, second = null] = values.map((value) => (typeof value === 'boolean' ? null : value));
  if (sort.by === 'text') return textBounds(operator, first);
  const lower = (value: Bound) => (sort.by === 'id' ? firstId(value) : value);
  const upper = (value: Bound) => (sort.by === 'id' ? lastId(value) : value);
  switch (operator) {
    case 'eq':
      return { from: lower(first), to: upper(first) };
    case 'gt':
    case 'gte':
      return { from: lower(first), to: null };
    case 'lt':
    case 'lte':
      return { from: null, to: upper(first) };
    case 'between':
      return { from: lower(first), to: upper(second) };
    default:
      return { from: null, to: null };
  }
}

function textBounds(operator: Condition['operator'], value: Bound): ValueBounds {
  const text = String(value);
  if (operator === 'eq') return { from: textKey(text), to: textKey(text) };
  if (operator !== 'starts_with') return { from: null, to: null };
  return { from: keyStart(firstSigmaForm(text)), to: keyStart(foldSigma(text)) + GREATEST_CHARACTER };
}

function firstId(instant: Bound): Bound {
  return instant === null ? null : smallestId(Number(instant));
}

// Comes after all IDs of that millisecond, and before those of the next one.
function lastId(instant: Bound): Bound {
  return instant === null ? null : smallestId(Number(instant) + 1);
}

function compare(one: string | number, other: string | number): number {
  return typeof one === 'number' ? one - Number(other) : compareText(one, String(other));
}
