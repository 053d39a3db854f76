// Interactions in the model: about whom, repeated or new, and what they move.
import type { Json } from '../support/harness.ts';
import { blank } from './fields.ts';
import { type Actor, type Data, type Fault, type Outcome, refused, type World } from './world.ts';

/**
 * Logs an interaction.
 * @param record the interaction without its contact
 * @param made what the service says it made, for the ids in it
 */
export function logInteraction(
  world: World,
  actor: Actor,
  record: Data,
  body: Data,
  faults: Fault[],
  made: Json,
): Outcome {
  const email = body.main_contact_email ?? null;
  const owner = email === null ? undefined : world.ownerOfEmail(email);
  if (owner !== undefined && !world.sees(actor, 'contacts', owner))
    faults.push({ path: 'main_contact_email', code: 'VALIDATION_FAILED' });
  if (faults.length > 0) return refused(faults);
  record.interaction_date ??= world.now;
  record.main_contact = body.main_contact ?? owner?.id ?? null;
  const existing = duplicateOf(world, actor, record, typeof body.interaction_date === 'number');
  if (existing !== undefined)
    return { status: 201, data: { ...world.show(actor, 'interactions', existing), is_duplicate: true } };
  record.main_contact ??= makeContact(world, actor, email, made?.main_contact);
  const contact = world.table('contacts').get(record.main_contact) ?? {};
  const company = world.table('companies').get(contact.company_id);
  const contactIds = new Set<string>([record.main_contact, ...record.contact_ids]);
  const companyIds = new Set<string>([...(company ? [company.id] : []), ...record.company_ids]);
  Object.assign(record, {
    id: made?.id,
    created_by: actor.principal,
    created_at: world.timestamp,
    updated_at: world.timestamp,
    contact_ids: [...contactIds].sort(),
    company_ids: [...companyIds].sort(),
  });
  for (const id of contactIds) moveForward(world, world.table('contacts').get(id), record.interaction_date);
  for (const id of companyIds) moveForward(world, world.table('companies').get(id), record.interaction_date);
  world.table('interactions').set(record.id, record);
  return { status: 201, data: { ...world.show(actor, 'interactions', record), is_duplicate: false } };
}

function duplicateOf(world: World, actor: Actor, record: Data, isDated: boolean): Data | undefined {
  const names =
    record.primary_id === null
      ? ['main_contact', 'type', 'direction', 'title', 'interaction_date']
      : ['type', 'primary_id', 'secondary_id'];
  if (record.primary_id === null && (!isDated || record.main_contact === null)) return undefined;
  return world
    .seenBy(actor, 'interactions')
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .find((other) => names.every((name) => other[name] === record[name]));
}

function makeContact(world: World, actor: Actor, email: Json, id: string): string {
  world.table('contacts').set(id, {
    ...blank('contacts'),
    id,
    email,
    owner_id: actor.userId,
    created_by: actor.principal,
    created_at: world.timestamp,
    updated_at: world.timestamp,
  });
  return id;
}

function moveForward(world: World, record: Data | undefined, date: number): void {
  if (record === undefined) return;
  if (record.last_interaction_at !== null && Date.parse(record.last_interaction_at) >= date) return;
  record.last_interaction_at = new Date(date).toISOString();
  record.updated_at = world.timestamp;
}
