// Sends one request to the service and to the model, and holds the answers against each other.
import { expect } from 'bun:test';
import type { ChangeMirror } from '../support/change-mirror.ts';
import type { Json } from '../support/harness.ts';
import type { Client } from '../support/v2.ts';
import { expectOutcome, expectPages } from './answers.ts';
import type { Request } from './arbitraries.ts';
import { takeBatch, takeLinkBatch } from './batches.ts';
import type { Pick } from './bodies.ts';
import { KINDS, listKind } from './bulk-links.ts';
import { attach, detach, listExternalIds } from './external-ids.ts';
import { associate, association, COLLECTIONS, link, listLinked, unlink } from './links.ts';
import { list } from './lists.ts';
import { create, refusalToRemove, remove, update } from './records.ts';
import { type Place, resolve, resolveBody, resolveDeleted, resolveLink, resolveNamed } from './resolve.ts';
import { bury, seesHistory, undelete } from './undeletes.ts';
import { upsert } from './upserts.ts';
import { type Actor, type Data, MISSING, type Outcome, type World } from './world.ts';

/** The service, as each of the actors reaches it. */
export interface Real {
  actors: Actor[];
  clients: Client[];
  /** Copies of what the first of them see, which follow the feed of changes. */
  mirrors: ChangeMirror[];
  /** Turns the service's clock; gives what it then says, in Unix milliseconds. */
  wait(ms: number): number;
  /** What was sent, for the reader of a failure. */
  log: string[];
}

/** One request, sent by one actor. */
export interface Turn extends Place {
  real: Real;
  client: Client;
}

const READS: readonly Request['do'][] = [
  'history',
  'get',
  'list',
  'linked',
  'association',
  'attached',
  'kind',
];

const isRead = (request: Request) =>
  READS.includes(request.do) || (request.do === 'batch' && request.verb === 'get');

/** Does what a request says, in both. */
export async function take(world: World, real: Real, request: Request): Promise<void> {
  const actor = real.actors[request.actor];
  const client = real.clients[request.actor];
  if (actor === undefined || client === undefined) throw new Error('no such actor');
  if (request.do === 'attach' && request.externalIds.length > 1) {
    for (const one of request.externalIds) await take(world, real, { ...request, externalIds: [one] });
    return;
  }
  const clock = real.wait(request.wait);
  // A write's instant is later than that of any before; by the time it is sent the clock has gone on by one.
  world.now = isRead(request) ? clock : Math.max(clock + 1, world.lastInstant + 1);
  await perform({ world, real, actor, client }, request);
}

async function perform(turn: Turn, request: Request): Promise<void> {
  const { world, actor, client } = turn;
  const note = (text: string, body?: Json) =>
    void turn.real.log.push(`${actor.name} ${text} ${body === undefined ? '' : JSON.stringify(body)}`);
  const resolved = (pick: Pick) => resolve(turn, pick);
  switch (request.do) {
    case 'create': {
      const body = resolveBody(turn, request.body);
      note(`POST ${request.resource}`, body);
      const reply = await client.post(`/${request.resource}`, body);
      expectOutcome(reply, create(world, actor, request.resource, body, reply.body.data));
      return;
    }
    case 'upsert': {
      const body = resolveBody(turn, request.body);
      note(`POST ${request.resource}/upsert`, body);
      const reply = await client.post(`/${request.resource}/upsert`, body);
      const upserted = upsert({ world, actor, resource: request.resource }, body, reply.body.data);
      if ('status' in upserted) return expectOutcome(reply, upserted);
      const { outcome, data } = upserted;
      const status = outcome === 'created' ? 201 : 200;
      return expectOutcome(reply, { status, data: { ...data, outcome } });
    }
    case 'batch':
      return takeBatch(turn, request, note);
    case 'update': {
      const id = resolved(request.id);
      const body = resolveBody(turn, request.body, world.table(request.resource).get(id));
      note(`PATCH ${request.resource}/${id}`, body);
      const reply = await client.patch(`/${request.resource}/${id}`, body);
      expectOutcome(reply, update(world, actor, request.resource, id, body, reply.body.data));
      return;
    }
    case 'delete': {
      const id = resolved(request.id);
      note(`DELETE ${request.resource}/${id}`);
      const reply = await client.del(`/${request.resource}/${id}`);
      if (refusalToRemove(world, actor, request.resource, id) === null)
        bury(world, request.resource, new Set([id]));
      expectOutcome(reply, remove(world, actor, request.resource, id));
      return;
    }
    case 'undelete': {
      const id = resolveDeleted(turn, request.id);
      note(`POST ${request.resource}/${id}/undelete`);
      const reply = await client.post(`/${request.resource}/${id}/undelete`);
      expectOutcome(reply, undelete(world, actor, request.resource, id));
      return;
    }
    case 'history': {
      const id = (request.isOfDeleted ? resolveDeleted : resolve)(turn, request.id);
      const path = `/${request.resource}/${id}/history`;
      note(`GET ${path} by ${request.limit}`);
      if (!seesHistory(world, actor, request.resource, id))
        return expectOutcome(await client.get(path), MISSING);
      const mirror = turn.real.mirrors[request.actor];
      if (mirror === undefined) return expect((await client.get(path)).status).toBe(200);
      await mirror.follow();
      const expected = mirror.historyOf(request.resource, id);
      return expectPages(client, `${path}?limit=${request.limit}`, request.limit, expected);
    }
    case 'get': {
      const id = resolved(request.id);
      note(`GET ${request.resource}/${id}`);
      expectOutcome(await client.get(`/${request.resource}/${id}`), read(turn, request.resource, id));
      return;
    }
    case 'list':
      return takeList(turn, request, note);
    case 'associate':
    case 'association': {
      const path = `/meetings/${resolved(request.meeting)}/${request.name}`;
      const id = resolved(request.meeting);
      if (request.do === 'association') {
        note(`GET ${path}`);
        return expectOutcome(await client.get(path), association(world, actor, id, request.name));
      }
      const child = request.child === null ? null : resolved(request.child);
      note(`${child === null ? 'DELETE' : 'PUT'} ${path}`, child);
      const reply =
        child === null ? await client.del(path) : await client.put(path, { [`${request.name}_id`]: child });
      return expectOutcome(reply, associate(world, actor, id, request.name, child));
    }
    case 'links':
      return takeLinkBatch(turn, request, note);
    case 'kind': {
      const kind = KINDS[request.kind];
      if (kind === undefined) throw new Error('no such kind');
      const parents = request.parents?.map(resolved) ?? null;
      const only = (parents ?? []).map((id) => `&parent_id=${id}`).join('');
      const path = `/links?of=${kind.name}${only}&limit=${request.limit}`;
      note(`GET ${path}`);
      return expectPages(client, path, request.limit, listKind(world, actor, kind, parents));
    }
    case 'attach':
    case 'detach':
    case 'attached':
      return takeExternalId(turn, request, note);
    default:
      return takeLink(turn, request, note);
  }
}

