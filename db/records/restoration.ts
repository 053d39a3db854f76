// A deleted record that is restored, and the changes that its delete caused.

import { CHANGE_ACTIONS, CHANGE_RESOURCES, type ChangeAction, type LinkValues } from '../changes/changes.ts';
import type { UpdateValues } from '../changes/logged-values.ts';
import type { ChangeRow } from '../engine/change-row.ts';
import type { RecordKey, RecordRow } from '../engine/schema.ts';
import type { Resource } from '../model/resource.ts';
import { getResource } from '../model/resources/registry.ts';
import { idOfBytes } from '../tables/id-bytes.ts';

/** A deleted record that was inserted again. */
export interface Restoration extends RecordKey {
  row: RecordRow;
  /** The sequence number of its delete. */
  sequence: number;
  /** The sequence number of the change that restores it. */
  cause: number;
  /** Unix milliseconds. */
  now: number;
}

/** A change that the delete of a record caused. */
export interface CausedChange {
  action: ChangeAction | undefined;
  resource: Resource;
  /** The record that it changed; of a link, the parent. */
  id: string;
  /** Those of its values that are not erased. */
  values: Partial<UpdateValues & LinkValues>;
}

/** The row of such a change, as far as it is read. */
export type LoggedEffect = Pick<ChangeRow, 'action' | 'resource' | 'record' | 'data'>;

/** Makes a function that reads changes which a delete caused, one after another; those with equal values share them. */
export function readEffects(): (row: LoggedEffect) => CausedChange {
  let last: { data: string; values: CausedChange['values'] } | null = null;
  const valuesOf = (data: string | null): CausedChange['values'] => {
    if (data === null) return {};
    if (last?.data !== data) last = { data, values: JSON.parse(data) as CausedChange['values'] };
    return last.values;
  };
  return ({ action, resource, record, data }) => ({
    action: CHANGE_ACTIONS[action],
    resource: getResource(CHANGE_RESOURCES[resource] ?? ''),
    id: idOfBytes(record),
    values: valuesOf(data),
  });
}
