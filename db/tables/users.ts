// Users, as records refer to them.

import { sql } from 'kysely';
import type { UserRow } from '../engine/schema.ts';
import { lookup } from '../engine/statement.ts';

/** The users with these IDs in the organization, in no order. */
export const findUsersById = lookup<UserRow>((db, param, isGiven) =>
  db
    .selectFrom('users')
    .selectAll()
    .where('org_id', '=', param('org'))
    .where(isGiven(sql.ref('id'))),
);
