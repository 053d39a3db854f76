// How the rows of an import find the records that they change: by external ID, email or domain.
import { faultsOf } from '../../../db/model/check.ts';
import { externalIdSchema } from '../../../db/model/external-ids.ts';
import type { Data } from '../../../db/model/json.ts';
import { hasExternalIds, type Resource } from '../../../db/model/resource.ts';
import { matchNames, type OnMatch } from '../../../db/model/upserts.ts';
import { usageError } from '../../errors.ts';
import { importCommand } from '../flags.ts';
import { type ImportRequest, type OnDuplicate, onDuplicateOf } from '../request.ts';
import { RowFault, type SourceRow } from '../row.ts';
import { headerNamed } from './mapping.ts';

const POLICIES: Record<Exclude<OnDuplicate, 'fail'>, OnMatch> = {
  update: 'update',
  fill: 'fill',
  skip: 'keep',
};
const EXTERNAL_ID = 'external_id';

export interface Matching {
  /** What is compared, in this order; null for everything that a row has. */
  on: readonly string[] | null;
  /** The column with IDs of another system, and its name. */
  externalId: { header: string; source: string } | null;
  onMatch: OnMatch;
  /** Whether a row with nothing to compare is rejected, so that no row is ever created twice. */
  isRequired: boolean;
}

/**
 * How rows find records; null if every row is a new one. `headers` null means that more headers may follow.
 * @throws CliError if the flags contradict each other, or do not suit the resource
 */
export function readMatching(
  resource: Resource,
  request: ImportRequest,
  headers: readonly string[] | null,
): Matching | null {
  const { externalId: header, source, matchOn } = request;
  const isRequired = header !== null || matchOn.length > 0;
  if (isRequired || source !== null) refuse(resource, request);
  const policy = onDuplicateOf(request);
  if (policy === 'fail' || !hasExternalIds(resource)) return null;
  return {
    on: matchOn.length > 0 ? matchOn : null,
    externalId:
      header === null || source === null
        ? null
        : { header: headerNamed(header, headers, '--external-id'), source },
    onMatch: POLICIES[policy],
    isRequired,
  };
}

function refuse(resource: Resource, request: ImportRequest): void {
  const { externalId: header, source, matchOn, onDuplicate } = request;
  if (!hasExternalIds(resource)) {
    throw usageError(
      `${resource.name} do not have external IDs, and are not matched.`,
      importCommand({ ...request, externalId: null, source: null, matchOn: [] }),
    );
  }
  if (header === null && source !== null)
    throw usageError('--source needs --external-id.', "add the column of the IDs: --external-id 'Header'");
  if (header !== null && source === null) {
    throw usageError(
      '--external-id needs --source, a name for the system that the IDs are from.',
      importCommand({ ...request, source: 'other-crm' }),
    );
  }
  const [fault] = faultsOf({ source: source ?? 'x', id: 'x' }, { schema: externalIdSchema });
  if (fault !== undefined)
    throw usageError(`--source '${source}' ${fault.message}.`, 'use, for example, --source hubspot.');
  const known = [...(header === null ? [] : [EXTERNAL_ID]), ...Object.keys(resource.unique)];
  const [unknown] = matchOn.filter((name) => !known.includes(name));
  if (unknown === EXTERNAL_ID || known.length === 0) {
    throw usageError(
      `--match-on ${unknown} needs a column of external IDs.`,
      "add --external-id 'Header' --source NAME.",
    );
  }
  if (unknown !== undefined) {
    throw usageError(
      `${resource.name} are not matched on ${unknown}.`,
      `use ${known.map((name) => `--match-on ${name}`).join(' or ')}.`,
    );
  }
  if (onDuplicate === 'fail') {
    throw usageError(
      `--on-duplicate fail does not work with ${header === null ? '--match-on' : '--external-id'}.`,
      'use --on-duplicate update, fill or skip.',
    );
  }
}

/**
 * What a body needs to become that of an upsert; nothing if the row has nothing to compare.
 * @throws RowFault if it must have something to compare
 */
export function matchOf(resource: Resource, matching: Matching, body: Data, row: SourceRow): Data {
  const { on, externalId, onMatch, isRequired } = matching;
  const id = externalId === null ? '' : idIn(row, externalId.header);
  const own: Data =
    externalId === null || id === '' ? {} : { [EXTERNAL_ID]: { source: externalId.source, id } };
  const names = on ?? matchNames(resource);
  if (names.some((name) => (own[name] ?? body[name] ?? null) !== null))
    return { ...own, ...(on !== null && { match: [...on] }), on_match: onMatch };
  if (!isRequired) return {};
  const wanted = names.flatMap((name) => (name === EXTERNAL_ID ? (externalId?.header ?? []) : [name]));
  const message = `${wanted.length > 1 ? 'one of them is' : 'is'} needed to match the row`;
  throw new RowFault('VALIDATION_REQUIRED_FIELD', wanted.join(', '), message);
}

function idIn({ entries }: SourceRow, header: string): string {
  const value = entries.find(([name]) => name === header)?.[1] ?? '';
  return (typeof value === 'object' ? JSON.stringify(value) : String(value)).trim();
}
