// Who owns records: users are known by what they own, because the interface has no list of them.
import type { Data } from '../../db/model/json.ts';
import { findResource } from '../../db/model/resources/registry.ts';

const RECORDS_MAX = 200;
// As many as a condition may list.
const KNOWN_MAX = 100;
// A page can end early with nothing in it, where others own most of what there is.
const PAGES_MAX = 5;

/** A page of records, of which only the owners count. */
export interface OwnersPage {
  users: Data[];
  nextCursor: string | null;
}

/** The field of a resource that names the owner. */
export function ownerField(resource: string): string {
  return findResource(resource)?.owner ?? 'owner_id';
}

/** The owners of the newest records that belong to none of the users known; none if there are no others. */
export async function newOwners(
  resource: string,
  known: readonly string[],
  query: (body: Data) => Promise<OwnersPage>,
): Promise<Data[]> {
  const condition: Data = { is_null: false };
  if (known.length > 0) condition.not_in = known.slice(0, KNOWN_MAX);
  const filter: Data = { [ownerField(resource)]: condition };
  let cursor: string | null = null;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const body: Data = { filter, limit: RECORDS_MAX, fields: ['id'], include: ['owner'] };
    const { users, nextCursor } = await query(cursor === null ? body : { ...body, cursor });
    if (users.length > 0 || nextCursor === null) return users;
    cursor = nextCursor;
  }
  return [];
}
