// Reads the filter of a query: a tree of conditions, and every fault in it with its path.
import { type Fault, keyPath, limitFault, typeFault, type ValidationCode } from '../faults.ts';
import { type Data, isObject, type JsonValue } from '../json.ts';
import { nearest } from '../nearest.ts';
import type { Resource } from '../resource.ts';
import {
  findQueryField,
  LIST_OPERATORS,
  OPERATORS,
  type Operator,
  type QueryField,
  queryFieldNames,
} from './fields.ts';
import { isRelative, type QueryValue, readQueryValue } from './values.ts';

/** How deep `and`, `or` and `not` can be nested. */
export const FILTER_LEVELS_MAX = 4;
/** Maximum number of conditions; each operator counts. */
export const FILTER_CONDITIONS_MAX = 25;
/** Maximum number of values in a list. */
export const FILTER_VALUES_MAX = 100;

/** One operator of one field. */
export interface Condition {
  field: QueryField;
  operator: Operator;
  /** Those of a list in order; of all other operators one. */
  values: readonly QueryValue[];
}

/** A filter as it is evaluated. */
export type FilterNode = { all: FilterNode[] } | { any: FilterNode[] } | { not: FilterNode } | Condition;

/** What every record meets. */
export const EVERYTHING: FilterNode = { all: [] };

/** A filter, or its faults. */
export type ReadFilter = { filter: FilterNode; faults: readonly Fault[] };

/**
 * Reads a filter; with faults, the filter is not to be used.
 * @param now what relative instants count from, in Unix milliseconds
 */
export function readFilter(resource: Resource, filter: JsonValue | undefined, now: number): ReadFilter {
  const reader = new FilterReader(resource, now);
  if (filter === undefined) return { filter: EVERYTHING, faults: [] };
  const isEmpty = isObject(filter) && Object.keys(filter).length === 0;
  const node = isEmpty ? EVERYTHING : reader.read(filter, 'filter', 0);
  return { filter: node, faults: reader.faults };
}

// Longer names are not compared with all others.
const NAME_LENGTH_MAX = 100;
// Enough to say so; a body of a megabyte could have a hundred thousand.
const FAULTS_MAX = 50;

class FilterReader {
  readonly faults: Fault[] = [];
  readonly #resource: Resource;
  readonly #now: number;
  #conditions = 0;

  constructor(resource: Resource, now: number) {
    this.#resource = resource;
    this.#now = now;
  }

