// Links and associations in the model.
import {
  type Actor,
  type Data,
  type Fault,
  type LinkRow,
  MISSING,
  type Outcome,
  refused,
  type World,
} from './world.ts';

export interface CollectionModel {
  parent: string;
  name: string;
  /** Field of the body that holds the child's id. */
  field: string;
  /** record_type → resource, where the body or the parent says it; else the one resource of children. */
  children: Record<string, string> | string;
  saysType: 'body' | 'parent' | null;
}

const PEOPLE_AND_FIRMS = { contact: 'contacts', company: 'companies' };

export const COLLECTIONS: CollectionModel[] = [
  { parent: 'deals', name: 'contacts', field: 'contact_id', children: 'contacts', saysType: null },
  { parent: 'deals', name: 'companies', field: 'company_id', children: 'companies', saysType: null },
  {
    parent: 'notes',
    name: 'records',
    field: 'record_id',
    children: { ...PEOPLE_AND_FIRMS, deal: 'deals' },
    saysType: 'body',
  },
  { parent: 'segments', name: 'members', field: 'record_id', children: PEOPLE_AND_FIRMS, saysType: 'parent' },
];

const nameOf = ({ parent, name }: CollectionModel) => `${parent}/${name}`;

/** The resource that a child of the parent is of; undefined if the body says none that there is. */
export function childResource(
  { children, saysType }: CollectionModel,
  parent: Data,
  body: Data,
): string | undefined {
  if (typeof children === 'string') return children;
  return children[saysType === 'body' ? body.record_type : parent.record_type];
}

/** What linking does. */
export function link(world: World, actor: Actor, at: CollectionModel, parentId: string, body: Data): Outcome {
  const wrong = linkFaults(at, body);
  if (wrong.length > 0) return refused(wrong);
  const parent = world.find(actor, at.parent, parentId);
  if (parent === undefined) return MISSING;
  const resource = childResource(at, parent, body) ?? '';
  const child = String(body[at.field]);
  const faults: Fault[] = [];
  const check = (path: string, name: string, id: unknown) => {
    if (world.find(actor, name, id) === undefined) faults.push({ path, code: 'VALIDATION_FAILED' });
  };
  check(at.field, resource, child);
  if ((body.supervisor ?? null) !== null) check('supervisor', 'contacts', body.supervisor);
  if (faults.length > 0) return refused(faults);
  let row = rowOf(world, at, parentId, child);
  row ??= note(world, at, { parent: parentId, child, resource, supervisor: body.supervisor ?? null });
  return { status: 200, data: item(world, actor, row) };
}

/** Adds a link that there is not yet. */
export function note(
  world: World,
  at: CollectionModel,
  { parent, child, resource, supervisor }: Data,
): LinkRow {
  const ends = { collection: nameOf(at), parent, child, childResource: resource };
  const row = { ...ends, supervisor, linkedAt: world.timestamp };
  world.links.push(row);
  return row;
}

function linkFaults(at: CollectionModel, body: Data): Fault[] {
  const allowed = [at.field, ...(at.saysType === 'body' ? ['record_type'] : [])];
  const faults: Fault[] = allowed
    .filter((path) => body[path] === undefined)
    .map((path) => ({ path, code: 'VALIDATION_REQUIRED_FIELD' }));
  const known = nameOf(at) === 'deals/contacts' ? [...allowed, 'supervisor'] : allowed;
  for (const path of Object.keys(body))
    if (!known.includes(path)) faults.push({ path, code: 'VALIDATION_FAILED' });
  return faults;
}

/** The link between two records. */
export function rowOf(world: World, at: CollectionModel, parent: string, child: string): LinkRow | undefined {
  return world.links.find(
    (row) => row.collection === nameOf(at) && row.parent === parent && row.child === child,
  );
}

function item(world: World, actor: Actor, row: LinkRow): Data {
  const { collection, child, childResource: resource, supervisor, linkedAt: linked_at } = row;
  if (collection === 'notes/records') {
    const record_type = { contacts: 'contact', companies: 'company', deals: 'deal' }[resource];
    return { record_type, record_id: child, linked_at };
  }
  const record = world.show(actor, resource, world.table(resource).get(child) ?? {});
  return collection === 'deals/contacts' ? { ...record, supervisor, linked_at } : { ...record, linked_at };
}

/** What unlinking does. */
export function unlink(
  world: World,
  actor: Actor,
  at: CollectionModel,
  parentId: string,
  child: string,
): Outcome {
  if (world.find(actor, at.parent, parentId) === undefined) return MISSING;
  const row = rowOf(world, at, parentId, child);
  if (row === undefined || world.find(actor, row.childResource, child) === undefined) return MISSING;
  world.links = world.links.filter((one) => one !== row);
  return { status: 204 };
}

/** What a list of linked records shows; undefined where the parent is not there. */
export function listLinked(
  world: World,
  actor: Actor,
  at: CollectionModel,
  parentId: string,
): Data[] | undefined {
  if (world.find(actor, at.parent, parentId) === undefined) return undefined;
  return world.childrenOf(actor, nameOf(at), parentId).map((row) => item(world, actor, row));
}

/** What setting (or, with null, clearing) the deal or company of a meeting does. */
export function associate(
  world: World,
  actor: Actor,
  meetingId: string,
  name: string,
  childId: string | null,
): Outcome {
  const meeting = world.find(actor, 'meetings', meetingId);
  if (meeting === undefined) return MISSING;
  const field = `${name}_id`;
  const resource = name === 'deal' ? 'deals' : 'companies';
  const child = childId === null ? undefined : world.find(actor, resource, childId);
  if (childId !== null && child === undefined) return refused([{ path: field, code: 'VALIDATION_FAILED' }]);
  if (meeting[field] !== childId) {
    Object.assign(meeting, { [field]: childId, updated_at: world.timestamp });
    world.associatedAt.set(`${name} ${meetingId}`, world.timestamp);
  }
  return child === undefined ? { status: 204 } : { status: 200, data: world.show(actor, resource, child) };
}

/** What reading the deal or company of a meeting answers. */
export function association(world: World, actor: Actor, meetingId: string, name: string): Outcome {
  const meeting = world.find(actor, 'meetings', meetingId);
  if (meeting === undefined) return MISSING;
  const resource = name === 'deal' ? 'deals' : 'companies';
  const child = world.find(actor, resource, meeting[`${name}_id`]);
  return { status: 200, data: child === undefined ? null : world.show(actor, resource, child) };
}
