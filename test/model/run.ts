// An organization of its own for each run of the model-based test, and the run: requests one after another, then a look at everything.
import type fc from 'fast-check';
import { createOrganization, createUser } from '../../db/accounts/accounts.ts';
import { ChangeMirror, type Truth } from '../support/change-mirror.ts';
import type { Harness, Send } from '../support/harness.ts';
import { insertReadOnly } from '../support/read-only.ts';
import { clientOf } from '../support/v2.ts';
import { expectPages } from './answers.ts';
import type { Request } from './arbitraries.ts';
import { KINDS, listKind } from './bulk-links.ts';
import { listExternalIds } from './external-ids.ts';
import { COLLECTIONS, listLinked } from './links.ts';
import { type Real, take } from './steps.ts';
import { expectTimelines } from './timeline.ts';
import { type Actor, type Data, RESOURCES, World } from './world.ts';

/** One request as fast-check's model runner takes it. */
export class Step implements fc.AsyncCommand<World, Real> {
  readonly #request: Request;

  constructor(request: Request) {
    this.#request = request;
  }

  check(): boolean {
    return true;
  }

  async run(world: World, real: Real): Promise<void> {
    await take(world, real, this.#request);
    await expectMirrored(world, real);
  }

  toString(): string {
    return JSON.stringify(this.#request);
  }
}

/** Holds the copies of those who follow the feed against what they see. */
async function expectMirrored(world: World, { actors, mirrors }: Real): Promise<void> {
  for (const [index, mirror] of mirrors.entries()) {
    const actor = actors[index];
    if (actor === undefined) throw new Error('no such actor');
    await mirror.follow();
    await mirror.expectSame(seenBy(world, actor));
  }
}

function seenBy(world: World, actor: Actor): Truth {
  return {
    records: (resource) => world.seenBy(actor, resource).map((record) => world.show(actor, resource, record)),
    links: (kind) => KINDS.flatMap((one) => (one.name === kind ? listKind(world, actor, one, null) : [])),
  };
}

let runs = 0;

/** A fresh organization with two users, an organization-wide key and one of each user, and what integrations left. */
export async function startWorld(harness: Harness): Promise<{ model: World; real: Real }> {
  const { store, clock } = harness;
  runs += 1;
  const org = await store.write('accounts', (trx) => createOrganization(trx, `Model ${runs}`, clock.now));
  const orgNumber = org.number;
  const user = async (email: string) =>
    (
      await store.write('accounts', (trx) =>
        createUser(trx, { orgNumber, email, name: null, now: clock.now }),
      )
    ).id;
  const [alice, bob] = [await user('alice@x.example'), await user('bob@x.example')];
  const whole = await harness.issue({ orgNumber });
  const keys = [whole.key];
  for (const userId of [alice, bob]) keys.push((await harness.issue({ orgNumber, userId })).key);
  const actors: Actor[] = [
    { name: 'org', userId: null, principal: whole.id },
    { name: 'alice', userId: alice, principal: alice },
    { name: 'bob', userId: bob, principal: bob },
  ];
  const model = new World([alice, bob]);
  model.now = clock.now;
  const send: Send = async (method, path, input) => {
    const reply = await harness.send(method, path, input);
    const isRead = method === 'GET' || path.endsWith('/batch/get');
    if (!isRead && reply.status < 300) model.lastInstant = model.now;
    return reply;
  };
  const clients = keys.map((key) => clientOf({ ...harness, send }, key));
  const wait = (ms: number) => {
    clock.now += ms;
    return clock.now;
  };
  for (const pipeline of (await clients[0]?.list('/pipelines')) ?? [])
    model.table('pipelines').set(pipeline.id, pipeline);
  await addCalendar(harness, orgNumber, model);
  model.lastInstant = clock.now;
  // The organization, and one of its users.
  const mirrors = clients.slice(0, 2).map((client, index) => new ChangeMirror(client, index > 0));
  return { model, real: { actors, clients, mirrors, wait, log: [] } };
}

const person = (email: string) => ({ name: 'P', email });

// Meetings, recordings and bookings of either user and of nobody, whose people are contacts at times.
async function addCalendar(harness: Harness, orgNumber: number, model: World): Promise<void> {
  const where = { store: harness.store, clock: harness.clock, orgNumber };
  const madeAt = new Map<string, string>();
  const insert = async (resource: string, fields: Data): Promise<string> => {
    const id = await insertReadOnly(where, resource, fields);
    madeAt.set(id, new Date(harness.clock.now).toISOString());
    return id;
  };
  const owners = [...model.users, null];
  for (const [index, owner_id] of owners.entries()) {
    const start_time = index * 1_000;
    const attendees = [person('Ada@x.example'), person('cyd@y.example')];
    const meeting = await insert('meetings', { owner_id, start_time, attendees });
    const fields = { meeting_id: meeting, owner_id };
    const recording = await insert('recordings', { ...fields, has_transcript: index === 0 });
    const attendee = person('ada@x.example');
    const status = index === 0 ? 'booked' : 'cancelled';
    const booking = await insert('bookings', { ...fields, status, start_time, attendee });
    const add = (resource: string, id: string, more: Data) => {
      const at = madeAt.get(id);
      const record = { id, owner_id, created_by: 'integration', created_at: at, updated_at: at };
      model.table(resource).set(id, { external_id: null, title: null, ...record, ...more });
    };
    const times = { description: null, start_time, end_time: null, timezone: null, organizer: null };
    const none = { location: null, deal_id: null, company_id: null, status: 'confirmed' };
    add('meetings', meeting, { ...times, ...none, attendees, recording_ids: [recording] });
    const media = { transcript_url: null, recording_url: null, video_status: 'skipped' };
    const length = { started_at: null, duration_seconds: null };
    add('recordings', recording, { ...media, ...length, meeting_id: meeting, has_transcript: index === 0 });
    const rest = { guests: [], cancellation_reason: null, meeting_id: meeting };
    add('bookings', booking, { ...times, ...rest, status, attendee });
  }
}

/** Looks at everything that there is, as every actor. */
export async function compareAll(model: World, real: Real): Promise<void> {
  const request = { wait: 0, filters: {}, since: {}, sortBy: 'created_at', direction: 'asc', limit: 200 };
  for (const actor of real.actors.keys()) {
    for (const resource of RESOURCES) await take(model, real, { ...request, do: 'list', actor, resource });
  }
  const [org] = real.actors;
  const [client] = real.clients;
  if (org === undefined || client === undefined) return;
  for (const at of COLLECTIONS) {
    for (const parent of model.table(at.parent).keys()) {
      const path = `/${at.parent}/${parent}/${at.name}?limit=200`;
      await expectPages(client, path, 200, listLinked(model, org, at, parent) ?? []);
    }
  }
  for (const kind of KINDS)
    await expectPages(client, `/links?of=${kind.name}&limit=200`, 200, listKind(model, org, kind, null));
  await expectTimelines(model, real.actors, real.clients);
  const named = new Map(model.externalIds.map(({ resource, record }) => [record, resource]));
  for (const [record, resource] of named) {
    const path = `/${resource}/${record}/external_ids?limit=200`;
    await expectPages(client, path, 200, listExternalIds(model, org, resource, record) ?? []);
  }
}