  // What else is wrong with such a filter does not matter.
  get #isHopeless(): boolean {
    return this.faults.length > FAULTS_MAX || this.#conditions > FILTER_CONDITIONS_MAX;
  }

  /** Reads the filter at a path, below so many levels of `and`, `or` and `not`. */
  read(value: JsonValue, path: string, level: number): FilterNode {
    if (!isObject(value)) return this.#refuse(typeFault(path, ['object']));
    const names = Object.keys(value);
    if (names.length === 0) return this.#fail(path, 'must have a condition: a field, and, or, or not');
    const parts: FilterNode[] = [];
    for (const name of names) {
      if (this.#isHopeless) break;
      parts.push(this.#readPart(name, value[name] ?? null, keyPath(path, name), level));
    }
    const [only] = parts;
    return parts.length === 1 && only !== undefined ? only : { all: parts };
  }

  #readPart(name: string, value: JsonValue, path: string, level: number): FilterNode {
    if (name !== 'and' && name !== 'or' && name !== 'not') return this.#readField(name, value, path);
    if (level === FILTER_LEVELS_MAX) {
      const message = `is nested too deep; and, or and not can be nested ${FILTER_LEVELS_MAX} levels deep`;
      return this.#fail(path, message, 'VALIDATION_OUT_OF_RANGE');
    }
    if (name === 'not') return { not: this.read(value, path, level + 1) };
    if (!Array.isArray(value)) return this.#refuse(typeFault(path, ['array']));
    if (value.length === 0) return this.#limit(path, 'minItems', 1);
    const parts: FilterNode[] = [];
    for (const [index, part] of value.entries()) {
      if (this.#isHopeless) break;
      parts.push(this.read(part, `${path}.${index}`, level + 1));
    }
    return name === 'and' ? { all: parts } : { any: parts };
  }

  #readField(name: string, value: JsonValue, path: string): FilterNode {
    const field = findQueryField(this.#resource, name);
    if (field === undefined) return this.#refuseName(path, name, queryFieldNames(this.#resource), 'field');
    const isValue = !isObject(value) || (takesRelative(field) && isRelative(value));
    if (isValue) return this.#readShort(field, value, path);
    const names = Object.keys(value);
    const operators: readonly string[] = OPERATORS[field.family];
    if (names.length === 0) return this.#fail(path, `must have an operator: ${operators.join(', ')}`);
    return { all: names.map((operator) => this.#readOperator(field, value, operator, path)) };
  }

  // A value alone stands for `eq`.
  #readShort(field: QueryField, value: JsonValue, path: string): FilterNode {
    const operators: readonly string[] = OPERATORS[field.family];
    if (!operators.includes('eq'))
      return this.#fail(path, `must be an object with an operator: ${operators.join(', ')}`);
    if (Array.isArray(value))
      return this.#fail(path, 'must be a value, or an object with an operator; for one of several, use in');
    return this.#condition(field, 'eq', [[path, value]]);
  }

  #readOperator(field: QueryField, value: Data, name: string, path: string): FilterNode {
    const operators: readonly string[] = OPERATORS[field.family];
    const own = keyPath(path, name);
    if (!operators.includes(name)) return this.#refuseName(own, name, operators, 'operator');
    const operator = name as Operator;
    const given = value[name] ?? null;
    if (operator === 'is_null') {
      this.#count();
      if (typeof given !== 'boolean') return this.#refuse(typeFault(own, ['boolean']));
      return { field, operator, values: [given] };
    }
    if (!LIST_OPERATORS.has(operator)) return this.#condition(field, operator, [[own, given]]);
    if (!Array.isArray(given)) return this.#refuse(typeFault(own, ['array']));
    const isPair = operator === 'between';
    const most = isPair ? 2 : FILTER_VALUES_MAX;
    const least = isPair ? 2 : 1;
    if (given.length > most) return this.#limit(own, 'maxItems', most);
    if (given.length < least) return this.#limit(own, 'minItems', least);
    return this.#condition(
      field,
      operator,
      given.map((item, index) => [`${own}.${index}`, item]),
    );
  }

  #condition(field: QueryField, operator: Operator, given: readonly [string, JsonValue][]): FilterNode {
    this.#count();
    const values: QueryValue[] = [];
    for (const [path, one] of given) {
      const read = readQueryValue(field, operator, path, one, this.#now);
      if ('fault' in read) this.#refuse(read.fault);
      else values.push(read.value);
    }
    return { field, operator, values };
  }

  #count(): void {
    this.#conditions += 1;
    if (this.#conditions !== FILTER_CONDITIONS_MAX + 1) return;
    const message = `must have at most ${FILTER_CONDITIONS_MAX} conditions; each operator counts`;
    this.#fail('filter', message, 'VALIDATION_OUT_OF_RANGE');
  }

  #refuseName(path: string, name: string, known: readonly string[], what: 'field' | 'operator'): FilterNode {
    const meant = name.length > NAME_LENGTH_MAX ? undefined : nearest(name, known);
    const guess = meant === undefined ? '' : `did you mean ${meant}? `;
    const where = what === 'field' ? `of ${this.#resource.name} that a filter can use` : 'of this field';
    return this.#fail(
      path,
      `is not ${what === 'field' ? 'a field' : 'an operator'} ${where}; ${guess}allowed: ${known.join(', ')}`,
    );
  }

  #limit(path: string, keyword: string, limit: number): FilterNode {
    return this.#refuse(limitFault(path, keyword, limit) ?? typeFault(path, ['array']));
  }

  #fail(path: string, message: string, code: ValidationCode = 'VALIDATION_FAILED'): FilterNode {
    return this.#refuse({ path, message, code });
  }

  #refuse(fault: Fault): FilterNode {
    this.faults.push(fault);
    return EVERYTHING;
  }
}

function takesRelative({ family }: QueryField): boolean {
  return family === 'instant' || family === 'date';
}

/** The conditions of a filter, in order. */
export function conditionsIn(node: FilterNode): Condition[] {
  if ('all' in node) return node.all.flatMap(conditionsIn);
  if ('any' in node) return node.any.flatMap(conditionsIn);
  return 'not' in node ? conditionsIn(node.not) : [node];
}

/** Those of them that every record must meet. */
export function requiredConditions(node: FilterNode): Condition[] {
  if ('all' in node) return node.all.flatMap(requiredConditions);
  return 'any' in node || 'not' in node ? [] : [node];
}
