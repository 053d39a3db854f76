// Batches in the model: their items are carried out one after another, each as the request of a single record.
import type { Json } from '../support/harness.ts';
import { expectBatch, expectOutcome, type ItemOutcome } from './answers.ts';
import type { BatchItem, BatchVerb, Request } from './arbitraries.ts';
import { KINDS, linkItem, listKind, unlinkItem } from './bulk-links.ts';
import { create, refusalToRemove, remove, update } from './records.ts';
import { resolve, resolveBody } from './resolve.ts';
import type { Note, Turn } from './steps.ts';
import { bury } from './undeletes.ts';
import { upsert } from './upserts.ts';
import { type Data, MISSING, type Outcome } from './world.ts';

// One item in so many names what is not linked, as a rule.
const UNLINKED_EVERY = 5;

/** An item as it is sent. */
interface Item {
  id: string;
  body: Data;
}

interface Verb {
  path: string;
  /** Whether each item has the ID of its record. */
  isById: boolean;
  /** The item as it stands in the body of the request. */
  sent(item: Item): Json;
  /** What it does. @param answered what the service says of it */
  carryOut(turn: Turn, resource: string, item: Item, answered: Json): ItemOutcome;
}

const VERBS: Record<BatchVerb, Verb> = {
  create: {
    path: 'batch',
    isById: false,
    sent: ({ body }) => body,
    carryOut: ({ world, actor }, resource, { body }, answered) => {
      const outcome = create(world, actor, resource, body, answered);
      return done(outcome, 'created', 'data' in outcome ? shownInBatch(outcome.data) : null);
    },
  },
  update: {
    path: 'batch/update',
    isById: true,
    sent: ({ id, body }) => ({ ...body, id }),
    carryOut: ({ world, actor }, resource, { id, body }, answered) => {
      const before = world.table(resource).get(id);
      const outcome = update(world, actor, resource, id, body, answered);
      const isSame = Bun.deepEquals(before, world.table(resource).get(id));
      return done(outcome, isSame ? 'unchanged' : 'updated', 'data' in outcome ? outcome.data : null);
    },
  },
  upsert: {
    path: 'batch/upsert',
    isById: false,
    sent: ({ body }) => body,
    carryOut: ({ world, actor }, resource, { body }, answered) => {
      const upserted = upsert({ world, actor, resource }, body, answered);
      return 'status' in upserted ? upserted : { done: upserted.outcome, data: upserted.data };
    },
  },
  delete: {
    path: 'batch/delete',
    isById: true,
    sent: ({ id }) => id,
    carryOut: ({ world, actor }, resource, { id }) => done(remove(world, actor, resource, id), 'deleted'),
  },
  get: {
    path: 'batch/get',
    isById: true,
    sent: ({ id }) => id,
    carryOut: ({ world, actor }, resource, { id }) => {
      const record = world.find(actor, resource, id);
      return record === undefined ? MISSING : { done: 'found', data: world.show(actor, resource, record) };
    },
  },
};

function done(outcome: Outcome, status: string, data?: Json): ItemOutcome {
  if (outcome.status >= 300) return outcome;
  return { done: status, ...(data !== undefined && { data }) };
}

// A repeated import does not read back what it has sent.
function shownInBatch(data: Json): Json {
  return data.is_duplicate === true ? { id: data.id, is_duplicate: true } : data;
}

/** Sends a batch, and holds the answer against what the model makes of its items. */
export async function takeBatch(
  turn: Turn,
  { verb, resource, items }: Extract<Request, { do: 'batch' }>,
  note: Note,
): Promise<void> {
  const { path, isById, sent, carryOut } = VERBS[verb];
  const resolved = items.map((item: BatchItem): Item => {
    const id = resolve(turn, item.id);
    const current = verb !== 'update' ? undefined : turn.world.table(resource).get(id);
    return { id, body: resolveBody(turn, item.body, current) };
  });
  const body = resolved.map(sent);
  note(`POST ${resource}/${path}`, body);
  const reply = await turn.client.post(`/${resource}/${path}`, body);
  const { world, actor } = turn;
  if (verb === 'delete') {
    const ids = resolved.map(({ id }) => id);
    bury(world, resource, new Set(ids.filter((id) => refusalToRemove(world, actor, resource, id) === null)));
  }
  if (resource === 'pipelines' && turn.actor.userId !== null && verb !== 'get')
    return expectOutcome(reply, { status: 403 });
  const ids = isById ? resolved.map(({ id }) => id) : undefined;
  const outcome = (index: number, answered: Json) => {
    const item = resolved[index];
    if (item === undefined) throw new Error('an item that was not sent');
    return carryOut(turn, resource, item, answered);
  };
  expectBatch(reply, body.length, outcome, ids);
}

/** Sends a batch of links of any kind, and holds the answer against what the model makes of its items. */
export async function takeLinkBatch(
  turn: Turn,
  { verb, items }: Extract<Request, { do: 'links' }>,
  note: Note,
): Promise<void> {
  const { world, actor, client } = turn;
  const resolved = items.map((item) => {
    const kind = KINDS[item.kind];
    if (kind === undefined) throw new Error('no such kind');
    const pair = { parent_id: resolve(turn, item.parent), id: resolve(turn, item.child) };
    if (verb === 'link') return { kind, sent: { ...pair, ...resolveBody(turn, item.own) } };
    // Mostly one of those that there are.
    const links = listKind(world, { ...actor, userId: null }, kind, null);
    const { parent_id, id } = links[item.link % Math.max(1, links.length)] ?? pair;
    return { kind, sent: item.link % UNLINKED_EVERY === 0 ? pair : { parent_id, id } };
  });
  const path = verb === 'link' ? '/links/batch' : '/links/batch/delete';
  const body = resolved.map(({ kind, sent }) => ({ of: kind.name, ...sent }));
  note(`POST ${path}`, body);
  const carryOut = verb === 'link' ? linkItem : unlinkItem;
  expectBatch(await client.post(path, body), body.length, (index) => {
    const item = resolved[index];
    if (item === undefined) throw new Error('an item that was not sent');
    return carryOut(world, actor, item.kind, item.sent);
  });
}
