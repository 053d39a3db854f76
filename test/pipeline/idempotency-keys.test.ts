// Idempotency keys: what one looks like, whose it is, and what happens when two come at once.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { rotateKey } from '../../db/accounts/keys.ts';
import { expectRefusal } from '../support/envelope.ts';
import { type Harness, type Reply, startHarness } from '../support/harness.ts';
import { type Keyed, keyedOf, unique } from '../support/keyed-requests.ts';

let harness: Harness;
let keyed: Keyed['keyed'];
let totalOf: Keyed['totalOf'];
beforeAll(async () => {
  harness = await startHarness();
  ({ keyed, totalOf } = keyedOf(harness));
});
afterAll(() => harness.close());

describe('the form of a key', () => {
  const body = { first_name: 'A' };
  const taken = ['k', '!', '~', 'a/b?c=d&e;f,g"h', '0b7d3f0e-9a0f-4a4b-8a2a-8d8a7f9f3b11', 'x'.repeat(255)];
  for (const key of taken) {
    test(`${key.slice(0, 20)} is one`, async () => {
      expect((await keyed('POST', '/contacts', key, { body })).status).toBe(201);
      expect((await keyed('POST', '/contacts', key, { body })).headers.get('Idempotent-Replayed')).toBe(
        'true',
      );
    });
  }
  const refused = ['', 'a b', 'a\tb', 'x'.repeat(256), 'é', 'a, b'];
  for (const key of refused) {
    test(`${JSON.stringify(key.slice(0, 20))} is none`, async () => {
      for (const [method, path] of [
        ['POST', '/contacts'],
        ['PATCH', '/contacts/absent'],
        ['POST', '/contacts/batch'],
        ['POST', '/deals/absent/contacts'],
      ] as const) {
        const code = key.length > 255 ? 'VALIDATION_OUT_OF_RANGE' : 'VALIDATION_INVALID_FORMAT';
        expectRefusal(await keyed(method, path, key, { body }), 422, code, [['Idempotency-Key', code]]);
      }
    });
  }
});

describe('whose a key is', () => {
  const body = { first_name: 'A' };
  const replayed = async (key: string, apiKey: string) =>
    (await keyed('POST', '/contacts', key, { body, key: apiKey })).headers.get('Idempotent-Replayed');

  test('two keys of one user share theirs', async () => {
    const [a, b] = [
      await harness.issue({ userId: harness.alice }),
      await harness.issue({ userId: harness.alice }),
    ];
    const key = unique();
    expect(await replayed(key, a.key)).toBeNull();
    expect(await replayed(key, b.key)).toBe('true');
  });

  describe('an answer to one key of a user', () => {
    const READ = ['interactions:write', 'interactions:read'];
    const interaction = {
      ...{ type: 'MEMO', direction: 'INTERNAL', title: 'Secret', summary: 'Secret', primary_id: 'secret' },
      main_contact_email: 'of-two-keys@b.test',
    };
    const issue = async (scopes: readonly string[]) =>
      (await harness.issue({ userId: harness.alice, scopes: ['contacts:write', ...scopes] })).key;
    const ask = (key: string, apiKey: string, sent = interaction) =>
      keyed('POST', '/interactions', key, { body: sent, key: apiKey });
    const outcomeOf = ({ status, headers }: Reply) => [status, headers.get('Idempotent-Replayed')];

    const others: [string, string[], (string | number | null)[]][] = [
      ['the same scopes', READ, [201, 'true']],
      ['more scopes', [...READ, 'deals:read'], [201, 'true']],
      ['one scope less', ['interactions:write'], [409, null]],
      ['other scopes beside', ['interactions:write', 'deals:read', 'tasks:read'], [409, null]],
    ];
    for (const [name, scopes, outcome] of others) {
      test(`is ${outcome[0] === 409 ? 'not ' : ''}given to another with ${name}, whatever that sends`, async () => {
        const key = unique();
        const first = await ask(key, await issue(READ));
        expect(first.status).toBe(201);
        const other = await issue(scopes);
        const reply = await ask(key, other);
        expect(outcomeOf(reply)).toEqual(outcome);
        if (reply.status === 201) expect(reply.text).toBe(first.text);
        else expectRefusal(reply, 409, 'RESOURCE_CONFLICT', [['Idempotency-Key', 'RESOURCE_CONFLICT']]);
        expect(reply.status === 409 && reply.text.includes('Secret')).toBe(false);
        expect(reply.headers.get('X-RateLimit-Remaining')).not.toBeNull();
        // So that nobody learns by the status what was sent.
        const different = await ask(key, other, { ...interaction, title: 'Guess' });
        expect(different.status).toBe(reply.status === 409 ? 409 : 422);
      });
    }

    test('that an older crm stored is given to one that has every scope, and no other', async () => {
      const [narrow, whole] = [await issue(READ), (await harness.issue({ userId: harness.alice })).key];
      const key = unique();
      const first = await ask(key, narrow);
      await harness.store.write(harness.orgNumber, (trx) =>
        trx
          .updateTable('idempotency_keys')
          .set({ key_id: null, body_bytes: null, stored_bytes: null })
          .where('key', '=', key)
          .execute(),
      );
      expect(outcomeOf(await ask(key, narrow))).toEqual([409, null]);
      const reply = await ask(key, whole);
      expect([...outcomeOf(reply), reply.text]).toEqual([201, 'true', first.text]);
    });

    test('is given to an organization-wide one if it is its own, regardless of who stored it', async () => {
      const { key: apiKey } = await harness.issue({ scopes: ['contacts:write', ...READ] });
      const key = unique();
      expect((await ask(key, apiKey)).status).toBe(201);
      await harness.store.write(harness.orgNumber, (trx) =>
        trx.updateTable('idempotency_keys').set({ key_id: null }).where('key', '=', key).execute(),
      );
      expect(outcomeOf(await ask(key, apiKey))).toEqual([201, 'true']);
    });
  });

  test('the new secret of a rotated key is still that key', async () => {
    const { key: before, id } = await harness.issue();
    const row = { org_id: harness.orgNumber, id, prefix: 'service_live' } as never;
    const key = unique();
    expect(await replayed(key, before)).toBeNull();
    const rotated = await harness.store.write('accounts', (trx) => rotateKey(trx, row, 0, harness.clock.now));
    expect(await replayed(key, rotated.key)).toBe('true');
  });

  test('users, organization-wide keys and organizations do not', async () => {
    const callers = await Promise.all([
      harness.issue({ userId: harness.alice }),
      harness.issue({ userId: harness.bob }),
      harness.issue(),
      harness.issue(),
      harness.issue({ orgNumber: harness.otherOrgNumber }),
    ]);
    const key = unique();
    for (const { key: apiKey } of callers) expect(await replayed(key, apiKey)).toBeNull();
    for (const { key: apiKey } of callers) expect(await replayed(key, apiKey)).toBe('true');
  });
});

