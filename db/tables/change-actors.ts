// Who made changes: their keys, by the numbers in the log.

import type { Db } from '../engine/schema.ts';
import { statement } from '../engine/statement.ts';

/** Who made a change. */
export interface ChangeActor {
  /** The ID of the key. */
  id: string;
  /** The user that it is bound to. */
  userId: string | null;
}

const keys = statement<{ id: string; access: string; user_id: string | null }>((db, param) =>
  db
    .selectFrom('api_keys')
    .select(['id', 'access', 'user_id'])
    .where('org_id', '=', param('org'))
    .where('number', '=', param('number')),
);

/** The keys with these numbers in an organization. */
export async function findActors(
  db: Db,
  orgNumber: number,
  numbers: ReadonlySet<number>,
): Promise<Map<number, ChangeActor>> {
  const actors = new Map<number, ChangeActor>();
  const find = async (number: number) => {
    const [key] = await keys(db, { org: orgNumber, number });
    if (key !== undefined)
      actors.set(number, { id: key.id, userId: key.access === 'user' ? key.user_id : null });
  };
  await Promise.all([...numbers].map(find));
  return actors;
}
