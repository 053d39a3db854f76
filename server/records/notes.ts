// Notes: trees without cycles, and of a depth that can be looked through.

import type { ValidationCode } from '../../db/model/faults.ts';
import { NOTE_LEVELS_MAX } from '../../db/model/resources/notes.ts';
import { findHeight, findPaths, NOTES_BELOW_MAX } from '../../db/tables/note-tree.ts';
import { oncePerBatch } from './lookups.ts';
import type { Change, Rules } from './rules.ts';

export const noteRules: Rules = {
  async prepare(change) {
    const { id, current, input, faults } = change;
    const parentId = input.parent_id;
    if (typeof parentId !== 'string' || parentId === current?.parent_id) return;
    // Of a parent that is not there for the key nothing else is told.
    if (faults.some(({ path }) => path === 'parent_id')) return;
    const paths = await pathsOf(change);
    const path = paths.get(parentId) ?? [];
    if (path.includes(id))
      refuse(change, 'must not be the note itself or a note below it', 'VALIDATION_FAILED');
    else if (path.length >= NOTE_LEVELS_MAX) refuse(change, TOO_DEEP);
    else if (current !== null) await refuseDeep(change, path.length, pathTo(current.parent_id, paths).length);
  },
};

const TOO_DEEP = `must be at most ${NOTE_LEVELS_MAX - 1} notes deep; a note stands at most ${NOTE_LEVELS_MAX} deep`;

// The paths to all parents that the changes name, and to those that they leave.
const pathsOf = oncePerBatch(({ db, access }, batch) => {
  const parents = batch.flatMap(({ input, current }) => [input.parent_id, current?.parent_id]);
  return findPaths(db, access.orgId, [...new Set(parents.filter((id) => typeof id === 'string'))]);
});

function pathTo(id: unknown, paths: ReadonlyMap<string, string[]>): readonly string[] {
  return paths.get(String(id)) ?? [];
}

// What stands below a note goes with it. A tree that is deeper already may go up, and to the side.
async function refuseDeep(change: Change, levelsAbove: number, levelsBefore: number): Promise<void> {
  if (levelsAbove <= levelsBefore) return;
  const { trx, access, id } = change;
  const height = await findHeight(trx, { orgId: access.orgId, id });
  if (height === undefined) {
    const count = NOTES_BELOW_MAX.toLocaleString('en-US');
    refuse(
      change,
      `must not be deeper than now: more than ${count} notes stand below the note, too many to move down`,
    );
  } else if (levelsAbove + 1 + height > NOTE_LEVELS_MAX) {
    const levels = height === 1 ? '1 level' : `${height} levels`;
    refuse(change, `${TOO_DEEP}, and this one has ${levels} of notes below it`);
  }
}

function refuse({ faults }: Change, message: string, code: ValidationCode = 'VALIDATION_OUT_OF_RANGE'): void {
  faults.push({ path: 'parent_id', message, code });
}
