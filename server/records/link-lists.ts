// All links of one kind that a key can see, and how they are shown.
import { instantText } from '../../db/model/instants.ts';
import type { Data } from '../../db/model/json.ts';
import type { LinkKind } from '../../db/model/resources/link-kinds.ts';
import { getResource } from '../../db/model/resources/registry.ts';
import { type KindLinkRow, listLinksOfKind } from '../../db/tables/link-lists.ts';
import { mayRead } from '../access.ts';
import type { ItemPage, ListPosition, PageRange } from './records.ts';
import type { Reader } from './rules.ts';

export interface KindPageRequest extends PageRange {
  /** Only the links of these parents; null for all. */
  parentIds: readonly string[] | null;
}

/** The links of a kind whose two ends the key can see, newest first. */
export async function listKind(
  { db, access }: Reader,
  kind: LinkKind,
  { parentIds, after, limit }: KindPageRequest,
): Promise<ItemPage> {
  const { link } = kind;
  const types = Object.keys(link.children);
  const readable = types.filter((type) => mayRead(access, getResource(link.children[type] ?? '')));
  const isLimited = link.typedBy === 'parent' && readable.length < types.length;
  const rows = await listLinksOfKind(db, kind, {
    ...{ orgNumber: access.orgNumber, ownerId: access.userId, parentIds, limit: limit + 1 },
    parentTypes: isLimited ? readable : null,
    after: after && positionOf(after),
  });
  const hasNextPage = rows.length > limit;
  if (hasNextPage) rows.pop();
  const items = rows.map((row) => showLink(kind, row));
  return { items, hasNextPage, placeAfter: (index) => placeOf(rows[index]) };
}

/** A link as responses show it. */
export function showLink({ link }: LinkKind, row: KindLinkRow): Data {
  const { parent_id, child_id, linked_at } = row;
  const shown: Data = { parent_id, id: child_id, linked_at: instantText(linked_at) };
  for (const name in link.fields) shown[name] = row[name] ?? null;
  return shown;
}

// IDs contain no spaces.
function placeOf(row: KindLinkRow | undefined): ListPosition {
  return { value: Number(row?.linked_at), id: `${row?.parent_id} ${row?.child_id}` };
}

function positionOf({ value, id }: ListPosition) {
  const [parentId = '', childId = ''] = id.split(' ');
  return { linkedAt: value, parentId, childId };
}