describe('at once', () => {
  test('the second waits and gets the answer of the first', async () => {
    const [key, phone] = [unique(), unique()];
    const send = () => keyed('POST', '/contacts', key, { body: { first_name: 'Twin', phone } });
    const replies = await Promise.all(Array.from({ length: 20 }, send));
    expect(new Set(replies.map((reply) => reply.text)).size).toBe(1);
    expect(replies.filter((reply) => reply.headers.has('Idempotent-Replayed'))).toHaveLength(19);
    expect(await totalOf(phone)).toBe(1);
  });

  test('only the first counts against the rate limit', async () => {
    const limited = await startHarness({ keyLimit: 2 });
    const input = { body: { first_name: 'A' }, headers: { 'Idempotency-Key': 'k' } };
    const send = () => limited.send('POST', '/api/v2/contacts', input);
    const replies = await Promise.all(Array.from({ length: 10 }, send));
    expect(new Set(replies.map((reply) => reply.status))).toEqual(new Set([201]));
    await limited.close();
  });

  test('with another body the second is refused', async () => {
    const key = unique();
    const bodies = [{ first_name: 'A' }, { first_name: 'B' }];
    const replies = await Promise.all(bodies.map((body) => keyed('POST', '/contacts', key, { body })));
    expect(replies.map((reply) => reply.status).toSorted()).toEqual([201, 422]);
  });

  test('when the first is refused, the second is executed', async () => {
    const key = unique();
    const [first, second] = await Promise.all([
      keyed('POST', '/contacts', key, { body: { company_id: 'absent', first_name: 'A' } }),
      keyed('POST', '/contacts', key, { body: { first_name: 'A' } }),
    ]);
    expect([first.status, second.status, second.headers.get('Idempotent-Replayed')]).toEqual([
      422,
      201,
      null,
    ]);
  });

  test('different keys do not wait for each other', async () => {
    const phone = unique();
    const keys = Array.from({ length: 30 }, unique);
    const body = { first_name: 'Many', phone };
    const replies = await Promise.all(keys.map((key) => keyed('POST', '/contacts', key, { body })));
    expect(new Set(replies.map((reply) => reply.body.data.id)).size).toBe(30);
  });
});
