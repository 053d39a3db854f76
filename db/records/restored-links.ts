// Links of a deleted record are restored with it, and own fields of links that named it.

import { memoize } from '../cache.ts';
import type { RecordTrx, Trx } from '../engine/schema.ts';
import type { Link, Resource, Row } from '../model/resource.ts';
import { getLinkKind, type LinkKind } from '../model/resources/link-kinds.ts';
import { getResource } from '../model/resources/registry.ts';
import { inOrderOf } from '../tables/in-order.ts';
import type { KindLinkRow } from '../tables/link-lists.ts';
import { columnsTo } from './dependents.ts';
import {
  fillLinks,
  findLinkEnds,
  findLinks,
  insertLinks,
  type LinkEnd,
  type LinkWriting,
} from './link-batches.ts';
import type { CausedChange, Restoration } from './restoration.ts';
import type { Tie } from './ties.ts';

/** A link as the log has it. */
interface LoggedLink {
  kind: LinkKind;
  /** The resource of the child. */
  child: string;
  row: KindLinkRow;
}

/** Restores links that changes of the delete removed, as far as both ends exist, and the own fields that they cleared. */
export async function restoreLinks(
  trx: RecordTrx,
  resource: Resource,
  restoration: Restoration,
  changes: readonly CausedChange[],
): Promise<void> {
  const removed = changes.filter(({ action }) => action === 'unlinked').flatMap(loggedLink);
  const cleared = changes.filter(({ action }) => action === 'linked').flatMap(loggedLink);
  const ends = await findEnds(trx, resource, restoration, [...removed, ...cleared]);
  const { orgNumber, now, cause, id } = restoration;
  const writing: LinkWriting = { orgNumber, now, cause, end: (name, one) => ends.get(name)?.get(one) };
  for (const [kind, links] of Map.groupBy(removed, (link) => link.kind)) {
    const whole = links.filter(
      ({ child, row }) =>
        ends.get(kind.parent.name)?.has(row.parent_id) && ends.get(child)?.has(row.child_id),
    );
    const rows = whole.map(({ row }) => withoutLost(kind.link, row, ends));
    if (rows.length > 0) await insertLinks(trx, kind, writing, rows);
  }
  for (const [kind, links] of Map.groupBy(cleared, (link) => link.kind)) {
    const columns = columnsTo(resource, kind.link.fields);
    const ties = links.map(({ row }) => row);
    const existing = inOrderOf(ties.map(nameOf), await findLinks(trx, kind, orgNumber, ties), nameOf);
    await fillLinks(trx, kind, writing, { columns, value: id }, existing);
  }
}

const nameOf = ({ parent_id, child_id }: Tie) => `${parent_id} ${child_id}`;

function loggedLink({ resource, id, values }: CausedChange): LoggedLink[] {
  const { name, resource: child, id: childId, linked_at: linkedAt, fields = {} } = values;
  if (name === undefined || child === undefined || childId === undefined || linkedAt === undefined) return [];
  const kind = getLinkKind(`${resource.name}.${name}`);
  return [{ kind, child, row: { ...fields, parent_id: id, child_id: childId, linked_at: linkedAt } }];
}

type Ends = ReadonlyMap<string, ReadonlyMap<string, LinkEnd>>;

// The records that exist at the ends of links, and those that their own fields name, by resource.
async function findEnds(
  trx: Trx,
  resource: Resource,
  { orgNumber, row: restored }: Restoration,
  links: readonly LoggedLink[],
): Promise<Ends> {
  const wanted = new Map<string, Set<string>>();
  const want = (name: string, id: string) => {
    const ids = wanted.get(name);
    if (ids === undefined) wanted.set(name, new Set([id]));
    else ids.add(id);
  };
  for (const { kind, child, row } of links) {
    want(kind.parent.name, row.parent_id);
    want(child, row.child_id);
    for (const [name, target] of referencesOf(kind.link)) {
      const id = row[name];
      if (typeof id === 'string') want(target, id);
    }
  }
  const ends = new Map<string, Map<string, LinkEnd>>();
  for (const [name, ids] of wanted) {
    ids.delete(restored.id);
    const found = await findLinkEnds(trx, getResource(name), orgNumber, [...ids]);
    const own: LinkEnd[] = name === resource.name ? [restored] : [];
    ends.set(name, new Map([...own, ...found].map((end) => [end.id, end])));
  }
  return ends;
}

const referencesOf = memoize(({ fields }: Link): readonly (readonly [name: string, target: string])[] =>
  Object.entries(fields).flatMap(([name, { references = '' }]) =>
    references === '' ? [] : [[name, references] as const],
  ),
);

// Own fields that name a record which does not exist become null.
function withoutLost(link: Link, row: KindLinkRow, ends: Ends): KindLinkRow {
  const references = referencesOf(link);
  if (references.length === 0) return row;
  const kept: Row = {};
  for (const [name, target] of references) {
    const id = row[name];
    kept[name] = typeof id === 'string' && ends.get(target)?.has(id) ? id : null;
  }
  return { ...row, ...kept };
}
