// Notes: trees without cycles and with a bounded depth.

import type { ValidationCode } from '../../db/model/faults.ts';
import { NOTE_LEVELS_MAX, notes } from '../../db/model/resources/notes.ts';
import { formatCount } from '../../db/model/text.ts';
import { findHeight, findPaths, NOTES_BELOW_MAX } from '../../db/records/note-tree.ts';
import { hasCleared } from '../../db/records/undeletion.ts';
import { oncePerBatch } from './lookups.ts';
import type { Change, Rules } from './rules.ts';

export const noteRules: Rules = {
  // A note that moves changes the paths of those below it, and a new one can make its tree deeper.
  dependsOn({ current, input }, earlier) {
    const isPlaced = earlier.next.parent_id !== (earlier.current?.parent_id ?? null);
    return isPlaced && typeof input.parent_id === 'string' && (current ?? earlier.current) !== null;
  },
  async prepare(change) {
    const { id, current, input, faults } = change;
    const parentId = input.parent_id;
    if (typeof parentId !== 'string' || parentId === current?.parent_id) return;
    // If the key cannot see the parent, nothing else is reported about it.
    if (faults.some(({ path }) => path === 'parent_id')) return;
    const paths = await pathsOf(change);
    const path = paths.get(parentId) ?? [];
    if (path.includes(id))
      refuse(change, 'must not be the note itself or a note below it', 'VALIDATION_FAILED');
    else if (path.length >= NOTE_LEVELS_MAX) refuse(change, tooDeep(0));
    else if (current !== null) await refuseDeep(change, path.length, pathTo(current.parent_id, paths).length);
  },
  // A note whose parent is now below a note that comes back below it would close a cycle.
  async beforeUndelete({ db, access }, record, logged) {
    const { parent_id: parentId } = record;
    if (typeof parentId !== 'string') return;
    const path = (await findPaths(db, access.orgNumber, [parentId])).get(parentId) ?? [];
    const root = path.at(-1);
    const isLost = root === undefined || path.length >= NOTE_LEVELS_MAX;
    if (isLost || (await hasCleared(db, logged, notes, root))) record.parent_id = null;
  },
};

// What a parent may be for a note that has so many levels of notes below it.
function tooDeep(height: number): string {
  const level = NOTE_LEVELS_MAX - 1 - height;
  const where = level < 1 ? 'must be null' : `must be on level ${level}${level === 1 ? '' : ' or higher up'}`;
  const levels = height === 1 ? '1 level' : `${height} levels`;
  const below = height === 0 ? '' : `, and this note has ${levels} of notes below it`;
  return `${where}; notes can be nested ${NOTE_LEVELS_MAX} levels deep${below}`;
}

// The paths to all old and new parents of the changes.
const pathsOf = oncePerBatch(({ db, access }, batch) => {
  const parents = batch.flatMap(({ input, current }) => [input.parent_id, current?.parent_id]);
  return findPaths(db, access.orgNumber, [...new Set(parents.filter((id) => typeof id === 'string'))]);
});

function pathTo(id: unknown, paths: ReadonlyMap<string, string[]>): readonly string[] {
  return paths.get(String(id)) ?? [];
}

// Notes below a note move with it. A tree that is too deep already can still move up or sideways.
async function refuseDeep(change: Change, levelsAbove: number, levelsBefore: number): Promise<void> {
  if (levelsAbove <= levelsBefore) return;
  const { trx, access, id } = change;
  const height = await findHeight(trx, { orgNumber: access.orgNumber, id });
  if (height === undefined) {
    const count = formatCount(NOTES_BELOW_MAX);
    refuse(
      change,
      `must not be on a deeper level than now: the note has more than ${count} notes below it, too many to move down`,
    );
  } else if (levelsAbove + 1 + height > NOTE_LEVELS_MAX) refuse(change, tooDeep(height));
}

function refuse({ faults }: Change, message: string, code: ValidationCode = 'VALIDATION_OUT_OF_RANGE'): void {
  faults.push({ path: 'parent_id', message, code });
}
