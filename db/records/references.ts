// IDs in reference fields: each must belong to a user of the organization, or to a visible record of it.

import { memoize } from '../cache.ts';
import { allOf, andThen, type Eventually } from '../engine/engine.ts';
import type { Db, RecordRow } from '../engine/schema.ts';
import { type Fault, referenceFault } from '../model/faults.ts';
import type { Field } from '../model/fields.ts';
import type { Data } from '../model/json.ts';
import type { Resource, Row } from '../model/resource.ts';
import { getResource } from '../model/resources/registry.ts';
import { findUsersById } from '../tables/users.ts';
import { findRecords } from './records.ts';

/** An organization, and which of its records are visible. */
export interface Viewer {
  orgNumber: number;
  sees(resource: Resource, row: RecordRow): boolean;
}

/** A change of a record: the given fields, and the record before; null for a create. */
export interface ReferenceInput {
  input: Data;
  current: Data | Row | null;
}

type Fields = Readonly<Record<string, Field>>;

/** The IDs that exist and are visible, by resource (or `users`). */
export type References = ReadonlyMap<string, Pick<ReadonlySet<string>, 'has'>>;

const NONE: References = new Map();

interface ReferenceField {
  name: string;
  target: string;
}

// The rules of deals check stages.
const referenceFields = memoize((fields: Fields): ReferenceField[] =>
  Object.entries(fields).flatMap(([name, { references: target }]) =>
    target === undefined || target === '' || target === 'stages' ? [] : [{ name, target }],
  ),
);

const NO_IDS: readonly string[] = [];

// An unchanged reference is not looked up again, and can be hidden by now. A list is only sent on create.
function newIdsIn({ input, current }: ReferenceInput, name: string): readonly string[] {
  const value = input[name];
  if (Array.isArray(value)) return value as string[];
  return typeof value === 'string' && current?.[name] !== value ? [value] : NO_IDS;
}

/** The IDs in the reference fields of several bodies that exist and are visible, looked up together. */
export function findReferences(
  db: Db,
  fields: Fields,
  given: readonly ReferenceInput[],
  viewer: Viewer,
): Eventually<References> {
  const wanted = new Map<string, Set<string>>();
  for (const { name, target } of referenceFields(fields)) {
    for (const one of given) {
      for (const id of newIdsIn(one, name)) {
        const ids = wanted.get(target);
        if (ids === undefined) wanted.set(target, new Set([id]));
        else ids.add(id);
      }
    }
  }
  if (wanted.size === 0) return NONE;
  const finding = [...wanted].map(([target, ids]) =>
    andThen(findIds(db, target, [...ids], viewer), (found) => [target, new Set(found)] as const),
  );
  return andThen(allOf(finding), (found) => new Map(found));
}

function findIds(db: Db, target: string, ids: string[], viewer: Viewer): Eventually<string[]> {
  const { orgNumber } = viewer;
  if (target === 'users')
    return andThen(findUsersById(db, orgNumber, ids), (users) => users.map(({ id }) => id));
  const resource = getResource(target);
  return andThen(findRecords(db, resource, orgNumber, ids), (rows) =>
    rows.filter((row) => viewer.sees(resource, row)).map(({ id }) => id),
  );
}

/** The faults of a body's reference fields, in their order; `found` contains the valid IDs. */
export function referenceFaults(fields: Fields, given: ReferenceInput, found: References): Fault[] {
  const faults: Fault[] = [];
  for (const { name, target } of referenceFields(fields)) {
    const ids = newIdsIn(given, name);
    if (ids.length === 0) continue;
    for (const [index, id] of ids.entries()) {
      if (found.get(target)?.has(id) === true) continue;
      const isListed = Array.isArray(given.input[name]);
      faults.push(referenceFault(isListed ? `${name}.${index}` : name, target));
    }
  }
  if (faults.length > 1) {
    const order = Object.keys(given.input);
    const placeOf = ({ path }: Fault): number => order.indexOf(path.split('.', 1)[0] ?? '');
    faults.sort((a, b) => placeOf(a) - placeOf(b));
  }
  return faults;
}
