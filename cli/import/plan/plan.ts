// The plan of an import: where the values of every column go, decided before the first row is sent.
import type { FieldKind } from '../../../db/model/fields.ts';
import type { Resource } from '../../../db/model/resource.ts';
import { type CliError, usageError } from '../../errors.ts';
import { shellWord } from '../../terminal/text.ts';
import { importCommand } from '../flags.ts';
import type { ImportRequest } from '../request.ts';
import { withSuggestedFlags } from '../suggested-flags.ts';
import {
  type ColumnConflict,
  type ColumnPlace,
  type Columns,
  columnConflicts,
  conflictProblem,
  type Problem,
  placesIn,
  readColumns,
} from './columns.ts';
import { type DateRules, decideDates } from './dates.ts';
import { type ColumnMatch, type Destination, fieldNames } from './headers.ts';
import { type Mapping, readMapping } from './mapping.ts';
import { type Matching, readMatching } from './matching.ts';
import { decideNumbers, type NumberRules } from './numbers.ts';
import { requiredProblems } from './required.ts';
import type { Survey } from './survey.ts';

const SETTLING_ROUNDS_MAX = 20;

export interface Constant {
  name: string;
  destination: Destination;
  value: string;
}

export interface Plan {
  resource: Resource;
  /** By header, in the order of the input. */
  columns: ReadonlyMap<string, ColumnMatch>;
  contests: readonly ColumnConflict[];
  /** Of the columns in contests, by header. */
  places: ReadonlyMap<string, ColumnPlace>;
  /** Whether values that a field cannot or need not take are kept under `custom.*`. */
  keepsOthers: boolean;
  /** Header to value (in lower case) to new value. */
  values: ReadonlyMap<string, ReadonlyMap<string, string>>;
  constants: readonly Constant[];
  dates: DateRules;
  numbers: NumberRules;
  /** How rows find records; null if every row is a new one. */
  matching: Matching | null;
  /** Required fields that no column fills, so that rows can only change records. */
  lacking: readonly string[];
  /** Finds the meaning of a header that appears later in the input. */
  late: (header: string) => ColumnMatch | undefined;
}

/** Decides where every column goes; a usage error lists everything missing, unknown, conflicting or ambiguous. */
export function makePlan(resource: Resource, survey: Survey, request: ImportRequest): Plan {
  const { plan, problems } = draftPlan(resource, survey, request);
  if (problems.length === 0) return plan;
  const advised = settledRequest(resource, survey, request);
  throw planError(problems, resource, advised);
}

/** The request with the flags that the input needs; null if flags alone are not enough. */
export function settledRequest(
  resource: Resource,
  survey: Survey,
  request: ImportRequest,
): ImportRequest | null {
  let settled = request;
  // One at a time: the solution of the first may also solve others.
  for (let round = 0; round < SETTLING_ROUNDS_MAX; round += 1) {
    const { problems } = draftPlan(resource, survey, settled);
    if (problems.length === 0) return settled;
    const [problem] = problems.filter(({ changes }) => Object.keys(changes).length > 0);
    if (problem === undefined) return null;
    settled = withSuggestedFlags(settled, problem.changes);
  }
  return null;
}

/** The plan as far as it goes, and what prevents it. */
export function draftPlan(
  resource: Resource,
  survey: Survey,
  request: ImportRequest,
): { plan: Plan; problems: Problem[] } {
  if (request.custom && resource.fields.custom === undefined) {
    throw usageError(
      `${resource.name} do not have custom fields.`,
      importCommand({ ...request, custom: false }),
      'add --ignore-unknown to leave unknown columns out.',
    );
  }
  const mapping = readMapping(request, survey.isOpen ? null : survey.headers);
  const matching = readMatching(resource, request, survey.isOpen ? null : survey.headers);
  const meaning = readColumns(resource, survey, mapping, request, matching?.externalId);
  const { known: columns, find: late } = meaning;
  const constants = request.set.map((text) => readConstant(meaning, text, resource));
  const contests = columnConflicts(resource, [
    // --set overrides every column.
    ...constants.map(({ name, destination }) => [`--set ${name}`, { destination, rank: -Infinity }] as const),
    // Empty columns do not count.
    ...[...columns].filter(([header]) => survey.isPartial || mayHaveValues(header, survey.evidence, mapping)),
  ]);
  const headersOf = (...kinds: FieldKind[]): string[] =>
    [...columns.keys()].filter((header) => {
      const destination = columns.get(header)?.destination;
      const kind = destination?.kind === 'field' ? resource.fields[destination.field]?.kind : undefined;
      return kind !== undefined && kinds.includes(kind);
    });
  const dates = decideDates(
    survey.evidence,
    headersOf('date', 'instant'),
    request.dateFormat,
    survey.isPartial,
  );
  const lacking = lackingProblems(resource, survey, { columns, constants, mapping });
  const problems: Problem[] = [
    ...(matching?.isRequired ? [] : lacking),
    ...meaning.problems,
    ...conflictProblem(contests, resource, request),
    ...dates.doubts.map(({ message, formats: [first, ...others] }) => ({
      message,
      changes: first === undefined ? {} : { dateFormat: first },
      orElse: `use ${formatFlags(others)}, if that is right.`,
      alone: `use ${formatFlags([first ?? [], ...others].flat())}, whichever is right.`,
    })),
  ];
  const integers = headersOf('integer');
  const numbers = decideNumbers(
    survey.evidence.numbers,
    headersOf('integer', 'number').map((header) => ({ header, isInteger: integers.includes(header) })),
    request,
  );
  const plan: Plan = {
    ...{ resource, columns, contests, constants, numbers, matching, late },
    places: placesIn(contests),
    lacking: lacking.map(({ message }) => message),
    keepsOthers: request.custom,
    values: mapping.values,
    dates: dates.rules,
  };
  return { plan, problems };
}

