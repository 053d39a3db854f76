// What the matrix is made of: every operation of both versions as the contract's rows have it, and who must not get through.
import { expect } from 'bun:test';
import { describedOperations } from '../../server/interface.ts';
import { ROWS, type Row } from '../support/endpoints.ts';
import { makeWorld, tracesOf, type World } from '../support/full-organization.ts';
import { type Harness, type Json, type Reply, startHarness } from '../support/harness.ts';
import { ABSENT } from '../support/v2.ts';

const NAME = /\{(\w+)\}/g;

/** Who has records that are hidden from the one who asks. */
export type Hidden = 'other organization' | 'other user';

export interface Fixture {
  harness: Harness;
  /** What the one who asks sees. */
  own: World;
  hidden: Record<Hidden, World>;
  /** The keys that ask, and to which it is hidden. */
  askers: Record<Hidden, { v1: string; v2: string }>;
}

/** The service with three worlds: alice's, in her organization; bob's, in the same; and that of another organization. */
export async function startFixture(): Promise<Fixture> {
  const harness = await startHarness();
  const { orgNumber, otherOrgNumber, alice, bob } = harness;
  const markOf = (whose: string) => `${whose}${crypto.randomUUID().replaceAll('-', '')}`;
  const aliceKey = (await harness.issue({ userId: alice })).key;
  const bobKey = (await harness.issue({ userId: bob })).key;
  const otherKey = (await harness.issue({ orgNumber: otherOrgNumber })).key;
  const own = { mark: markOf('own'), orgNumber, userId: alice, isUsers: true, v2: aliceKey };
  const bobs = { mark: markOf('bob'), orgNumber, userId: bob, isUsers: true, v2: bobKey };
  const stranger = await strangerOf(harness);
  const other = {
    mark: markOf('other'),
    orgNumber: otherOrgNumber,
    userId: stranger,
    isUsers: false,
    v2: otherKey,
  };
  const ownWorld = await makeWorld(harness, own);
  const body = { name: own.mark, stages: [{ name: own.mark }] };
  const pipeline = (await harness.send('POST', '/api/v2/pipelines', { body })).body.data;
  const organizations = { pipelines: pipeline.id, stages: pipeline.stages[0].id };
  return {
    harness,
    own: { ...ownWorld, ids: { ...ownWorld.ids, ...organizations } },
    hidden: {
      'other organization': await makeWorld(harness, other),
      'other user': await makeWorld(harness, bobs),
    },
    // Keys of version 1 see the whole organization.
    askers: {
      'other organization': { v1: harness.v1, v2: harness.v2 },
      'other user': { v1: '', v2: aliceKey },
    },
  };
}

async function strangerOf({ store, otherOrgNumber, clock }: Harness): Promise<string> {
  const { createUser } = await import('../../db/accounts/accounts.ts');
  const user = { orgNumber: otherOrgNumber, email: 'stranger@other.test', name: null, now: clock.now };
  return (await store.write('accounts', (trx) => createUser(trx, user))).id;
}

/** The rows, each an operation; with the download, which carries its own authority, they are all that there are. */
export function rowsOfAll(): Row[] {
  const shape = (path: string) => path.replaceAll(NAME, '{}').replace(/\?.*/, '');
  const known = new Set(ROWS.map(([method, path]) => `${method} ${shape(path)}`));
  const all = describedOperations().filter(({ admit }) => admit === undefined);
  expect(all.map(({ method, path }) => `${method} ${shape(path)}`).sort()).toEqual([...known].sort());
  return ROWS;
}

export const apiOf = ([, path]: Row): 'v1' | 'v2' => (path.startsWith('/api/v1') ? 'v1' : 'v2');

/** The names in a row's path, or in its body. */
export function namesIn(template = ''): string[] {
  return [...template.matchAll(NAME)].map(([, name = '']) => name);
}

/** The ids that a row is sent with: those of its path but the last, the last, and those of its body. */
export interface Ids {
  path: Readonly<Record<string, string>>;
  last?: Readonly<Record<string, string>>;
  body?: Readonly<Record<string, string>>;
}

let count = 0;

/** Sends a row with a key and the ids given, from an address that has not guessed yet unless said. */
export function sendRow(
  { harness }: Fixture,
  [method, path, , , body]: Row,
  key: string,
  ids: Ids,
  headers: Record<string, string> = {},
): Promise<Reply> {
  count += 1;
  const names = namesIn(path);
  const last = names.at(-1);
  const filledPath = path.replaceAll(
    NAME,
    (_, name) => (name === last ? (ids.last ?? ids.path) : ids.path)[name] ?? ABSENT,
  );
  const raw = body
    ?.replaceAll(NAME, (_, name) => (ids.body ?? ids.path)[name] ?? ABSENT)
    .replaceAll('$', `cell-${count}`);
  const from = { 'X-Test-Address': `cell-${count}`, ...headers };
  return harness.send(method, filledPath, { key, headers: from, ...(raw !== undefined && { raw }) });
}

/** Ids of nothing at all. */
export const NOTHING: Ids = { path: {} };

const VOLATILE = new Set(['x-request-id', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'date']);

/** All that a client sees of an answer, but what is another in each. */
export function shownOf({ status, headers, body, text }: Reply): Json {
  const kept = [...headers].filter(([name]) => !VOLATILE.has(name));
  const { meta: _, ...rest } = body ?? {};
  return { status, headers: kept, body: body === undefined ? text : rest };
}

/** Asserts that nothing of a world shows. */
export function expectNoTrace(reply: Reply, ...worlds: World[]): void {
  expect(worlds.flatMap((world) => tracesOf(world, reply))).toEqual([]);
}

/** Asserts that an answer is, to the byte, what one asks for who names nothing that there is; and that nothing shows. */
export function expectAlike(reply: Reply, absent: Reply, ...worlds: World[]): void {
  expect(shownOf(reply)).toEqual(shownOf(absent));
  expectNoTrace(reply, ...worlds);
}
