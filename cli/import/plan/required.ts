// Finds required fields that no column of an input fills, before a row is sent, and suggests a mapping.
import { faultsOf } from '../../../db/model/check.ts';
import type { Field } from '../../../db/model/fields.ts';
import type { Data } from '../../../db/model/json.ts';
import type { Resource } from '../../../db/model/resource.ts';
import { newRecordFaults } from '../../../db/model/rules.ts';
import { isOurId } from '../../input/record-id.ts';
import { RowFault } from '../row.ts';
import type { SuggestedFlags } from '../suggested-flags.ts';
import type { Sample } from './column-evidence.ts';
import type { Problem } from './columns.ts';
import { readValue } from './values.ts';

/** What is known about the columns. */
export interface FilledFields {
  /** The fields that a column or --set fills. */
  filled: ReadonlySet<string>;
  /** Headers of columns without a meaning. */
  free: readonly string[];
  /** Headers of columns that the user leaves out of the fields. */
  leftOut: readonly string[];
  sample: Sample;
}

interface Candidate {
  header: string;
  field: string;
  score: number;
}

const FIT_MIN = 0.9;
const NAMED_MAX = 3;
// People identify a record by these texts.
const NAMING = /name|title|subject/i;
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

/** The problems of an input that does not fill required fields. */
export function requiredProblems(resource: Resource, filling: FilledFields): Problem[] {
  const { fields, createSchema: schema } = resource;
  const body: Data = {};
  for (const name of filling.filled) body[name] = fields[name]?.example ?? null;
  const inspect = (one: Data) => newRecordFaults(resource, one);
  const missing = faultsOf(body, { schema, inspect }).filter(
    ({ path, code }) => code === 'VALIDATION_REQUIRED_FIELD' && !filling.filled.has(path),
  );
  const taken = new Set<string>();
  return missing.map(({ path }) => {
    const problem = problemOf(resource, path, {
      ...filling,
      free: filling.free.filter((one) => !taken.has(one)),
    });
    for (const header of problem.headers ?? []) taken.add(header);
    return problem;
  });
}

function problemOf(resource: Resource, path: string, filling: FilledFields): Problem {
  const group = [resource.identifying, resource.exactlyOneOf].find((names) => names.includes(path));
  const names = group ?? [path];
  const wanted = group === undefined ? path : `one of ${names.join(', ')}`;
  const what = `No column maps to ${wanted}, which every ${resource.singular} must have`;
  const candidates = [filling.free, filling.leftOut].map((headers) =>
    candidatesFor(resource, names, headers, filling.sample),
  );
  const [best, ...others] = candidates.find((found) => found.length > 0) ?? [];
  if (best !== undefined) {
    const named = [best, ...others.slice(0, NAMED_MAX - 1)].map(({ header }) => `"${header}"`);
    return {
      message: `${what}. Maybe ${named.join(' or ')}?`,
      changes: { map: [`${best.header}=${best.field}`] },
      headers: [best.header],
    };
  }
  const changes = sameForAll(resource, names);
  const step = `add a column of ${names.join(' or ')} to the file.`;
  const isSaid = changes === undefined || group === undefined;
  return { message: `${what}.`, changes: changes ?? {}, alone: step, ...(isSaid && { orElse: step }) };
}

/** The columns that could fill one of the fields, the most likely first. */
function candidatesFor(
  resource: Resource,
  names: readonly string[],
  headers: readonly string[],
  sample: Sample,
): Candidate[] {
  const byScore = (one: Candidate, other: Candidate): number => other.score - one.score;
  const candidates = headers.flatMap((header) => {
    const scored = names.map((field) => ({ header, field, score: scoreOf(resource, field, header, sample) }));
    return scored.sort(byScore).slice(0, 1);
  });
  return candidates.filter(({ score }) => score > 0).sort(byScore);
}

/** How likely a column contains values of a field; 0 if it cannot. */
function scoreOf({ fields }: Resource, name: string, header: string, { rows, values }: Sample): number {
  const field = fields[name];
  const own = values.get(header) ?? [];
  if (field === undefined || own.length < rows * FIT_MIN || own.length === 0) return 0;
  const fitting = own.filter((value) => fits(field, value)).length;
  if (fitting < own.length * FIT_MIN) return 0;
  if (field.kind !== 'text') return 2;
  // Names differ from row to row; a matching header counts more than matching values.
  const variety = new Set(own).size / own.length;
  return variety + (NAMING.test(header) ? 0.5 : 0) + (NAMING.test(name) ? 0.1 : 0);
}

function fits(field: Field, value: string): boolean {
  // A text field accepts anything, but amounts, dates and IDs are not names.
  if (field.kind === 'text' && (!/\p{L}{2}|\p{L}.*\p{L}/u.test(value) || UUID.test(value.trim())))
    return false;
  if (field.kind === 'reference') return isOurId(value);
  const context = { header: '', dates: { format: null, orders: new Map() }, numbers: new Map() };
  try {
    return faultsOf(readValue(field, value, context), { schema: field.schema }).length === 0;
  } catch (error) {
    if (error instanceof RowFault) return false;
    throw error;
  }
}

/** One value for every row, for a field with choices or any text. */
function sameForAll({ fields, singular }: Resource, names: readonly string[]): SuggestedFlags | undefined {
  for (const name of names) {
    const { kind, example } = fields[name] ?? {};
    if (kind === 'enum') return { set: [`${name}=${example}`] };
    if (kind === 'text' && NAMING.test(name)) return { set: [`${name}=Imported ${singular}`] };
  }
  return undefined;
}
