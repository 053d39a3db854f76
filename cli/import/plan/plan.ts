// The plan of an import: for every column where its values go, settled before the first row is sent.
import type { Resource } from '../../../db/declare/resource.ts';
import { type CliError, usageError } from '../../errors.ts';
import { counted } from '../../terminal/format.ts';
import type { ImportFlags } from '../flags.ts';
import { type DateRules, decideDates, type SlashedEvidence } from './dates.ts';
import { type Destination, HeaderMatcher, lookupsOf, writableFields } from './headers.ts';
import { type MappingOptions, parseDestination, readMapping } from './mapping.ts';

export type PlanOptions = MappingOptions & Pick<ImportFlags, 'custom' | 'dateFormat'>;

/** What was seen of the input before its plan is made. */
export interface Survey {
  name: string;
  headers: readonly string[];
  slashed: ReadonlyMap<string, SlashedEvidence>;
  /** Whether only the beginning was seen, as of standard input. */
  isPartial: boolean;
  /** Whether further headers may turn up, as in NDJSON from standard input. */
  isOpen: boolean;
}

export interface Plan {
  resource: Resource;
  destinations: Map<string, Destination>;
  /** Header to value (in lower case) to new value. */
  values: ReadonlyMap<string, ReadonlyMap<string, string>>;
  constants: readonly { name: string; destination: Destination; value: string }[];
  dates: DateRules;
  /** Finds the destination of a header that turns up late. */
  late: (header: string) => Destination | undefined;
}

/** Settles where every column goes; a usage error names those that are unknown or collide. */
export function makePlan(resource: Resource, survey: Survey, options: PlanOptions): Plan {
  const matcher = new HeaderMatcher(resource);
  const fields = fieldNames(resource);
  if (options.custom && resource.fields.custom === undefined) {
    throw usageError(
      `${resource.name} have no custom fields.`,
      'leave --custom out, and drop columns with "-".',
    );
  }
  const mapping = readMapping(options, survey.isOpen ? null : survey.headers);
  const find = (header: string): Destination | undefined => {
    const asked = mapping.columns.get(header);
    if (asked !== undefined) return parseDestination(matcher, asked, fields);
    return matcher.find(header) ?? (options.custom ? { kind: 'custom', key: header } : undefined);
  };
  const destinations = new Map<string, Destination>();
  const unknown: string[] = [];
  for (const header of survey.headers) {
    const destination = find(header);
    if (destination === undefined) unknown.push(header);
    else destinations.set(header, destination);
  }
  if (unknown.length > 0) throw unknownColumns(unknown, survey.name, resource, fields);
  const constants = options.set.map((text) => readConstant(matcher, text, fields));
  refuseCollisions(resource, [
    ...destinations,
    ...constants.map(({ name, destination }) => [`--set ${name}`, destination] as const),
  ]);
  const dates = decideDates(
    survey.slashed,
    dateHeaders(resource, destinations),
    options.dateFormat,
    survey.isPartial,
  );
  return { resource, destinations, values: mapping.values, constants, dates, late: find };
}

/** What fields there are to name, lookups included. */
function fieldNames(resource: Resource): string {
  const own = writableFields(resource).map(([name]) => (name === 'custom' ? 'custom.KEY' : name));
  return [...own, ...lookupsOf(resource).keys()].join(', ');
}

function unknownColumns(unknown: string[], name: string, resource: Resource, fields: string): CliError {
  const [first = ''] = unknown;
  const several = unknown.length > 1;
  const keep =
    resource.fields.custom === undefined ? [] : ['keep unknown columns as custom fields with --custom.'];
  return usageError(
    `${name} has ${several ? `${unknown.length} columns that are` : 'a column that is'} not known: ${unknown.map((one) => `"${one}"`).join(', ')}.`,
    `map ${several ? 'each' : 'it'} to a field with --map '${first}=FIELD', or leave it out with --map '${first}=-'.`,
    ...keep,
    `the fields of ${resource.name}: ${fields}.`,
  );
}

function readConstant(
  matcher: HeaderMatcher,
  text: string,
  fields: string,
): { name: string; destination: Destination; value: string } {
  const at = text.indexOf('=');
  if (at < 1) throw usageError(`--set '${text}' is not of the form field=value.`, 'write --set field=value.');
  const name = text.slice(0, at).trim();
  const destination = parseDestination(matcher, name, fields);
  if (destination.kind === 'left out') throw usageError('--set needs a field.', `name one of: ${fields}.`);
  return { name, destination, value: text.slice(at + 1) };
}

/** What a destination fills; null where several columns may fill it together. */
function slotOf(resource: Resource, destination: Destination): string | null {
  if (destination.kind === 'left out') return null;
  if (destination.kind === 'custom') return `custom.${destination.key}`;
  const kind = resource.fields[destination.field]?.kind;
  return kind === 'emails' || kind === 'custom' ? null : destination.field;
}

function refuseCollisions(resource: Resource, columns: readonly (readonly [string, Destination])[]): void {
  const taken = new Map<string, string>();
  for (const [header, destination] of columns) {
    const slot = slotOf(resource, destination);
    if (slot === null) continue;
    const other = taken.get(slot);
    if (other !== undefined) {
      throw usageError(
        `"${other}" and "${header}" would both fill ${slot}.`,
        `leave one out with --map '${other.startsWith('--set') ? header : other}=-', or map it to another field.`,
      );
    }
    taken.set(slot, header);
  }
}

function dateHeaders(resource: Resource, destinations: ReadonlyMap<string, Destination>): string[] {
  return [...destinations].flatMap(([header, destination]) => {
    const kind = destination.kind === 'field' ? resource.fields[destination.field]?.kind : undefined;
    return kind === 'date' || kind === 'instant' ? [header] : [];
  });
}

/** What the plan does with each column, one line each. */
export function describePlan(plan: Plan): string[] {
  const width = Math.min(40, Math.max(0, ...[...plan.destinations.keys()].map((header) => header.length)));
  const lines = [...plan.destinations].map(
    ([header, destination]) => `  ${header.padEnd(width)} → ${describe(destination)}${notes(plan, header)}`,
  );
  const constants = plan.constants.map(
    ({ destination, value }) => `  ${`"${value}"`.padEnd(width)} → ${describe(destination)}, in every row`,
  );
  return [...lines, ...constants];
}

function describe(destination: Destination): string {
  switch (destination.kind) {
    case 'field':
      return destination.factor === undefined
        ? destination.field
        : `${destination.field}, multiplied by ${destination.factor}`;
    case 'custom':
      return `custom.${destination.key}`;
    case 'lookup':
      return `${destination.field}, looked up by ${destination.lookup}`;
    case 'left out':
      return `left out (${destination.reason})`;
  }
}

function notes(plan: Plan, header: string): string {
  const order = plan.dates.orders.get(header);
  const replaced = plan.values.get(header)?.size;
  const values = replaced === undefined ? '' : `, ${counted(replaced, 'value')} replaced`;
  return `${order === undefined ? '' : `, read as ${order === 'mdy' ? 'month/day/year' : 'day/month/year'}`}${values}`;
}

/** A text that is the same for two plans only if they make the same of a row. */
export function planKey(plan: Plan): string {
  return JSON.stringify([
    plan.resource.name,
    [...plan.destinations],
    [...plan.values].map(([header, values]) => [header, [...values]]),
    plan.constants,
    [plan.dates.format, [...plan.dates.orders]],
  ]);
}
