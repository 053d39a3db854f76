// What fixes the rows that were rejected for one reason: flags, and other flags that do.
import { clip } from '../../../db/model/text.ts';
import type { Plan } from '../plan/plan.ts';
import { type ImportRequest, onDuplicateOf } from '../request.ts';
import { likeliest, type Remedy, type RowReason, similar } from '../row.ts';
import { type SuggestedFlags, withSuggestedFlags } from '../suggested-flags.ts';

/** Rows that were rejected for the same reason. */
export interface RejectedRows {
  reason: RowReason;
  rows: number;
  firstLine: number;
  header: string | null;
  /** Whether the values are the IDs of the rows, and not the cells at fault. */
  isOfIds: boolean;
  /** Cells at fault, and how many rows have them. */
  values: Map<string, number>;
  /** Whether there are more values than are kept. */
  hasMore: boolean;
}

/** For each other way to fix some of the rows, all flags: those of the other rows with it. */
export function alternatives(mended: readonly Mended[]): SuggestedFlags[] {
  const ways = new Map(mended.flatMap(({ orElse = [] }) => orElse.map((way) => [JSON.stringify(way), way])));
  return [...ways].map(([text, way]) =>
    together(
      mended.flatMap(({ changes, orElse = [] }) =>
        orElse.some((one) => JSON.stringify(one) === text) ? [way] : (changes ?? []),
      ),
    ),
  );
}

/** The flags of several remedies together. */
export function together(all: readonly SuggestedFlags[]): SuggestedFlags {
  const lists = all.flatMap(({ mapValue = [] }) => mapValue);
  const maps = all.flatMap(({ map = [] }) => map);
  return {
    ...withSuggestedFlags({}, ...all),
    ...(lists.length > 0 && { mapValue: lists }),
    ...(maps.length > 0 && { map: maps }),
  };
}

/** The flags that fix the rows of a group, and other flags that do. */
export interface Mended {
  changes?: SuggestedFlags;
  orElse?: readonly SuggestedFlags[];
}

/** What fixes the rows of a group, if flags do. */
export function changesFor(group: RejectedRows, request: ImportRequest, plan: Plan): Mended {
  const { reason, header } = group;
  const { changes, orElse, choices }: Remedy = reason.remedy ?? {};
  if (choices !== undefined) return replacements(group, reason.remedy ?? {});
  const isUnique = Object.keys(plan.resource.unique).length > 0;
  if (reason.code === 'RESOURCE_CONFLICT' && isUnique && onDuplicateOf(request) === 'fail')
    return { changes: { onDuplicate: 'skip' }, orElse: [{ onDuplicate: 'update' }] };
  // The user wants to leave unknown columns out.
  if (changes?.custom && request.ignoreUnknown)
    return header === null ? {} : { changes: { map: [elsewhere(header, plan)] } };
  const others = orElse ?? unkept(group, request);
  return { ...(changes && { changes }), ...(others && { orElse: others }) };
}

/** Flags that leave out what cannot be kept as a custom field. */
function unkept(
  { reason: { path }, header }: RejectedRows,
  request: ImportRequest,
): SuggestedFlags[] | undefined {
  if (path.startsWith('custom.') && header !== null) return [{ map: [`${header}=-`] }];
  return path === 'custom' && request.custom ? [{ custom: false, ignoreUnknown: true }] : undefined;
}

/**
 * Other values for those that are wrong. Where nothing is like one of them, and the remedy has another way, that comes
 * first: a guess would put the rows in the wrong place.
 */
function replacements({ header, values, hasMore }: RejectedRows, remedy: Remedy): Mended {
  const { orElse = [] } = remedy;
  // A cell that is too long to be shown is too long for a command.
  const isShown = [...values.keys()].every((value) => clip(value) === value);
  if (header === null || hasMore || values.size === 0 || !isShown) return { orElse };
  const replaced = [...values.keys()].map((value) => [value, likeliest(value, remedy)] as const);
  // The flag is split at its last "=".
  const isSaid = replaced.every(([, choice]) => choice !== undefined && !choice.includes('='));
  if (!isSaid) return { orElse };
  const [other, ...others] = orElse;
  const mapped = (pairs: typeof replaced): string[] =>
    pairs.map(([value, choice]) => `${header}:${value}=${choice}`);
  const alike = replaced.filter(([value]) => similar(value, remedy) !== undefined);
  const all = { mapValue: mapped(replaced) };
  if (other === undefined || alike.length === replaced.length) return { changes: all, orElse };
  return {
    changes: { ...other, ...(alike.length > 0 && { mapValue: mapped(alike) }) },
    orElse: [all, ...others],
  };
}

/** The mapping that moves a column away from its field. */
export function elsewhere(header: string, { resource }: Pick<Plan, 'resource'>): string {
  const isKept = resource.fields.custom !== undefined && !header.includes('=');
  return `${header}=${isKept ? `custom.${header}` : '-'}`;
}