/** Notes a request for the reader of a failure. */
export type Note = (text: string, body?: Json) => void;

type ExternalIdRequest = Extract<Request, { do: 'attach' | 'detach' | 'attached' }>;

async function takeExternalId(turn: Turn, request: ExternalIdRequest, note: Note): Promise<void> {
  const { world, actor, client } = turn;
  const { resource } = request;
  const id = request.do === 'attach' ? resolve(turn, request.id) : resolveNamed(turn, request.id);
  const path = `/${resource}/${id}/external_ids`;
  if (request.do === 'attach') {
    const [body = {}] = request.externalIds;
    note(`POST ${path}`, body);
    return expectOutcome(await client.post(path, body), attach(world, actor, { resource, id }, body));
  }
  if (request.do === 'detach') {
    note(`DELETE ${path}/${request.source}`);
    const reply = await client.del(`${path}/${request.source}`);
    return expectOutcome(reply, detach(world, actor, resource, id, request.source));
  }
  note(`GET ${path} by ${request.limit}`);
  const expected = listExternalIds(world, actor, resource, id);
  if (expected === undefined) return expectOutcome(await client.get(path), MISSING);
  await expectPages(client, `${path}?limit=${request.limit}`, request.limit, expected);
}

async function takeLink(
  turn: Turn,
  request: Extract<Request, { collection: number }>,
  note: Note,
): Promise<void> {
  const { world, actor, client } = turn;
  const at = COLLECTIONS[request.collection];
  if (at === undefined) throw new Error('no such collection');
  if (request.do === 'link') {
    const parent = resolve(turn, request.parent);
    const path = `/${at.parent}/${parent}/${at.name}`;
    const body = { ...resolveBody(turn, request.body), [at.field]: resolve(turn, request.child) };
    note(`POST ${path}`, body);
    return expectOutcome(await client.post(path, body), link(world, actor, at, parent, body));
  }
  const row = resolveLink(turn, `${at.parent}/${at.name}`, request.link);
  const parent = row?.parent ?? resolve(turn, request.parent);
  const path = `/${at.parent}/${parent}/${at.name}`;
  if (request.do === 'unlink') {
    const child = row?.child ?? 'absent';
    note(`DELETE ${path}/${child}`);
    return expectOutcome(await client.del(`${path}/${child}`), unlink(world, actor, at, parent, child));
  }
  note(`GET ${path} by ${request.limit}`);
  const expected = listLinked(world, actor, at, parent);
  if (expected === undefined) return expectOutcome(await client.get(path), MISSING);
  await expectPages(client, `${path}?limit=${request.limit}`, request.limit, expected);
}

async function takeList(turn: Turn, request: Extract<Request, { do: 'list' }>, note: Note): Promise<void> {
  const { world, actor, client } = turn;
  const { resource, sortBy, direction, limit } = request;
  const filters = resolveBody(turn, request.filters);
  const since: Data = {};
  for (const [name, pick] of Object.entries(request.since)) {
    const record = world.table(resource).get(resolve(turn, pick));
    since[name] = record === undefined ? world.now : Date.parse(record[name.replace('_since', '_at')]);
  }
  const query = new URLSearchParams({ sort_by: sortBy, sort_direction: direction, limit: String(limit) });
  for (const [name, value] of Object.entries({ ...filters, ...since })) query.set(name, String(value));
  note(`GET ${resource}?${query}`);
  const expected = list(world, actor, resource, { filters, since, sortBy, direction });
  await expectPages(client, `/${resource}?${query}`, limit, expected);
}

function read({ world, actor }: Turn, resource: string, id: string): Outcome {
  const record = world.find(actor, resource, id);
  return record === undefined ? MISSING : { status: 200, data: world.show(actor, resource, record) };
}
