// The mapping of an import while a person changes it: what each column means now, and what it can mean.
import type { Resource } from '../../../db/model/resource.ts';
import { CliError } from '../../errors.ts';
import { describeColumn } from '../plan/describe.ts';
import { fieldNames } from '../plan/headers.ts';
import { draftPlan, type Plan } from '../plan/plan.ts';
import type { Survey } from '../plan/survey.ts';
import type { ImportRequest } from '../request.ts';
import type { SourceRow } from '../row.ts';
import { creatingFlag } from '../session/missing-in-words.ts';
import type { MissingNames } from '../session/missing-names.ts';

/** What a person looks at before an import. */
export interface ImportView {
  resource: Resource;
  survey: Survey;
  rowCount: number | null;
  /** The first rows of the input. */
  rows: readonly SourceRow[];
  /** The time that the rate limit makes of it, if that is long. */
  estimate: string | null;
  /** The names of the input that do not exist, with this mapping. */
  missingNames(plan: Plan): Promise<readonly MissingNames[]>;
}

export interface DraftColumn {
  header: string;
  /** What becomes of it; null if nothing is known about it. */
  goesTo: string | null;
  /** Its values in the first rows. */
  values: readonly string[];
}

export interface Draft {
  columns: readonly DraftColumn[];
  /** What prevents the import. */
  problems: readonly string[];
  /** Null if the flags contradict each other. */
  plan: Plan | null;
}

/** What the request makes of the input. */
export function draftOf({ resource, survey, rows }: ImportView, request: ImportRequest): Draft {
  try {
    const { plan, problems } = draftPlan(resource, survey, request);
    const columns = survey.headers.map((header) => ({
      header,
      goesTo: describeColumn(plan, header) ?? null,
      values: rows.map(({ entries }) => textOf(entries.find(([name]) => name === header)?.[1])),
    }));
    return { columns, problems: problems.map(({ message }) => message), plan };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { columns: [], problems: [error.message], plan: null };
  }
}

function textOf(value: SourceRow['entries'][number][1] | undefined): string {
  return value === undefined || value === null
    ? ''
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value);
}

/** What a column can mean, as --map takes it. */
export function choicesFor(resource: Resource, header: string): string[] {
  const fields = fieldNames(resource).filter((name) => name !== 'custom.KEY');
  const kept = resource.fields.custom === undefined ? [] : [`custom.${header}`];
  return [...fields, ...kept, '-'];
}

/** The request with another meaning for a column. */
export function withMeaning(request: ImportRequest, header: string, meaning: string): ImportRequest {
  const others = request.map.filter((text) => text.slice(0, text.lastIndexOf('=')) !== header);
  return { ...request, map: [...others, `${header}=${meaning}`] };
}

/** What can be switched, by its key. */
export const SWITCHES = [
  { key: 'k', name: 'custom', label: 'keep unknown' },
  { key: 'c', name: 'createMissing', label: 'new companies' },
  { key: 't', name: 'createStages', label: 'new stages' },
] as const;

/** The request with a switch turned. */
export function withSwitched(request: ImportRequest, name: (typeof SWITCHES)[number]['name']): ImportRequest {
  const isOn = !request[name];
  return { ...request, [name]: isOn, ...(name === 'custom' && isOn && { ignoreUnknown: false }) };
}

/** The switches that matter for a resource. */
export function switchesOf({ fields }: Resource): (typeof SWITCHES)[number][] {
  const needs = { custom: 'custom', createMissing: 'company_id', createStages: 'stage_id' } as const;
  return SWITCHES.filter(({ name }) => fields[needs[name]] !== undefined);
}

/** The key that creates missing names, if there is one. */
export function creatingKey(missing: MissingNames): string | undefined {
  const flag = creatingFlag(missing.kind);
  return SWITCHES.find(({ name }) => name === flag)?.key;
}
