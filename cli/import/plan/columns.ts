// Settles what every column of an input means, and gathers all that stands against it.
import type { Resource } from '../../../db/model/resource.ts';
import { counted } from '../../terminal/format.ts';
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

  /** What a column means; undefined for one that is not known and not to be kept. */
  find(header: string): ColumnMatch | undefined {
    const asked = this.#mapping.columns.get(header);
    if (asked !== undefined) {
      // What the user says comes before what names tell, in the order it is said.
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

  // An id that another product gave is no id here. Of an empty column nothing is lost either way.
  #hasForeignIds(header: string, destination: Destination): boolean {
    if (!('field' in destination) || this.#mapping.values.has(header)) return false;
    // Owners are given by id alone; of a column that has some, the others can be kept with --custom.
    const isById = destination.kind === 'field' || (destination.lookup === 'owner' && !this.#request.custom);
    const isReference = isById && this.#resource.fields[destination.field]?.kind === 'reference';
    const ids = this.#survey.evidence.ids.get(header);
    return isReference && ids !== undefined && !ids.hasIds;
  }

  /** The columns that are not known, and those whose ids are not ours. */
  unknown(): Problem[] {
    const unknown = this.#survey.headers.filter((header) => this.find(header) === undefined);
    const foreign = unknown.filter((header) => this.#matcher.find(header) !== undefined);
    const strange = unknown.filter((header) => !foreign.includes(header));
    const hasCustom = this.#resource.fields.custom !== undefined;
    const changes = hasCustom ? { custom: true } : { ignoreUnknown: true };
    const { name, evidence } = this.#survey;
    const problems: Problem[] = [];
    if (strange.length > 0) {
      const what = strange.length > 1 ? `${strange.length} columns that are` : 'a column that is';
      problems.push({
        message: `${name} has ${what} not known: ${quoted(strange)}.`,
        changes,
        headers: strange,
      });
    }
    if (foreign.length > 0) {
      const named = foreign.map((header) => `"${header}" (such as ${evidence.ids.get(header)?.other})`);
      const have = `${foreign.length > 1 ? 'have' : 'has'} no ids of this service`;
      problems.push({ message: `${named.join(', ')} ${have}.`, changes, headers: foreign });
    }
    return problems;
  }
}

/** Columns that would fill one field, the first to be taken first. */
export interface Contest {
  slot: string;
  headers: string[];
}

/** The fields that several columns, or a column and --set, would fill. */
export function contestsOf(
  resource: Resource,
  columns: readonly (readonly [header: string, match: ColumnMatch])[],
): Contest[] {
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

/** What stands against several columns of one field; with --custom those not taken are kept there. */
export function contestProblem(
  contests: readonly Contest[],
  resource: Resource,
  request: Pick<ImportRequest, 'custom' | 'ignoreUnknown' | 'map'>,
): Problem[] {
  const unsettled = contests.filter(({ slot }) => !request.custom || slot.startsWith('custom.'));
  if (unsettled.length === 0) return [];
  const named = unsettled.map(({ slot, headers }) => `${slot} by ${quoted(headers)}`);
  const canKeep =
    resource.fields.custom !== undefined &&
    !request.ignoreUnknown &&
    unsettled.every(({ slot }) => !slot.startsWith('custom.'));
  const others = unsettled.flatMap(({ headers }) => headers.slice(1));
  const changes = canKeep ? { custom: true } : { map: others.map((header) => `${header}=-`) };
  const rule = canKeep
    ? ' With --custom the first that a row fills is taken, in this order, and the others are kept as custom fields.'
    : '';
  return [
    {
      message: `${counted(unsettled.length, 'field')} would be filled by several columns: ${named.join('; ')}.${rule}`,
      changes,
      headers: others,
    },
  ];
}

/** What fields there are to name, lookups included. */
export function fieldNames(resource: Resource): string {
  const own = writableFields(resource).map(([name]) => (name === 'custom' ? 'custom.KEY' : name));
  return [...own, ...lookupsOf(resource).keys()].join(', ');
}

function quoted(headers: readonly string[]): string {
  return headers.map((header) => (header.startsWith('--set ') ? header : `"${header}"`)).join(', ');
}
