// Which combinations of resource, kind of field, operator and sort field queries were tried with, and which not.
import type { Json } from './harness.ts';
import { FILTERED_FIELDS, OPERATORS_OF, sortsOf } from './query-contract.ts';

const nameOf = (...parts: readonly string[]) => parts.join(' ');

/** All combinations that there are, less those that were tried. */
export class UntriedQueries {
  readonly #left = new Set<string>();

  constructor() {
    for (const [resource, fields] of Object.entries(FILTERED_FIELDS))
      for (const kind of new Set(Object.values(fields)))
        for (const operator of OPERATORS_OF[kind])
          for (const sort of sortsOf(resource)) this.#left.add(nameOf(resource, kind, operator, sort));
  }

  get left(): string[] {
    return [...this.#left];
  }

  /** Notes a query. */
  tried(resource: string, { filter, sort_by }: Json): void {
    for (const [kind, operator] of conditionsOf(resource, filter))
      this.#left.delete(nameOf(resource, kind, operator, sort_by));
  }
}

function conditionsOf(resource: string, filter: Json): [kind: string, operator: string][] {
  return Object.entries<Json>(filter).flatMap(([name, value]) => {
    if (name === 'not') return conditionsOf(resource, value);
    if (name === 'and' || name === 'or') return value.flatMap((part: Json) => conditionsOf(resource, part));
    const kind = FILTERED_FIELDS[resource]?.[name] ?? 'custom';
    const isShort = typeof value !== 'object' || 'ago' in value || 'ahead' in value;
    const operators = isShort ? ['eq'] : Object.keys(value);
    return operators.map((operator): [string, string] => [kind, operator]);
  });
}