/** Reports every problem at once, with the command that would work; `advised` is null if flags are not enough. */
function planError(
  problems: readonly Problem[],
  resource: Resource,
  advised: ImportRequest | null,
): CliError {
  const [header] = problems.flatMap(({ headers = [] }) => headers);
  const isAdvised = advised !== null;
  const steps = problems.flatMap(({ orElse, alone = orElse }) => (isAdvised ? orElse : alone) ?? []);
  const first = isAdvised ? [importCommand(advised)] : steps;
  const others = [
    ...(isAdvised ? steps : []),
    ...(header === undefined ? [] : [otherMeanings(header, resource)]),
    'start from a mapping of all columns: --suggest-map prints one for --map-file.',
  ];
  return usageError(
    problems.map(({ message }) => message).join('\n'),
    ...first,
    ...others.map((step, at) => (at > 0 || first.length > 0 ? `or ${step}` : step)),
    `fields of ${resource.name}: ${fieldNames(resource).join(', ')}.`,
  );
}

function formatFlags(formats: readonly string[]): string {
  return formats.map((format) => `--date-format ${format}`).join(' or ');
}

function otherMeanings(header: string, { fields }: Resource): string {
  const meant = `map a column with --map ${shellWord(`${header}=FIELD`)}`;
  const leftOut = `or leave it out with --map ${shellWord(`${header}=-`)}`;
  const rest = fields.custom === undefined ? '' : '; --ignore-unknown leaves out all unknown columns';
  return `${meant}, ${leftOut}${rest}.`;
}

/** Required fields that the input does not fill; an input without rows cannot be checked. */
function lackingProblems(
  resource: Resource,
  { headers, evidence, isPartial }: Survey,
  { columns, constants, mapping }: Pick<Plan, 'columns' | 'constants'> & { mapping: Mapping },
): Problem[] {
  if (evidence.ids.size === 0) return [];
  const hasValues = (header: string): boolean => isPartial || mayHaveValues(header, evidence, mapping);
  const destinations = [
    ...[...columns].flatMap(([header, { destination }]) => (hasValues(header) ? [destination] : [])),
    ...constants.flatMap(({ destination, value }) => (value.trim() === '' ? [] : [destination])),
  ];
  const filled = new Set(
    destinations.flatMap((destination) => ('field' in destination ? [destination.field] : [])),
  );
  const free = headers.filter(
    (header) => !mapping.columns.has(header) && isUnknown(header, columns.get(header)?.destination),
  );
  const leftOut = headers.filter((header) => /^(?:-|custom\..*)$/s.test(mapping.columns.get(header) ?? ''));
  return requiredProblems(resource, { filled, free, leftOut, sample: evidence.sample });
}

/** Whether a column has a value in any row; without evidence, every column may. */
function mayHaveValues(header: string, { ids }: Survey['evidence'], { values }: Mapping): boolean {
  return ids.size === 0 || ids.has(header) || values.get(header)?.has('') === true;
}

/** Whether a column is unknown, or only has the meaning that all unknown columns get. */
function isUnknown(header: string, destination: Destination | undefined): boolean {
  if (destination?.kind === 'custom') return destination.key === header;
  return destination === undefined || (destination.kind === 'left out' && destination.reason === 'not known');
}

function readConstant(meaning: Columns, text: string, resource: Resource): Constant {
  const at = text.indexOf('=');
  if (at < 1)
    throw usageError(`--set '${text}' does not have the form field=value.`, 'use --set field=value.');
  const name = text.slice(0, at).trim();
  const destination = meaning.parse(name);
  if (destination.kind === 'left out') {
    throw usageError('--set needs a field.', `use one of: ${fieldNames(resource).join(', ')}.`);
  }
  return { name, destination, value: text.slice(at + 1) };
}

/** A text that is equal for two plans only if they convert rows in the same way. */
export function planKey(plan: Plan): string {
  return JSON.stringify([
    plan.resource.name,
    [...plan.columns].map(([header, { destination }]) => [header, destination]),
    plan.contests,
    plan.keepsOthers && hasOthers(plan),
    [...plan.values].map(([header, values]) => [header, [...values]]),
    plan.constants,
    [plan.dates.format, [...plan.dates.orders]],
    [...plan.numbers],
    ...(plan.matching?.isRequired ? [plan.matching] : []),
  ]);
}

function hasOthers({ columns, contests }: Plan): boolean {
  const keeping = [...columns.values()].filter(
    ({ destination }) =>
      destination.kind === 'status' ||
      (destination.kind === 'lookup' && ['contact', 'owner'].includes(destination.lookup)),
  );
  return contests.length > 0 || keeping.length > 0;
}
