// Decides the meaning of every column of an input, and collects the problems.
import type { Resource } from '../../../db/model/resource.ts';
import type { ImportRequest } from '../request.ts';
import {
  type ColumnMatch,
  type Destination,
  HeaderMatcher,
  lookupsOf,
  slotOf,
  writableFields,
} from './headers.ts';
import { type Mapping, parseDestination } from './mapping.ts';
import type { Problem } from './plan-errors.ts';
import type { Survey } from './survey.ts';

/** The meaning of columns for one import. */
export class Columns {
  readonly #resource: Resource;
  readonly #survey: Survey;
  readonly #mapping: Mapping;
  readonly #request: Pick<ImportRequest, 'custom' | 'ignoreUnknown'>;
  readonly #matcher: HeaderMatcher;

  constructor(
    resource: Resource,
    survey: Survey,
    mapping: Mapping,
    request: Pick<ImportRequest, 'custom' | 'ignoreUnknown'>,
  ) {
    this.#resource = resource;
    this.#survey = survey;
    this.#mapping = mapping;
    this.#request = request;
    this.#matcher = new HeaderMatcher(resource);
  }

  /** The meaning of a column; undefined if it is unknown and not kept. */
  find(header: string): ColumnMatch | undefined {
    const asked = this.#mapping.columns.get(header);
    if (asked !== undefined) {
      // The user's mapping comes before names, in the given order.
      const rank = [...this.#mapping.columns.keys()].indexOf(header) - this.#mapping.columns.size;
      return { destination: this.parse(asked), rank };
    }
    const match = this.#matcher.find(header);
    if (match !== undefined && !this.#hasForeignIds(header, match.destination)) return match;
    if (this.#request.custom) return { destination: { kind: 'custom', key: header }, rank: 0 };
    if (this.#request.ignoreUnknown) {
      return { destination: { kind: 'left out', reason: 'not known' }, rank: 0 };
    }
    return undefined;
  }

  /** The destination that --map or --set names. */
  parse(text: string): Destination {
    return parseDestination(this.#matcher, text, fieldNames(this.#resource));
  }

  // An ID from another product is not an ID here. An empty column cannot lose anything.
  #hasForeignIds(header: string, destination: Destination): boolean {
    if (!('field' in destination) || this.#mapping.values.has(header)) return false;
    // Owners need an ID; --custom keeps the other values of a column that has some.
    const isById = destination.kind === 'field' || (destination.lookup === 'owner' && !this.#request.custom);
    const isReference = isById && this.#resource.fields[destination.field]?.kind === 'reference';
    const ids = this.#survey.evidence.ids.get(header);
    return isReference && ids !== undefined && !ids.hasIds;
  }

  /** The unknown columns, and those whose IDs are from elsewhere. */
  unknown(): Problem[] {
    const unknown = this.#survey.headers.filter((header) => this.find(header) === undefined);
    const foreign = unknown.filter((header) => this.#matcher.find(header) !== undefined);
    const strange = unknown.filter((header) => !foreign.includes(header));
    const hasCustom = this.#resource.fields.custom !== undefined;
    const changes = hasCustom ? { custom: true } : { ignoreUnknown: true };
    const { name, evidence } = this.#survey;
    const problems: Problem[] = [];
    if (strange.length > 0) {
      const what = strange.length > 1 ? `${strange.length} unknown columns` : 'an unknown column';
      problems.push({
        message: `${name} has ${what}: ${quoted(strange)}.`,
        changes,
        headers: strange,
      });
    }
    if (foreign.length > 0) {
      const named = foreign.map((header) => `"${header}" (such as ${evidence.ids.get(header)?.other})`);
      const have = `${foreign.length > 1 ? 'do' : 'does'} not contain IDs of this service`;
      problems.push({ message: `${named.join(', ')} ${have}.`, changes, headers: foreign });
    }
    return problems;
  }
}

/** Columns that map to one field; the first has priority. */
export interface ColumnConflict {
  slot: string;
  headers: string[];
}

/** The fields to which several columns, or a column and --set, map. */
export function columnConflicts(
  resource: Resource,
  columns: readonly (readonly [header: string, match: ColumnMatch])[],
): ColumnConflict[] {
  const bySlot = new Map<string, [header: string, rank: number][]>();
  for (const [header, { destination, rank }] of columns) {
    const slot = slotOf(resource, destination);
    if (slot !== null) bySlot.set(slot, [...(bySlot.get(slot) ?? []), [header, rank]]);
  }
  return [...bySlot].flatMap(([slot, entries]) => {
    if (entries.length === 1) return [];
    return [{ slot, headers: entries.sort(([, one], [, other]) => one - other).map(([header]) => header) }];
  });
}

/** The problem of several columns for one field; --custom keeps those that are not used. */
export function conflictProblem(
  contests: readonly ColumnConflict[],
  resource: Resource,
  request: Pick<ImportRequest, 'custom' | 'ignoreUnknown' | 'map'>,
): Problem[] {
  const unsettled = contests.filter(({ slot }) => !request.custom || slot.startsWith('custom.'));
  if (unsettled.length === 0) return [];
  const named = unsettled.map(({ slot, headers }) => `${slot} from ${quoted(headers)}`);
  const canKeep =
    resource.fields.custom !== undefined &&
    !request.ignoreUnknown &&
    unsettled.every(({ slot }) => !slot.startsWith('custom.'));
  const others = unsettled.flatMap(({ headers }) => headers.slice(1));
  const changes = canKeep ? { custom: true } : { map: others.map((header) => `${header}=-`) };
  const rule = canKeep
    ? ' With --custom, the first one with a value is used, in this order, and the others become custom fields.'
    : '';
  return [
    {
      message: `Several columns map to the same field: ${named.join('; ')}.${rule}`,
      changes,
      headers: others,
    },
  ];
}

/** The names of all fields, lookups included. */
export function fieldNames(resource: Resource): string {
  const own = writableFields(resource).map(([name]) => (name === 'custom' ? 'custom.KEY' : name));
  return [...own, ...lookupsOf(resource).keys()].join(', ');
}

function quoted(headers: readonly string[]): string {
  return headers.map((header) => (header.startsWith('--set ') ? header : `"${header}"`)).join(', ');
}
