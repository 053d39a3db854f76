// A rotation of the secret that signs: what was signed is accepted for its grace, by all that serve the database, and no longer.
import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test';
import { announceSigningSecret, findSigningSecrets, rotateSigningSecret } from '../../db/tables/settings.ts';
import { SECRETS_AGE_MS_MAX, Signing } from '../../server/signing/signing.ts';
import { expectRefusal, versionOf } from '../support/envelope.ts';
import { appOn, BASE_URL, type Harness, type Send, sender, startHarness } from '../support/harness.ts';
import { insertTranscribed } from '../support/read-only.ts';
import { TurnedClock } from '../support/wait-clock.ts';

const GRACE_MS = 60_000;
let harness: Harness;
let deal = '';
let recording = '';
let clock: TurnedClock;
beforeAll(async () => {
  clock = new TurnedClock();
  harness = await startHarness();
  const create = async (path: string, body: object) =>
    (await harness.send('POST', `/api/v2/${path}`, { body })).body.data.id;
  const contacts = [
    await create('contacts', { first_name: 'A' }),
    await create('contacts', { first_name: 'B' }),
  ];
  deal = await create('deals', { name: 'D' });
  for (const contact_id of contacts) await create(`deals/${deal}/contacts`, { contact_id });
  recording = await insertTranscribed(harness);
});
afterAll(async () => {
  await harness.close();
  clock[Symbol.dispose]();
});

const expireCachedSecrets = () => clock.skip(SECRETS_AGE_MS_MAX);
const announce = () => harness.store.write('accounts', announceSigningSecret);
const promote = (graceMs: number) =>
  harness.store.write('accounts', (trx) => rotateSigningSecret(trx, graceMs, harness.clock.now));

async function rotate(graceMs: number): Promise<void> {
  await announce();
  await promote(graceMs);
  expireCachedSecrets();
}

/** A further server of the same database, which has heard of nothing yet. */
async function newNode(): Promise<Send> {
  const app = await appOn(harness.store, harness.clock);
  return sender((request) => app.handle(request), harness);
}

/** Something that is signed: how to have it, and how to have it accepted. */
interface Signed {
  name: string;
  issue(send: Send): Promise<string>;
  accept(send: Send, signed: string): ReturnType<Send>;
}

const endOf = async (reply: ReturnType<Send>): Promise<string> => (await reply).body.page_info.end_cursor;
const SIGNED: Signed[] = [
  ...[() => '/api/v2/contacts', () => `/api/v2/deals/${deal}/contacts`].map((path, index): Signed => {
    return {
      name: index === 0 ? 'the cursor of a list' : 'the cursor of linked records',
      issue: (send) => endOf(send('GET', `${path()}?limit=1`)),
      accept: (send, cursor) => send('GET', `${path()}?limit=1&cursor=${cursor}`),
    };
  }),
  {
    name: 'the cursor of a query in v1',
    issue: (send) => endOf(send('POST', '/api/v1/people/query', { body: { limit: 1 } })),
    accept: (send, cursor) => send('POST', '/api/v1/people/query', { body: { limit: 1, cursor } }),
  },
  {
    name: 'the link to a transcript',
    issue: async (send) =>
      (await send('GET', `/api/v2/recordings/${recording}`)).body.data.transcript_url.replace(BASE_URL, ''),
    accept: (send, link) => send('GET', link, { key: null }),
  },
];

async function expectRefused({ name, accept }: Signed, signed: string): Promise<void> {
  const reply = await accept(harness.send, signed);
  if (name.includes('link to')) expectRefusal(reply, 404, 'RESOURCE_NOT_FOUND');
  else {
    const faults = [['cursor', 'VALIDATION_INVALID_FORMAT']] as [string, string][];
    const version = name.includes('v1') ? '1' : versionOf('/api/v2');
    expectRefusal(reply, 422, 'VALIDATION_INVALID_FORMAT', faults, version);
  }
}

describe.each(SIGNED.map((one): [string, Signed] => [one.name, one]))('%s', (_, one) => {
  const { issue, accept } = one;

  test('is accepted for its grace, and refused afterwards', async () => {
    const former = await issue(harness.send);
    await rotate(GRACE_MS);
    const later = await issue(harness.send);
    for (const signed of [former, later]) expect((await accept(harness.send, signed)).status).toBe(200);
    harness.clock.now += GRACE_MS / 2;
    expect((await accept(harness.send, former)).status).toBe(200);
    harness.clock.now += GRACE_MS / 2;
    await expectRefused(one, former);
    expect((await accept(harness.send, later)).status).toBe(200);
  });

  test('ends at once without one, and so do those of earlier rotations', async () => {
    const first = await issue(harness.send);
    await rotate(GRACE_MS);
    const second = await issue(harness.send);
    await rotate(0);
    for (const signed of [first, second]) await expectRefused(one, signed);
    expect((await accept(harness.send, await issue(harness.send))).status).toBe(200);
  });

  test('signed by a server that knows of it is accepted by one that has not heard of it', async () => {
    const slow = await newNode();
    await announce();
    // It looks here for the last time.
    expect((await slow('GET', '/api/v2/contacts')).status).toBe(200);
    await promote(0);
    const signed = await issue(await newNode());
    expect((await accept(slow, signed)).status).toBe(200);
    expireCachedSecrets();
  });
});

test('secrets are looked for where something is signed or checked, and nowhere else', async () => {
  const { id } = (await harness.send('POST', '/api/v2/contacts', { body: { first_name: 'C' } })).body.data;
  using refresh = spyOn(Signing.prototype, 'refresh');
  const looks = async (method: string, path: string, body?: object) => {
    refresh.mockClear();
    expect((await harness.send(method, path, { body })).status).toBeLessThan(300);
    return refresh.mock.calls.length;
  };
  expect(await looks('GET', '/api/v2/contacts')).toBe(1);
  expect(await looks('GET', `/api/v2/recordings/${recording}`)).toBe(1);
  expect(await looks('GET', `/api/v2/contacts/${id}`)).toBe(0);
  expect(await looks('POST', '/api/v2/contacts', { first_name: 'D' })).toBe(0);
  expect(await looks('PATCH', `/api/v2/contacts/${id}`, { title: 'E' })).toBe(0);
});

test('a rotation that was broken off is gone on with', async () => {
  await announce();
  const before = await findSigningSecrets(harness.store.read);
  await announce();
  expect(await findSigningSecrets(harness.store.read)).toEqual(before);
  await promote(0);
  expect(await findSigningSecrets(harness.store.read)).toEqual(before.slice(1));
  expect(promote(0)).rejects.toThrow();
});

test('a grace is not made longer by the next rotation, and what has ended is forgotten', async () => {
  const [former] = await findSigningSecrets(harness.store.read);
  const until = harness.clock.now + 1_000;
  await announce();
  await promote(1_000);
  await announce();
  await promote(GRACE_MS);
  const all = await findSigningSecrets(harness.store.read);
  expect(all.find(({ secret }) => secret === former?.secret)?.until).toBe(until);
  harness.clock.now += GRACE_MS;
  await announce();
  await promote(0);
  expect(await findSigningSecrets(harness.store.read)).toHaveLength(1);
});
