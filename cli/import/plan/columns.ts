// Decides the meaning of every column of an input, and collects the problems.
import type { Resource } from '../../../db/model/resource.ts';
import { neutralizeLine } from '../../terminal/text.ts';
import type { ImportRequest } from '../request.ts';
import type { SuggestedFlags } from '../suggested-flags.ts';
import { columnMeanings } from './column-meanings.ts';
import { type ColumnMatch, type Destination, headerMatcher, slotOf } from './headers.ts';
import { type Mapping, parseDestination } from './mapping.ts';
import type { Matching } from './matching.ts';
import type { Survey } from './survey.ts';

/** What prevents an import. */
export interface Problem {
  message: string;
  /** The flags that would solve it; none if the input itself must change. */
  changes: SuggestedFlags;
  /** An alternative solution, to follow "or". */
  orElse?: string;
  /** What to do if no flags are enough for all problems; otherwise `orElse`. */
  alone?: string;
  /** The columns that it is about. */
  headers?: readonly string[];
}

/** The meaning of columns for one import. */
export interface Columns {
  /** The columns of the survey with a meaning, in the order of the input. */
  known: ReadonlyMap<string, ColumnMatch>;
  /** The meaning of a column; undefined if it is unknown and not kept. */
  find(header: string): ColumnMatch | undefined;
  /** The destination that --map or --set names. */
  parse(text: string): Destination;
  /** The unknown columns, and those whose IDs are from elsewhere. */
  problems: Problem[];
}

/** Decides the meaning of the columns of an input. */
export function readColumns(
  resource: Resource,
  survey: Survey,
  mapping: Mapping,
  request: Pick<ImportRequest, 'custom' | 'ignoreUnknown'>,
  externalId: Matching['externalId'] = null,
): Columns {
  const match = headerMatcher(resource);
  const parse = (text: string): Destination => parseDestination(resource, match, text);
  const mapped = [...mapping.columns.keys()];
  const { meaningOf, hasForeignIds } = columnMeanings(resource, survey, mapping, {
    match,
    parse,
    isCustom: request.custom,
  });
  const find = (header: string): ColumnMatch | undefined => {
    const asked = mapping.columns.get(header);
    // The user's mapping comes before names, in the given order.
    if (asked !== undefined)
      return { destination: parse(asked), rank: mapped.indexOf(header) - mapped.length };
    if (externalId !== null && header === externalId.header)
      return { destination: { kind: 'external ID', source: externalId.source }, rank: 0 };
    const found = meaningOf(header);
    if (found !== undefined) return found;
    if (request.custom) return { destination: { kind: 'custom', key: header }, rank: 0 };
    if (request.ignoreUnknown) return { destination: { kind: 'left out', reason: 'not known' }, rank: 0 };
    return undefined;
  };
  const known = new Map<string, ColumnMatch>();
  const unknown: string[] = [];
  for (const header of survey.headers) {
    const found = find(header);
    if (found === undefined) unknown.push(header);
    else known.set(header, found);
  }
  const { true: foreign = [], false: strange = [] } = Object.groupBy(unknown, (header) =>
    String(hasForeignIds(header)),
  );
  return { known, find, parse, problems: unknownProblems(resource, survey, { strange, foreign }) };
}

function unknownProblems(
  resource: Resource,
  { name, evidence }: Survey,
  { strange, foreign }: { strange: string[]; foreign: string[] },
): Problem[] {
  const changes = resource.fields.custom === undefined ? { ignoreUnknown: true } : { custom: true };
  const problems: Problem[] = [];
  if (strange.length > 0) {
    const what = strange.length > 1 ? `${strange.length} unknown columns` : 'an unknown column';
    problems.push({ message: `${name} has ${what}: ${quoted(strange)}.`, changes, headers: strange });
  }
  if (foreign.length > 0) {
    const named = foreign.map((header) => `"${header}" (such as ${evidence.ids.get(header)?.other})`);
    const have = `${foreign.length > 1 ? 'do' : 'does'} not contain IDs of this service`;
    problems.push({ message: `${named.join(', ')} ${have}.`, changes, headers: foreign });
  }
  return problems;
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
  const bySlot = Map.groupBy(columns, ([, { destination }]) => slotOf(resource, destination));
  return [...bySlot].flatMap(([slot, entries]) => {
    if (slot === null || entries.length === 1) return [];
    const inOrder = entries.toSorted(([, one], [, other]) => one.rank - other.rank);
    return [{ slot, headers: inOrder.map(([header]) => header) }];
  });
}

/** The place of a column among those for its field: they count only if those before are empty. */
export interface ColumnPlace {
  headers: readonly string[];
  /** Counted from 0. */
  place: number;
}

/** By header, the places of all columns that are not alone. */
export function placesIn(contests: readonly ColumnConflict[]): Map<string, ColumnPlace> {
  return new Map(
    contests.flatMap(({ headers }) => headers.map((header, place) => [header, { headers, place }] as const)),
  );
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
  const message = `Several columns map to the same field: ${named.join('; ')}.${rule}`;
  return [{ message, changes, headers: others }];
}

function quoted(headers: readonly string[]): string {
  return headers
    .map((header) => (header.startsWith('--set ') ? header : `"${neutralizeLine(header)}"`))
    .join(', ');
}
