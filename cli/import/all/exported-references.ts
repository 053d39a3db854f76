// Replaces the IDs that exported records refer to with those of the new records, and counts references that are lost.
import type { Data, JsonValue } from '../../../db/model/json.ts';
import type { Resource } from '../../../db/model/resource.ts';
import { getResource } from '../../../db/model/resources/registry.ts';
import { type Rejection, RowFault, type SourceRow } from '../row.ts';
import type { IdMap } from './id-map.ts';

const OWNER_FIELDS = ['owner_id', 'main_assignee_id'];

/** The references of one folder. */
export class ExportedReferences {
  readonly #ids: IdMap;
  readonly #unknownOwners = new Set<string>();
  /** How many were left out so far. */
  leftOut = 0;

  constructor(ids: IdMap) {
    this.#ids = ids;
  }

  /** A body with new IDs; throws a RowFault if it cannot be created without a record that was not imported. */
  body(resource: Resource, body: Data): Data {
    const adapted: Data = {};
    for (const [name, value] of Object.entries(body)) {
      const target = targetOf(resource, name);
      if (target === null) adapted[name] = value;
      else if (target === 'users') {
        if (!this.#unknownOwners.has(String(value))) adapted[name] = value;
        else this.leftOut += 1;
      } else if (Array.isArray(value)) {
        adapted[name] = value.flatMap((one) => this.#newId(target, one) ?? []);
      } else {
        const id = this.#newId(target, value);
        if (id !== undefined) adapted[name] = id;
        else if (resource.exactlyOneOf.includes(name)) throw notImported(name, target, String(value));
      }
    }
    return adapted;
  }

  /** A row for the errors file: it keeps what was exported, with new IDs where records have them. */
  row(resource: Resource, row: SourceRow): SourceRow {
    if (row.fault !== null) return row;
    const entries = row.entries.map(
      ([name, value]) => [name, this.#inRow(targetOf(resource, name), value)] as const,
    );
    const isCells = Array.isArray(row.original);
    const original = isCells ? entries.map(([, value]) => String(value)) : Object.fromEntries(entries);
    return { ...row, entries, original };
  }

  /** The same body without a user that is not in this organization; null if something else is wrong. */
  withoutOwner(body: Data, rejection: Rejection): Data | null {
    const paths = rejection.path.split(', ');
    const owners = OWNER_FIELDS.filter((name) => paths.includes(name) && typeof body[name] === 'string');
    if (owners.length === 0 || owners.length < paths.length) return null;
    for (const name of owners) this.#unknownOwners.add(String(body[name]));
    this.leftOut += owners.length;
    return Object.fromEntries(Object.entries(body).filter(([name]) => !owners.includes(name)));
  }

  #newId(target: string, oldId: JsonValue): string | undefined {
    const id = this.#ids.find(target, String(oldId));
    if (id === undefined) this.leftOut += 1;
    return id;
  }

  #inRow(target: string | null, value: JsonValue): JsonValue {
    if (target === null || value === null || value === '') return value;
    const idOf = (oldId: JsonValue): JsonValue => this.#ids.find(target, String(oldId)) ?? oldId;
    if (Array.isArray(value)) return value.map(idOf);
    // In CSV a list is its JSON text.
    if (typeof value === 'string' && value.startsWith('['))
      return JSON.stringify((JSON.parse(value) as JsonValue[]).map(idOf));
    return idOf(value);
  }
}

/** The resource that a field refers to, if one does. */
function targetOf({ fields }: Resource, name: string): string | null {
  return fields[name]?.references || null;
}

function notImported(name: string, target: string, oldId: string): RowFault {
  const message = `the ${getResource(target).singular} "${oldId}" was not imported; import it, and set its new ID`;
  return new RowFault('RESOURCE_NOT_FOUND', name, message);
}
