// The isolation matrix: every operation, for all who must not get through, refused in the words of what does not exist.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { findKey, revokeKey } from '../../db/accounts/keys.ts';
import { V1_SCOPES, V2_SCOPES } from '../../db/model/resources/registry.ts';
import { scopesIn } from '../support/endpoints.ts';
import { expectRefusal, versionOf } from '../support/envelope.ts';
import { dumpOf } from '../support/full-organization.ts';
import type { Json, KeyOptions, Reply } from '../support/harness.ts';
import { ABSENT } from '../support/v2.ts';
import {
  apiOf,
  expectAlike,
  type Fixture,
  type Hidden,
  type Ids,
  NOTHING,
  namesIn,
  rowsOfAll,
  sendRow,
  startFixture,
} from './cells.ts';

let fixture: Fixture;
let before: unknown[];
beforeAll(async () => {
  fixture = await startFixture();
  before = await dumps();
});
afterAll(() => fixture.harness.close());

const dumps = () =>
  Promise.all([fixture.own, ...Object.values(fixture.hidden)].map((world) => dumpOf(fixture.harness, world)));

const FAR = { 'X-Test-Address': '198.51.100.9' };
type Refusal = [status: number, code: string, faults?: [path: string, code: string][]];

/** Keys that open nothing, each of the organization whose records are asked for. */
const REFUSED: Record<string, { refusal: Refusal; given?: KeyOptions; headers?: Record<string, string> }> = {
  revoked: { refusal: [401, 'AUTH_INVALID_API_KEY'] },
  expired: { refusal: [401, 'AUTH_EXPIRED_API_KEY'], given: { expiresAt: 1 } },
  'of the other version': { refusal: [401, 'AUTH_INVALID_API_KEY'] },
  'used from another address': {
    refusal: [403, 'OPERATION_FORBIDDEN', [['key.networks', 'OPERATION_FORBIDDEN']]],
    given: { networks: ['10.0.0.0/8'] },
    headers: FAR,
  },
};
const issued = new Map<string, Promise<string>>();

function refusedKey(kind: string, api: 'v1' | 'v2'): Promise<string> {
  const make = async () => {
    const { harness } = fixture;
    const version = kind === 'of the other version' ? (api === 'v1' ? 'v2' : 'v1') : api;
    const { key, id } = await harness.issue({ api: version, ...REFUSED[kind]?.given });
    if (kind !== 'revoked') return key;
    const row = await findKey(harness.store.read, id);
    if (row !== undefined)
      await harness.store.write('accounts', (trx) => revokeKey(trx, row, harness.clock.now));
    return key;
  };
  const known = issued.get(kind + api) ?? make();
  issued.set(kind + api, known);
  return known;
}

const ROWS = rowsOfAll();
const CELLS_MIN = 1_500;
let cells = 0;

for (const row of ROWS) {
  const [method, path] = row;
  const api = apiOf(row);
  describe(`${method} ${path}`, () => {
    for (const [kind, { refusal, headers }] of Object.entries(REFUSED)) {
      const [status, code, faults] = refusal;
      cells += 1;
      test(`with a key that is ${kind}`, async () => {
        const key = await refusedKey(kind, api);
        const reply = await sendRow(fixture, row, key, { path: fixture.own.ids }, headers);
        expectRefusal(reply, status, code, faults, versionOf(path));
        expectAlike(reply, await sendRow(fixture, row, key, NOTHING, headers), fixture.own);
      });
    }

    for (const scope of scopesIn(row)) {
      cells += 1;
      test(`with a key that lacks ${scope}`, async () => {
        const all = api === 'v1' ? V1_SCOPES.filter((one) => one !== 'ALL') : V2_SCOPES;
        const { key } = await fixture.harness.issue({ api, scopes: all.filter((one) => one !== scope) });
        const reply = await sendRow(fixture, row, key, { path: fixture.own.ids });
        expectRefusal(reply, 403, 'AUTH_INSUFFICIENT_SCOPE', undefined, versionOf(path));
        // Which scope a segment's members need shows once the segment is found, by one who may read it.
        const isMembers = path.endsWith('/segments/{segments}/members');
        // Likewise which scopes the key has that made a webhook.
        const isFoundFirst = (isMembers || path.includes('{webhooks}')) && scope === 'contacts:read';
        const { segments = '', webhooks = '' } = fixture.own.ids;
        const ids: Ids = isFoundFirst ? { path: { segments, webhooks } } : NOTHING;
        expectAlike(reply, await sendRow(fixture, row, key, ids), fixture.own);
      });
    }

    for (const whose of ['other organization', 'other user'] as const) {
      for (const [what, refuse] of hiddenTargets(row, whose)) {
        cells += 1;
        test(`naming a record of the ${whose} as ${what}`, () => refuse(row, whose));
      }
    }
  });
}

type Refuse = (row: (typeof ROWS)[number], whose: Hidden) => Promise<void>;

