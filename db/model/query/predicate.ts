// Evaluates filters on rows of stored columns: the same code for both engines, so that they agree on text, nulls and numbers.
import type { ColumnValue } from '../fields.ts';
import { isObject, type JsonValue } from '../json.ts';
import type { Row } from '../resource.ts';
import { foldSigma } from '../text.ts';
import type { Condition, FilterNode } from './filter.ts';
import { lowerCase } from './text-order.ts';
import type { QueryValue } from './values.ts';

/** For each condition on links, the IDs of the records that meet it. */
export type LinkedIds = ReadonlyMap<Condition, ReadonlySet<string>>;

/** Whether a row meets a filter; undefined if that depends on links, and these are not given. */
export type Predicate = (row: Row, linked?: LinkedIds) => boolean | undefined;

/** Makes the predicate of a filter. */
export function predicateOf(filter: FilterNode): Predicate {
  return predicateIn(filter, customParser());
}

function predicateIn(node: FilterNode, parse: ParseCustom): Predicate {
  const partsOf = (parts: readonly FilterNode[]) =>
    cheapestFirst(parts).map((part) => predicateIn(part, parse));
  if ('all' in node) return someOrAll(partsOf(node.all), false);
  if ('any' in node) return someOrAll(partsOf(node.any), true);
  if ('not' in node) {
    const inner = predicateIn(node.not, parse);
    return (row, linked) => {
      const meets = inner(row, linked);
      return meets === undefined ? undefined : !meets;
    };
  }
  if (node.field.relation !== null) return (row, linked) => linked?.get(node)?.has(String(row.id));
  return predicateOfCondition(node, parse);
}

// What has to be parsed is looked at last.
function cheapestFirst(parts: readonly FilterNode[]): FilterNode[] {
  return parts.toSorted((one, other) => costOf(one) - costOf(other));
}

function costOf(node: FilterNode): number {
  if ('all' in node) return Math.max(0, ...node.all.map(costOf));
  if ('any' in node) return Math.max(0, ...node.any.map(costOf));
  if ('not' in node) return costOf(node.not);
  const { family } = node.field;
  if (family === 'custom' || family === 'texts') return 2;
  return family === 'text' ? 1 : 0;
}

/** The columns of a record that the conditions of a filter read. */
export function columnsRead(conditions: readonly Condition[]): string[] {
  const own = conditions.filter(({ field }) => field.relation === null);
  return [...new Set(own.map(({ field }) => (field.family === 'custom' ? 'custom' : field.name)))];
}

// The first part that is what decides the whole does so, whatever is unknown.
function someOrAll(parts: readonly Predicate[], deciding: boolean): Predicate {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  return (row, linked) => {
    let isKnown = true;
    for (const part of parts) {
      const meets = part(row, linked);
      if (meets === deciding) return deciding;
      if (meets === undefined) isKnown = false;
    }
    return isKnown ? !deciding : undefined;
  };
}

function predicateOfCondition(condition: Condition, parse: ParseCustom): Predicate {
  const { field } = condition;
  const { name, family, key } = field;
  if (key !== null) {
    const test = testOf(condition);
    return ({ custom }) => test(customValue(parse(custom ?? null), key));
  }
  if (family === 'texts') {
    const test = listTest(condition);
    return (row) => test(textsIn(row[name] ?? null));
  }
  const test = testOf(condition);
  if (family === 'text') return (row) => test(lowered(row[name] ?? null));
  return (row) => test(row[name] ?? null);
}

type Test = (value: QueryValue | null) => boolean;

// Null meets only `is_null`, `ne` and `not_in`.
function testOf({ operator, values }: Condition): Test {
  const [first, second] = values;
  const given: ReadonlySet<QueryValue | null> = new Set(values);
  switch (operator) {
    case 'eq':
    case 'in':
      return (value) => value !== null && given.has(value);
    case 'ne':
    case 'not_in':
      return (value) => value === null || !given.has(value);
    case 'lt':
      return ordered((value) => value < (first ?? ''), first);
    case 'lte':
      return ordered((value) => value <= (first ?? ''), first);
    case 'gt':
      return ordered((value) => value > (first ?? ''), first);
    case 'gte':
      return ordered((value) => value >= (first ?? ''), first);
    case 'between':
      return ordered((value) => value >= (first ?? '') && value <= (second ?? ''), first);
    case 'contains':
      return partTest((text, part) => text.includes(part), first);
    case 'starts_with':
      return partTest((text, part) => text.startsWith(part), first);
    case 'is_null':
      return (value) => (value === null) === first;
    default:
      throw new Error(`${operator} does not compare with a single value`);
  }
}

function partTest(holds: (text: string, part: string) => boolean, given: QueryValue | undefined): Test {
  const part = foldSigma(String(given));
  return (value) => typeof value === 'string' && holds(foldSigma(value), part);
}

// A value of another type has no place in the order.
function ordered(holds: (value: QueryValue) => boolean, given: QueryValue | undefined): Test {
  const type = typeof given;
  return (value) => value !== null && typeof value === type && holds(value);
}

function listTest({ operator, values }: Condition): (list: readonly string[]) => boolean {
  if (operator === 'is_null') return (list) => (list.length === 0) === values[0];
  const given: ReadonlySet<QueryValue> = new Set(values);
  return (list) => list.some((one) => given.has(lowerCase(one)));
}

function lowered(value: ColumnValue): ColumnValue {
  return typeof value === 'string' ? lowerCase(value) : value;
}

function textsIn(column: ColumnValue): string[] {
  if (column === null) return [];
  const list: unknown = JSON.parse(String(column));
  return Array.isArray(list) ? list.filter((one) => typeof one === 'string') : [];
}

type ParseCustom = (column: ColumnValue) => JsonValue;

// Parses the custom fields of a record once for all the conditions of a filter, which read them one after another.
function customParser(): ParseCustom {
  let last: ColumnValue = null;
  let parsed: JsonValue = null;
  return (column) => {
    if (column !== last) {
      parsed = column === null ? null : (JSON.parse(String(column)) as JsonValue);
      last = column;
    }
    return parsed;
  };
}

function customValue(custom: JsonValue, key: string): QueryValue | null {
  if (!isObject(custom) || !Object.hasOwn(custom, key)) return null;
  const value = custom[key] ?? null;
  if (typeof value === 'string') return lowerCase(value);
  return typeof value === 'number' || typeof value === 'boolean' ? value : null;
}
