// Notes: trees without cycles and with a bounded depth.

import type { ValidationCode } from '../../db/model/faults.ts';
import { NOTE_LEVELS_MAX, notes } from '../../db/model/resources/notes.ts';
import { formatCount } from '../../db/model/text.ts';
import { findHeight, findPaths, findRestoredHeight, NOTES_BELOW_MAX } from '../../db/records/note-tree.ts';
import { hasCleared } from '../../db/records/undeletion.ts';
import { validationError } from '../errors.ts';
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
  async beforeUndelete({ db, access }, record, logged) {
    const { parent_id: parentId } = record;
    let level = 1;
    if (typeof parentId === 'string') {
      const path = (await findPaths(db, access.orgNumber, [parentId])).get(parentId) ?? [];
      const root = path.at(-1);
      // A note whose parent is now below a note that comes back below it would close a cycle.
      if (root === undefined || (await hasCleared(db, logged, notes, root))) record.parent_id = null;
      else level = path.length + 1;
    }
    const height = await findRestoredHeight(db, logged);
    if (height !== undefined && level + height <= NOTE_LEVELS_MAX) return;
    const message =
      level + (height ?? 0) > NOTE_LEVELS_MAX ? tooDeepAgain(level, height ?? 0) : TOO_MANY_AGAIN;
    throw validationError([{ path: 'parent_id', message, code: 'VALIDATION_OUT_OF_RANGE' }]);
  },
};

const TOO_MANY_AGAIN =
  'cannot be checked: more notes would come back below this one than are examined; delete or move some of them first';

function tooDeepAgain(level: number, height: number): string {
  const where = level > NOTE_LEVELS_MAX ? `below level ${NOTE_LEVELS_MAX}` : `on level ${level}`;
  const below = height === 0 ? '' : `, with ${levelsOf(height)} of notes below it`;
  return `would put the note ${where}${below}; notes can be nested ${NOTE_LEVELS_MAX} levels deep, so move notes above or below it higher up first`;
}

function levelsOf(height: number): string {
  return height === 1 ? '1 level' : `${height} levels`;
}

// What a parent may be for a note that has so many levels of notes below it.
function tooDeep(height: number): string {
  const level = NOTE_LEVELS_MAX - 1 - height;
  const where = level < 1 ? 'must be null' : `must be on level ${level}${level === 1 ? '' : ' or higher up'}`;
  const below = height === 0 ? '' : `, and this note has ${levelsOf(height)} of notes below it`;
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
