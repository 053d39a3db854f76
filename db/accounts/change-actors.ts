// Who made changes: their keys, by the numbers in the log.

import type { Db } from '../engine/schema.ts';
import { findKeyByNumber } from './keys.ts';

/** Who made a change. */
export interface ChangeActor {
  /** The ID of the key. */
  id: string;
  /** The user that it is bound to. */
  userId: string | null;
}

/** The keys with these numbers in an organization. */
export async function findActors(
  db: Db,
  orgNumber: number,
  numbers: ReadonlySet<number>,
): Promise<Map<number, ChangeActor>> {
  const actors = new Map<number, ChangeActor>();
  const find = async (number: number) => {
    const key = await findKeyByNumber(db, orgNumber, number);
    if (key !== undefined)
      actors.set(number, { id: key.id, userId: key.access === 'user' ? key.user_id : null });
  };
  await Promise.all([...numbers].map(find));
  return actors;
}
