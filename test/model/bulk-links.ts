// Links in bulk in the model: all links of a kind, and batches that link and unlink records of any kind.
import type { ItemOutcome } from './answers.ts';
import { associate, COLLECTIONS, type CollectionModel, childResource, note, rowOf, unlink } from './links.ts';
import { type Actor, type Data, type Fault, MISSING, refused, type World } from './world.ts';

/** A kind of link: a collection, or a field of meetings with the resource that it refers to. */
export type KindModel = { name: string; parent: string } & (
  | { at: CollectionModel }
  | { at: null; association: 'deal' | 'company'; child: string }
);

/** Every kind. */
export const KINDS: KindModel[] = [
  ...COLLECTIONS.map((at) => ({ name: `${at.parent}.${at.name}`, parent: at.parent, at })),
  ...(['deal', 'company'] as const).map((association) => ({
    name: `meetings.${association}`,
    parent: 'meetings',
    at: null,
    association,
    child: association === 'deal' ? 'deals' : 'companies',
  })),
];

/** What an item that links does. @param item all of it but its kind */
export function linkItem(world: World, actor: Actor, kind: KindModel, item: Data): ItemOutcome {
  const { parent_id, id, ...own } = item;
  const wrong = ownFaults(kind, own);
  if (wrong.length > 0) return refused(wrong);
  const parent = world.find(actor, kind.parent, parent_id);
  if (parent === undefined) return MISSING;
  const resource = kind.at === null ? kind.child : (childResource(kind.at, parent, own) ?? '');
  const faults: Fault[] = [];
  const check = (path: string, name: string, value: unknown) => {
    if (world.find(actor, name, value) === undefined) faults.push({ path, code: 'VALIDATION_FAILED' });
  };
  check('id', resource, id);
  if ((own.supervisor ?? null) !== null) check('supervisor', 'contacts', own.supervisor);
  if (faults.length > 0) return refused(faults);
  const data = () => shown(world, kind, parent_id, id);
  if (kind.at === null) {
    const isSame = parent[`${kind.association}_id`] === id;
    if (!isSame) associate(world, actor, parent_id, kind.association, id);
    return { done: isSame ? 'unchanged' : 'linked', data: data() };
  }
  const row = rowOf(world, kind.at, parent_id, id);
  if (row === undefined) {
    note(world, kind.at, { parent: parent_id, child: id, resource, supervisor: own.supervisor ?? null });
    return { done: 'linked', data: data() };
  }
  const isSame = own.supervisor === undefined || own.supervisor === row.supervisor;
  if (!isSame) row.supervisor = own.supervisor;
  return { done: isSame ? 'unchanged' : 'linked', data: data() };
}

function ownFaults({ at }: KindModel, own: Data): Fault[] {
  const isTyped = at?.saysType === 'body';
  const known = [...(isTyped ? ['record_type'] : []), ...(at?.name === 'contacts' ? ['supervisor'] : [])];
  const faults = Object.keys(own)
    .filter((path) => !known.includes(path))
    .map((path) => ({ path, code: 'VALIDATION_FAILED' }));
  if (isTyped && own.record_type === undefined)
    faults.push({ path: 'record_type', code: 'VALIDATION_REQUIRED_FIELD' });
  return faults;
}

/** What an item that unlinks does. */
export function unlinkItem(
  world: World,
  actor: Actor,
  kind: KindModel,
  { parent_id, id }: Data,
): ItemOutcome {
  if (kind.at !== null) {
    const outcome = unlink(world, actor, kind.at, parent_id, id);
    return outcome.status === 204 ? { done: 'unlinked' } : outcome;
  }
  const meeting = world.find(actor, 'meetings', parent_id);
  const isLinked = meeting?.[`${kind.association}_id`] === id && world.find(actor, kind.child, id);
  if (!isLinked) return MISSING;
  associate(world, actor, parent_id, kind.association, null);
  return { done: 'unlinked' };
}

/** All links of a kind whose two ends the actor sees, newest first. @param parents only of these; null for all */
export function listKind(world: World, actor: Actor, kind: KindModel, parents: string[] | null): Data[] {
  const pairs: [parent: string, child: string][] =
    kind.at === null
      ? world.records('meetings').map(({ id, [`${kind.association}_id`]: child }) => [id, child])
      : world.links
          .filter(({ collection }) => isOf(kind, collection))
          .map(({ parent, child }) => [parent, child]);
  const isSeen = ([parent, child]: [string, string]) => {
    const resource = kind.at === null ? kind.child : rowOf(world, kind.at, parent, child)?.childResource;
    const ends = [world.find(actor, kind.parent, parent), world.find(actor, resource ?? '', child)];
    return !ends.includes(undefined) && (parents === null || parents.includes(parent));
  };
  const place = ({ linked_at, parent_id, id }: Data) => `${linked_at} ${parent_id} ${id}`;
  return pairs
    .filter(([, child]) => child !== null)
    .filter(isSeen)
    .map(([parent, child]) => shown(world, kind, parent, child))
    .toSorted((a, b) => (place(a) < place(b) ? 1 : -1));
}

const isOf = ({ name }: KindModel, collection: string) => name === collection.replace('/', '.');

function shown(world: World, kind: KindModel, parent_id: string, id: string): Data {
  if (kind.at === null)
    return { parent_id, id, linked_at: world.associatedAt.get(`${kind.association} ${parent_id}`) };
  const row = rowOf(world, kind.at, parent_id, id);
  const { linkedAt: linked_at, supervisor = null, childResource: resource = '' } = row ?? {};
  const record_type = { contacts: 'contact', companies: 'company', deals: 'deal' }[resource];
  return {
    ...{ parent_id, id, linked_at },
    ...(kind.at.saysType === 'body' && { record_type }),
    ...(kind.at.name === 'contacts' && { supervisor }),
  };
}
