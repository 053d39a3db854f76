// Undeletes in the model: what is kept of deleted records, what of it comes back, and who sees the history of what.
import { fieldsOf } from './fields.ts';
import { conflictOf } from './records.ts';
import {
  type Actor,
  type Data,
  type ExternalIdRow,
  FORBIDDEN,
  type LinkRow,
  MISSING,
  type Outcome,
  RESOURCES,
  type World,
} from './world.ts';

/** A deleted record, and all that its delete took from others. */
export interface Grave {
  resource: string;
  record: Data;
  links: LinkRow[];
  /** The links that it supervised. */
  supervised: LinkRow[];
  externalIds: ExternalIdRow[];
  /** The fields of other records that named it. */
  references: { resource: string; id: string; field: string; associatedAt: string | undefined }[];
}

const LISTS = ['contact_ids', 'company_ids'];
const graveName = (resource: string, id: string) => `${resource} ${id}`;

/** Keeps what records of a resource, which are about to be deleted together, take with them. */
export function bury(world: World, resource: string, ids: ReadonlySet<string>): void {
  for (const id of ids) {
    const record = structuredClone(world.table(resource).get(id) ?? {});
    const links = world.links.filter(({ parent, child }) => parent === id || child === id);
    const supervised = world.links.filter(({ supervisor, child }) => supervisor === id && !ids.has(child));
    const references = RESOURCES.flatMap((name) =>
      world.records(name).flatMap((other) =>
        Object.entries(other)
          .filter(
            ([field, value]) =>
              field !== 'id' && !(name === resource && ids.has(other.id)) && names(value, id),
          )
          .map(([field]) => {
            const associatedAt = world.associatedAt.get(`${field.replace(/_id$/, '')} ${other.id}`);
            return { resource: name, id: other.id, field, associatedAt };
          }),
      ),
    );
    world.graves.set(graveName(resource, id), {
      ...{ resource, record, references },
      links: structuredClone(links),
      supervised: structuredClone(supervised),
      externalIds: world.externalIds.filter((row) => row.record === id),
    });
  }
}

function names(value: unknown, id: string): boolean {
  return value === id || (Array.isArray(value) && value.includes(id));
}

/** What an undelete does. */
export function undelete(world: World, actor: Actor, resource: string, id: string): Outcome {
  if (resource === 'pipelines' && actor.userId !== null) return FORBIDDEN;
  const grave = world.graves.get(graveName(resource, id));
  if (grave === undefined || world.table(resource).has(id)) return MISSING;
  if (!world.sees(actor, resource, grave.record)) return MISSING;
  const record = structuredClone(grave.record);
  const taken = conflictOf(world, actor, resource, id, record);
  if (taken !== null) return taken;
  const lost = clearLost(world, resource, record);
  if (lost !== null) return { status: 409, conflicts: [{ path: lost, location: null }] };
  if (resource === 'notes' && wouldClose(world, grave, record)) record.parent_id = null;
  record.updated_at = world.timestamp;
  world.table(resource).set(id, record);
  restoreTies(world, grave);
  for (const reference of grave.references) restoreReference(world, reference, id);
  return { status: 200, data: world.show(actor, resource, record) };
}

// The path of what the record cannot do without.
function clearLost(world: World, resource: string, record: Data): string | null {
  for (const [name, kind] of Object.entries(fieldsOf(resource))) {
    if (typeof kind !== 'object' || !('refersTo' in kind) || typeof record[name] !== 'string') continue;
    if (['users', 'stages'].includes(kind.refersTo) || world.table(kind.refersTo).has(record[name])) continue;
    if (kind.fixed === true) return name;
    record[name] = null;
  }
  if (resource !== 'deals') return null;
  const stages: Data[] = world.table('pipelines').get(record.pipeline_id)?.stages ?? [];
  const stage = stages.find((one) => one.id === record.stage_id);
  if (stage === undefined) return 'stage_id';
  if (stage.type === record.status) return null;
  record.status = stage.type;
  record.closed_at = stage.type === 'open' ? null : world.timestamp;
  return null;
}

// Whether the parent is by now below a note that comes back below this one.
function wouldClose(world: World, { references }: Grave, { parent_id }: Data): boolean {
  const notes = world.table('notes');
  let root = notes.get(parent_id);
  while (typeof root?.parent_id === 'string') root = notes.get(root.parent_id);
  return references.some(({ field, id }) => field === 'parent_id' && id === root?.id);
}

function restoreTies(world: World, { resource, record, links, supervised, externalIds }: Grave): void {
  for (const { source, id, ...rest } of externalIds) {
    const isFree = world.externalIds.every(
      (row) => row.resource !== resource || row.source !== source || row.id !== id,
    );
    if (isFree) world.externalIds.push({ source, id, ...rest });
  }
  for (const link of links) {
    const parents = link.collection.split('/')[0] ?? '';
    if (!world.table(parents).has(link.parent) || !world.table(link.childResource).has(link.child)) continue;
    const isKept = link.supervisor !== null && world.table('contacts').has(link.supervisor);
    world.links.push({ ...link, supervisor: isKept ? link.supervisor : null });
  }
  for (const { collection, parent, child } of supervised)
    for (const link of world.links)
      if (link.collection === collection && link.parent === parent && link.child === child)
        link.supervisor ??= record.id;
}

function restoreReference(
  world: World,
  { resource, id, field, associatedAt }: Grave['references'][number],
  restored: string,
): void {
  const other = world.table(resource).get(id);
  if (other === undefined) return;
  if (LISTS.includes(field)) {
    other[field] = [...new Set([...other[field], restored])].sort();
    return;
  }
  if (other[field] !== null) return;
  Object.assign(other, { [field]: restored, updated_at: world.timestamp });
  if (resource === 'meetings' && associatedAt !== undefined)
    world.associatedAt.set(`${field.replace(/_id$/, '')} ${id}`, associatedAt);
}

/** Whether the actor sees the history of a record: it sees the record, or saw it when it was deleted. */
export function seesHistory(world: World, actor: Actor, resource: string, id: string): boolean {
  if (world.table(resource).has(id)) return world.find(actor, resource, id) !== undefined;
  const grave = world.graves.get(graveName(resource, id));
  return grave !== undefined && world.sees(actor, resource, grave.record);
}

/** The deleted records of a resource. */
export function buried(world: World, resource: string): string[] {
  const graves = [...world.graves.values()].filter((grave) => grave.resource === resource);
  return graves.map(({ record }) => record.id).filter((id) => !world.table(resource).has(id));
}