/** Where a row names records that may be somebody else's. */
function hiddenTargets([, path, , , body]: (typeof ROWS)[number], whose: Hidden): [what: string, Refuse][] {
  // Keys of version 1 see the whole organization, and pipelines are everybody's in it.
  const isShared = path.startsWith('/api/v1') || /pipelines\}/.test(`${path} ${body}`);
  if (whose === 'other user' && isShared) return [];
  const inPath = namesIn(path);
  const targets: [string, Refuse][] = [];
  if (inPath.length > 0) targets.push(['the one in the path', refuseInPath]);
  if (inPath.length > 1) targets.push(['the linked one in the path', refuseLinked]);
  if (namesIn(body).length > 0) targets.push(['the one in the body', refuseInBody]);
  return targets;
}

const ask = (row: (typeof ROWS)[number], whose: Hidden, ids: Ids): Promise<Reply> =>
  sendRow(fixture, row, fixture.askers[whose][apiOf(row)], ids);

const refuseInPath: Refuse = async (row, whose) => {
  const hidden = fixture.hidden[whose];
  const reply = await ask(row, whose, { path: hidden.ids, body: fixture.own.ids });
  expectRefusal(reply, 404, 'RESOURCE_NOT_FOUND', undefined, versionOf(row[1]));
  expectAlike(reply, await ask(row, whose, { path: {}, body: fixture.own.ids }), hidden);
};

const refuseLinked: Refuse = async (row, whose) => {
  const hidden = fixture.hidden[whose];
  const reply = await ask(row, whose, { path: fixture.own.ids, last: hidden.ids });
  expectRefusal(reply, 404, 'RESOURCE_NOT_FOUND', undefined, versionOf(row[1]));
  expectAlike(reply, await ask(row, whose, { path: fixture.own.ids, last: {} }), hidden);
};

const refuseInBody: Refuse = async (row, whose) => {
  const hidden = fixture.hidden[whose];
  const reply = await ask(row, whose, { path: fixture.own.ids, body: hidden.ids });
  const absent = await ask(row, whose, { path: fixture.own.ids, body: {} });
  if (row[3] === '200 batch') {
    const codes = reply.body.data.items.map((item: Json) => item.error?.code);
    expect([reply.status, ...new Set(codes)]).toEqual([200, 'RESOURCE_NOT_FOUND']);
    expectAlike(withoutSentIds(reply), withoutSentIds(absent), hidden);
    return;
  }
  expect([reply.status, reply.body.error?.code]).toEqual([422, 'VALIDATION_FAILED']);
  expectAlike(reply, absent, hidden);
};

// An item repeats the ID that was sent.
function withoutSentIds(reply: Reply): Reply {
  const body = structuredClone(reply.body);
  for (const item of body.data.items) delete item.id;
  return { ...reply, body, text: JSON.stringify(body) };
}

describe('HEAD tells no more than GET', () => {
  for (const [method, path, ...rest] of ROWS.filter(([method]) => method === 'GET')) {
    const row: (typeof ROWS)[number] = ['HEAD', path, ...rest];
    const api = apiOf(row);
    const expectBare = (reply: Reply, absent: Reply, status: number) => {
      expect([reply.status, reply.text]).toEqual([status, '']);
      expectAlike(reply, absent, fixture.own, ...Object.values(fixture.hidden));
    };

    for (const [kind, { refusal, headers }] of Object.entries(REFUSED)) {
      cells += 1;
      test(`${method} ${path} with a key that is ${kind}`, async () => {
        const key = await refusedKey(kind, api);
        const reply = await sendRow(fixture, row, key, { path: fixture.own.ids }, headers);
        expectBare(reply, await sendRow(fixture, row, key, NOTHING, headers), refusal[0]);
      });
    }

    for (const whose of ['other organization', 'other user'] as const) {
      if (hiddenTargets(row, whose).length === 0) continue;
      cells += 1;
      test(`${method} ${path} naming a record of the ${whose}`, async () => {
        expectBare(
          await ask(row, whose, { path: fixture.hidden[whose].ids }),
          await ask(row, whose, NOTHING),
          404,
        );
      });
    }
  }
});

test('the download of a transcript asks for no key, and opens nothing without its link', async () => {
  const { harness, own, hidden } = fixture;
  const worlds = [own, ...Object.values(hidden)];
  const { transcript_url: url } = (
    await harness.send('GET', `/api/v2/recordings/${own.ids.recordings}`, { key: own.v2 })
  ).body.data;
  const token = new URL(url).searchParams.get('token') ?? '';
  const others = worlds.slice(1).map(({ ids }) =>
    Buffer.from(
      Buffer.from(token, 'base64url')
        .toString('latin1')
        .replace(own.ids.recordings ?? '', ids.recordings ?? ''),
      'latin1',
    ).toString('base64url'),
  );
  for (const one of ['', 'x', token.slice(1), ...others]) {
    cells += 1;
    const reply = await harness.send('GET', `/api/v2/transcripts/download?token=${one}`, { key: null });
    expectRefusal(reply, 404, 'RESOURCE_NOT_FOUND');
    expectAlike(
      reply,
      await harness.send('GET', `/api/v2/transcripts/download?token=${ABSENT}`, { key: null }),
      ...worlds,
    );
  }
});

test('and nothing of what was hidden has changed', async () => {
  expect(await dumps()).toEqual(before as never);
  // So that none goes missing unseen.
  expect(cells).toBeGreaterThanOrEqual(CELLS_MIN);
});
