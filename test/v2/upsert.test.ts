// Upsert: finds a record by what identifies it and changes it, or creates one; every cell of match, options and visibility.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { V2_SCOPES } from '../../db/model/resources/registry.ts';
import { CHANGEABLE, CONTRACT } from '../support/contract.ts';
import { BASE_URL, type Harness, type Json, type Reply, startHarness } from '../support/harness.ts';
import { countedIn, recordTotalsOf, setQuota } from '../support/quota.ts';
import {
  type Client,
  clientOf,
  expectError,
  expectFault,
  minimalBody,
  uniqueEmail,
  wordsOf,
} from '../support/v2.ts';

let harness: Harness;
let api: Client;
let user: Client;
let stranger: Client;

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
  user = await api.withKey({ userId: harness.alice });
  stranger = await api.withKey({ orgNumber: harness.otherOrgNumber });
});
afterAll(() => harness.close());

let count = 0;
const unique = () => `u${++count}`;
const uniqueDomain = () => `${unique()}.upsert.example`;
const externalId = (source = 'src') => ({ source, id: unique() });
const at = () => new Date(harness.clock.now).toISOString();

async function upsert(resource: string, body: Json, client = api): Promise<Json> {
  const reply = await client.post(`/${resource}/upsert`, body);
  if (reply.status !== 200 && reply.status !== 201) throw new Error(reply.text);
  expect(reply.body.object).toBe('success');
  expect(reply.status).toBe(reply.body.data.outcome === 'created' ? 201 : 200);
  const location = reply.status === 201 ? `${BASE_URL}/api/v2/${resource}/${reply.body.data.id}` : null;
  expect(reply.headers.get('Location')).toBe(location);
  return reply.body.data;
}

/** The record of an answer, without what an upsert adds. */
function recordOf({ outcome: _, matched_by: __, ...record }: Json): Json {
  return record;
}

const attach = async (resource: string, id: string, external: Json, client = api) => {
  const reply = await client.post(`/${resource}/${id}/external_ids`, external);
  if (reply.status !== 200) throw new Error(reply.text);
};
const attached = async (resource: string, id: string): Promise<Json[]> =>
  (await api.list(`/${resource}/${id}/external_ids`)).map(({ source, id: one }) => ({ source, id: one }));

function expectConflict(
  reply: Reply,
  resource: string,
  path: string,
  message: string,
  existing: string | null,
) {
  expectError(reply, 409, 'RESOURCE_CONFLICT', path);
  const [detail] = reply.body.error.details;
  expect(detail).toEqual({
    ...{ path, message, code: 'RESOURCE_CONFLICT' },
    ...(existing !== null && { existing_id: existing }),
  });
  const location = existing === null ? null : `${BASE_URL}/api/v2/${resource}/${existing}`;
  expect(reply.headers.get('Location')).toBe(location);
}

/** What a record can be found by: a value of its own, and the field in which it is. */
const VALUES: Record<string, Record<string, () => Json>> = {
  ...Object.fromEntries(CHANGEABLE.map((name) => [name, { external_id: () => externalId() }])),
  contacts: { external_id: () => externalId(), email: uniqueEmail },
  companies: { external_id: () => externalId(), domain: uniqueDomain },
};
const OWNER: Record<string, string> = {
  ...{ contacts: 'owner_id', companies: 'owner_id', deals: 'owner_id', tasks: 'main_assignee_id' },
};
const FIELD: Record<string, string> = { notes: 'content', tasks: 'description', segments: 'description' };

describe('every cell of match, on_match, on_missing and visibility', () => {
  for (const resource of CHANGEABLE.filter((name) => name !== 'pipelines')) {
    for (const by of Object.keys(VALUES[resource] ?? {})) {
      for (const match of [undefined, [by]]) {
        for (const on_match of [undefined, 'update', 'fill', 'keep']) {
          for (const on_missing of [undefined, 'create', 'fail']) {
            const name = [resource, by, match && 'named', on_match, on_missing].filter(Boolean).join(', ');
            const options = {
              ...(match && { match }),
              ...(on_match && { on_match }),
              ...(on_missing && { on_missing }),
            };
            const field = FIELD[resource] ?? 'title';
            const empty = resource === 'deals' ? 'currency' : resource === 'companies' ? 'city' : field;
            const value = empty === 'currency' ? 'EUR' : 'New';
            const newValue = () => VALUES[resource]?.[by]?.();
            /** A record that has the value. */
            const holder = async (found: Json, client: Client, own: Json = {}) => {
              const given = by === 'external_id' ? {} : { [by]: found };
              const record = await client.create(resource, { ...minimalBody(resource), ...given, ...own });
              if (by === 'external_id') await attach(resource, record.id, found, client);
              return record;
            };
            const send = (found: Json, client = user) =>
              client.post(`/${resource}/upsert`, {
                ...{ ...minimalBody(resource), [by]: found, [empty]: value },
                ...options,
              });

            test(`${name}: absent`, async () => {
              const found = newValue();
              await holder(found, stranger);
              const reply = await send(found);
              if (on_missing === 'fail') {
                expectError(reply, 404, 'RESOURCE_NOT_FOUND');
                return;
              }
              expect(reply.status).toBe(201);
              const { data } = reply.body;
              expect(data).toMatchObject({ outcome: 'created', matched_by: null, [empty]: value });
              expect(await user.fetch(resource, data.id)).toEqual(recordOf(data));
              if (OWNER[resource]) expect(data[OWNER[resource]]).toBe(harness.alice);
              if (by === 'external_id') expect(await attached(resource, data.id)).toEqual([found]);
            });

            test(`${name}: visible`, async () => {
              const found = newValue();
              const record = await holder(found, user);
              harness.clock.now += 1_000;
              const data = (await send(found)).body.data;
              const isWritten = on_match !== 'keep';
              expect(data).toEqual({
                ...record,
                ...(isWritten && { [empty]: value, updated_at: at() }),
                ...{ outcome: isWritten ? 'updated' : 'unchanged', matched_by: by },
              });
              expect(await user.fetch(resource, record.id)).toEqual(recordOf(data));
              const again = (await send(found)).body.data;
              expect(again).toEqual({ ...data, outcome: 'unchanged' });
            });

            test(`${name}: hidden`, async () => {
              const found = newValue();
              const bob = clientOf(harness, await bobsKey());
              const record = await holder(found, bob);
              const reply = await send(found);
              if (on_missing === 'fail') {
                expect(wordsOf(reply)).toEqual(wordsOf(await send(newValue())));
                expectError(reply, 404, 'RESOURCE_NOT_FOUND');
              } else if (by === 'external_id') {
                const message = `another ${CONTRACT[resource]?.singular} has this external ID`;
                expectConflict(reply, resource, by, message, null);
              } else {
                expectConflict(reply, resource, by, reply.body.error.details[0].message, null);
                const create = await user.post(`/${resource}`, { [by]: found });
                expect(wordsOf(reply)).toEqual(wordsOf(create));
              }
              expect(await api.fetch(resource, record.id)).toEqual(record);
            });
          }
        }
      }
    }
  }
});

let bob: Promise<string> | undefined;
function bobsKey(): Promise<string> {
  bob ??= harness.issue({ userId: harness.bob }).then(({ key }) => key);
  return bob;
}

describe('match', () => {
  test('by default takes external_id, then what is unique, of those that the body has', async () => {
    const [first, second] = [externalId(), uniqueEmail()];
    const byId = await upsert('contacts', { first_name: 'A', external_id: first });
    const byEmail = await upsert('contacts', { email: second });
    expect(await upsert('contacts', { external_id: first, title: 'T' })).toMatchObject({
      ...{ id: byId.id, matched_by: 'external_id' },
    });
    expect(await upsert('contacts', { external_id: null, email: second })).toMatchObject({
      ...{ id: byEmail.id, matched_by: 'email' },
    });
    expect(await upsert('contacts', { external_id: externalId(), email: second })).toMatchObject({
      ...{ id: byEmail.id, matched_by: 'email', outcome: 'updated' },
    });
    const company = await upsert('companies', { domain: 'match.upsert.example' });
    const again = await upsert('companies', { domain: 'https://www.MATCH.upsert.example/x', name: 'N' });
    expect(again).toMatchObject({ id: company.id, matched_by: 'domain', name: 'N', domain: company.domain });
  });

  test('goes in the order in which it names, and the first that finds one decides', async () => {
    const [external, email] = [externalId(), uniqueEmail()];
    const one = await upsert('contacts', { first_name: 'A', external_id: external });
    const two = await upsert('contacts', { email });
    const keep = { external_id: external, email, on_match: 'keep' };
    const first = await upsert('contacts', { ...keep, match: ['external_id', 'email'] });
    expect(first).toEqual({ ...one, outcome: 'unchanged', matched_by: 'external_id' });
    // The external ID is another record's, whichever finds the record.
    const reply = await api.post('/contacts/upsert', { ...keep, match: ['email', 'external_id'] });
    expectConflict(reply, 'contacts', 'external_id', 'another contact has this external ID', one.id);
    expect(await attached('contacts', two.id)).toEqual([]);
  });

  test('passes over what the body lacks', async () => {
    const email = uniqueEmail();
    const { id } = await upsert('contacts', { email });
    const found = await upsert('contacts', { email, match: ['external_id', 'email'] });
    expect(found).toMatchObject({ id, outcome: 'unchanged', matched_by: 'email' });
    expect(
      await upsert('contacts', { email, external_id: null, match: ['external_id', 'email'] }),
    ).toMatchObject({
      ...{ id, matched_by: 'email' },
    });
  });

  test('that leaves nothing to find a record by is refused', async () => {
    const external_id = externalId();
    for (const [resource, body] of [
      ['contacts', {}],
      ['contacts', { first_name: 'A' }],
      ['contacts', { email: null, external_id: null }],
      ['contacts', { alt_emails: [uniqueEmail()] }],
      ['contacts', { email: uniqueEmail(), match: [] }],
      ['contacts', { email: uniqueEmail(), match: ['external_id'] }],
      ['contacts', { external_id, match: ['email'] }],
      ['companies', { name: 'N' }],
      ['deals', { name: 'D' }],
      ['pipelines', { name: 'P' }],
      ['notes', { title: 'N', external_id, match: [] }],
    ] as const)
      expectFault(await api.post(`/${resource}/upsert`, body), 'VALIDATION_REQUIRED_FIELD', 'match');
  });

  test('names only what identifies such a record', async () => {
    const external_id = externalId();
    for (const [resource, name] of [
      ['contacts', 'domain'],
      ['contacts', 'id'],
      ['companies', 'email'],
      ['companies', 'name'],
      ['deals', 'name'],
      ['segments', 'email'],
    ] as const) {
      const reply = await api.post(`/${resource}/upsert`, { external_id, match: ['external_id', name] });
      expectFault(reply, 'VALIDATION_FAILED', 'match.1');
      expect(reply.body.error.details[0].message).toStartWith('must be one of: external_id');
    }
  });

  test('a value of another record, which match does not name, is refused as in a create', async () => {
    const [email, external_id] = [uniqueEmail(), externalId()];
    const holder = await upsert('contacts', { email, external_id });
    const byId = await api.post('/contacts/upsert', {
      email,
      external_id: externalId('other'),
      match: ['external_id'],
    });
    expectConflict(byId, 'contacts', 'email', 'another contact has this email', holder.id);
    const byEmail = await api.post('/contacts/upsert', {
      email: uniqueEmail(),
      external_id,
      match: ['email'],
    });
    expectConflict(byEmail, 'contacts', 'external_id', 'another contact has this external ID', holder.id);
  });

  test('a value of another record conflicts with the one found, hidden or not', async () => {
    const [email, external_id, taken, hidden] = [uniqueEmail(), externalId(), uniqueEmail(), uniqueEmail()];
    const mine = await upsert('contacts', { email, external_id }, user);
    const other = await user.create('contacts', { email: taken });
    await api.create('contacts', { email: hidden, owner_id: harness.bob });
    const message = 'another contact has this email';
    const send = (one: string, more: Json = {}) =>
      user.post('/contacts/upsert', { external_id, email: one, ...more });
    expectConflict(await send(taken), 'contacts', 'email', message, other.id);
    expectConflict(await send(hidden), 'contacts', 'email', message, null);
    for (const on_match of ['fill', 'keep'])
      expect((await send(taken, { on_match })).body.data).toEqual({
        ...recordOf(mine),
        ...{ outcome: 'unchanged', matched_by: 'external_id' },
      });
    expect(await user.fetch('contacts', mine.id)).toEqual(recordOf(mine));
  });

  test('a key without read learns no ID from a conflict', async () => {
    const [email, external_id] = [uniqueEmail(), externalId()];
    await upsert('contacts', { email });
    await upsert('contacts', { first_name: 'B', external_id });
    const writer = await api.withKey({ scopes: ['contacts:write'] });
    const reply = await writer.post('/contacts/upsert', { email, external_id });
    expectConflict(reply, 'contacts', 'email', 'another contact has this email', null);
  });
});

describe('external_id', () => {
  test('is a source and an id, compared exactly', async () => {
    const bad: [Json, string, string][] = [
      [{ id: '1' }, 'external_id.source', 'VALIDATION_REQUIRED_FIELD'],
      [{ source: 's' }, 'external_id.id', 'VALIDATION_REQUIRED_FIELD'],
      [{ source: 'S', id: '1' }, 'external_id.source', 'VALIDATION_INVALID_FORMAT'],
      [{ source: 's'.repeat(65), id: '1' }, 'external_id.source', 'VALIDATION_OUT_OF_RANGE'],
      [{ source: 's', id: 'x'.repeat(256) }, 'external_id.id', 'VALIDATION_OUT_OF_RANGE'],
      [{ source: 's', id: 5 }, 'external_id.id', 'VALIDATION_FAILED'],
      [{ source: 's', id: '1', more: 1 }, 'external_id.more', 'VALIDATION_FAILED'],
      ['s:1', 'external_id', 'VALIDATION_FAILED'],
    ];
    for (const [external_id, path, code] of bad) {
      const reply = await api.post('/deals/upsert', { name: 'D', external_id });
      expect(reply.status).toBe(422);
      expect(reply.body.error.details).toContainEqual({ path, message: expect.any(String), code });
    }
    const id = 'Ab:c';
    const one = await upsert('deals', { name: 'D', external_id: { source: 'a.b_c-1', id } });
    const two = await upsert('deals', { name: 'D', external_id: { source: 'a.b_c-1', id: 'ab:c' } });
    expect(two.id).not.toBe(one.id);
    expect((await upsert('deals', { external_id: { source: 'a.b_c-1', id } })).id).toBe(one.id);
  });

  test('one resource does not find by the external IDs of another', async () => {
    const external_id = externalId();
    const deal = await upsert('deals', { name: 'D', external_id });
    expect((await upsert('tasks', { name: 'T', external_id })).outcome).toBe('created');
    expect((await upsert('deals', { external_id })).id).toBe(deal.id);
  });

  test('a new one is added by all three, which is an update that leaves updated_at', async () => {
    for (const on_match of ['update', 'fill', 'keep']) {
      const email = uniqueEmail();
      const contact = await api.create('contacts', { email, first_name: 'A' });
      harness.clock.now += 1_000;
      const external_id = externalId();
      const body = { email, external_id, on_match, ...(on_match === 'keep' && { first_name: 'B' }) };
      expect(await upsert('contacts', body)).toEqual({
        ...contact,
        ...{ outcome: 'updated', matched_by: 'email' },
      });
      expect(await attached('contacts', contact.id)).toEqual([external_id]);
      expect(await upsert('contacts', body)).toMatchObject({
        outcome: 'unchanged',
        matched_by: 'external_id',
      });
      expect(await api.fetch('contacts', contact.id)).toEqual(contact);
    }
  });

  test('another of a source that the record has is refused, and nothing is written', async () => {
    const email = uniqueEmail();
    const contact = await upsert('contacts', { email, external_id: externalId('one') });
    for (const on_match of ['update', 'fill', 'keep']) {
      const reply = await api.post('/contacts/upsert', {
        ...{ email, title: 'T', external_id: externalId('one'), on_match },
      });
      expectError(reply, 409, 'RESOURCE_CONFLICT', 'external_id');
    }
    expect(await api.fetch('contacts', contact.id)).toEqual(recordOf(contact));
    expect((await upsert('contacts', { email, external_id: externalId('two') })).outcome).toBe('updated');
  });

  test('a record has at most twenty', async () => {
    const email = uniqueEmail();
    await upsert('contacts', { email });
    for (let index = 0; index < 20; index++)
      await upsert('contacts', { email, external_id: externalId(`s${index}`) });
    const reply = await api.post('/contacts/upsert', { email, title: 'T', external_id: externalId('more') });
    expectFault(reply, 'VALIDATION_OUT_OF_RANGE', 'external_id');
    expect((await upsert('contacts', { email })).title).toBeNull();
  });

  test('is free again once its record is deleted', async () => {
    const external_id = externalId();
    const { id } = await upsert('tasks', { name: 'T', external_id });
    await api.del(`/tasks/${id}`);
    const again = await upsert('tasks', { name: 'T', external_id });
    expect(again.outcome).toBe('created');
    expect(again.id).not.toBe(id);
  });
});

describe('update', () => {
  test('writes the fields as PATCH does', async () => {
    const email = uniqueEmail();
    const contact = await api.create('contacts', {
      ...{ email, first_name: 'A', phone: '1', custom: { a: 1, b: 2 } },
    });
    harness.clock.now += 1_000;
    const body = { first_name: null, phone: '2', custom: { a: null, c: 3 } };
    expect(await upsert('contacts', { email, ...body })).toEqual({
      ...contact,
      ...{ first_name: null, phone: '2', custom: { b: 2, c: 3 }, updated_at: at() },
      ...{ outcome: 'updated', matched_by: 'email' },
    });
  });

  test('an email that matched as an alternative leaves the primary as it is', async () => {
    const [primary, alt, other] = [uniqueEmail(), uniqueEmail(), uniqueEmail()];
    const contact = await api.create('contacts', { email: primary, alt_emails: [alt, other] });
    for (const on_match of ['update', 'fill', 'keep'])
      expect(await upsert('contacts', { email: alt.toUpperCase(), on_match })).toEqual({
        ...contact,
        ...{ outcome: 'unchanged', matched_by: 'email' },
      });
    const titled = await upsert('contacts', { email: alt, title: 'T', alt_emails: [other] });
    expect(titled).toMatchObject({ email: primary, alt_emails: [alt, other], title: 'T' });
    const cleared = await upsert('contacts', { email: alt, alt_emails: null });
    expect(cleared).toMatchObject({ email: primary, alt_emails: [alt] });
    const bare = await api.create('contacts', { first_name: 'A', alt_emails: [uniqueEmail()] });
    const found = await upsert('contacts', { email: bare.alt_emails[0], on_match: 'fill' });
    expect(recordOf(found)).toEqual(bare);
  });

  test('an external ID that matched sets another primary email, as PATCH does', async () => {
    const [external_id, email] = [externalId(), uniqueEmail()];
    const { id } = await upsert('contacts', { external_id, email: uniqueEmail() });
    expect(await upsert('contacts', { external_id, email })).toMatchObject({ id, email });
  });

  test('what is required is required only of a new record', async () => {
    for (const resource of CHANGEABLE) {
      const { required = [] } = CONTRACT[resource] ?? {};
      const external_id = externalId();
      const bare = await api.post(`/${resource}/upsert`, { external_id });
      const paths = required.length > 0 ? required : [resource === 'contacts' ? 'email' : 'domain'];
      expectError(bare, 422, 'VALIDATION_REQUIRED_FIELD', ...paths);
      const made = await upsert(resource, { ...minimalBody(resource), external_id });
      expect(await upsert(resource, { external_id })).toEqual({
        ...made,
        ...{ outcome: 'unchanged', matched_by: 'external_id' },
      });
    }
  });

  test('what a record must keep cannot be cleared', async () => {
    const external_id = externalId();
    await upsert('contacts', { external_id, first_name: 'A' });
    const reply = await api.post('/contacts/upsert', { external_id, first_name: null });
    expectFault(reply, 'VALIDATION_REQUIRED_FIELD', 'email');
  });

  test('faults of the fields are told as in a create', async () => {
    const external_id = externalId();
    const body = { external_id, email: 'x', first_name: 5, nonsense: 1 };
    const paths = ['email', 'first_name', 'nonsense'];
    expectError(await api.post('/contacts/upsert', body), 422, 'VALIDATION_FAILED', ...paths);
    const reply = await api.post('/contacts/upsert', { external_id, first_name: 'A', company_id: 'absent' });
    expectFault(reply, 'VALIDATION_FAILED', 'company_id');
    expect(await api.ids(`/contacts?external_id=src:${external_id.id}`)).toEqual([]);
  });

  test('a segment repeats its record_type or is refused', async () => {
    const external_id = externalId();
    const segment = await upsert('segments', { name: 'S', record_type: 'company', external_id });
    const again = { external_id, name: 'S', record_type: 'company' };
    expect((await upsert('segments', again)).outcome).toBe('unchanged');
    for (const more of [{}, { name: 'Other' }]) {
      const reply = await api.post('/segments/upsert', { external_id, record_type: 'contact', ...more });
      expectFault(reply, 'VALIDATION_FAILED', 'record_type');
    }
    for (const on_match of ['fill', 'keep'])
      expect((await upsert('segments', { external_id, record_type: 'contact', on_match })).outcome).toBe(
        'unchanged',
      );
    expect(await api.fetch('segments', segment.id)).toEqual(recordOf(segment));
  });

  test('a user-bound key owns what it creates, and gives nothing away', async () => {
    const external_id = externalId();
    const created = await upsert('deals', { name: 'D', external_id, owner_id: null }, user);
    expect(created.owner_id).toBe(harness.alice);
    for (const owner_id of [harness.bob, null]) {
      const reply = await user.post('/deals/upsert', { external_id, owner_id });
      expectError(reply, 403, 'OPERATION_FORBIDDEN');
    }
    const fresh = { name: 'D', external_id: externalId(), owner_id: harness.bob };
    expectError(await user.post('/deals/upsert', fresh), 403, 'OPERATION_FORBIDDEN');
    expect((await upsert('deals', { external_id, owner_id: harness.alice }, user)).outcome).toBe('unchanged');
  });

  test('deals, tasks and notes follow their rules', async () => {
    const external_id = externalId();
    const deal = await upsert('deals', { name: 'D', external_id });
    const { stages } = await api.fetch('pipelines', deal.pipeline_id);
    const won = await upsert('deals', { external_id, stage_id: stages[4].id });
    expect(won).toMatchObject({ id: deal.id, status: 'won', closed_at: at() });
    expect((await upsert('deals', { external_id, stage_id: stages[4].id })).outcome).toBe('unchanged');
    await upsert('tasks', { name: 'T', external_id });
    expect((await upsert('tasks', { external_id, done: true })).done_at).toBe(at());
    const note = await upsert('notes', { title: 'N', external_id });
    expectFault(
      await api.post('/notes/upsert', { external_id, parent_id: note.id }),
      'VALIDATION_FAILED',
      'parent_id',
    );
  });
});

describe('fill', () => {
  test('writes only what the record lacks', async () => {
    const email = uniqueEmail();
    const contact = await api.create('contacts', {
      ...{ email, first_name: 'A', phone: '', keep_in_touch: false, custom: { a: 0, b: false, c: '' } },
    });
    harness.clock.now += 1_000;
    const alt = uniqueEmail();
    const body = {
      ...{ email, first_name: 'B', last_name: 'L', phone: '5', title: null, keep_in_touch: true },
      ...{ alt_emails: [alt], custom: { a: 1, b: true, c: 'x', d: 4, e: null } },
    };
    const filled = await upsert('contacts', { ...body, on_match: 'fill' });
    expect(filled).toEqual({
      ...contact,
      ...{ last_name: 'L', alt_emails: [alt], custom: { a: 0, b: false, c: '', d: 4 }, updated_at: at() },
      ...{ outcome: 'updated', matched_by: 'email' },
    });
    const more = { email, alt_emails: [uniqueEmail()], custom: { d: 5 }, on_match: 'fill' };
    expect(await upsert('contacts', more)).toEqual({ ...filled, outcome: 'unchanged' });
  });

  test('checks what it writes, and nothing else', async () => {
    const [external_id, taken] = [externalId(), uniqueEmail()];
    const other = await api.create('contacts', { email: taken });
    await upsert('contacts', { external_id, first_name: 'A', title: 'T' });
    const send = (body: Json) => api.post('/contacts/upsert', { external_id, on_match: 'fill', ...body });
    expectConflict(
      await send({ email: taken }),
      'contacts',
      'email',
      'another contact has this email',
      other.id,
    );
    expectFault(await send({ company_id: 'absent' }), 'VALIDATION_FAILED', 'company_id');
    const company = await api.create('companies');
    await send({ company_id: company.id });
    expect((await send({ company_id: 'absent', title: 'U' })).body.data.outcome).toBe('unchanged');
  });
});

describe('pipelines', () => {
  test('a stage with the name of an existing one keeps it, so that the same upsert again changes nothing', async () => {
    const external_id = externalId();
    const body = {
      ...{ name: 'P', external_id },
      stages: [{ name: 'A', probability: 0.1 }, { name: 'B' }, { name: 'Won', type: 'won' }],
    };
    const pipeline = await upsert('pipelines', body);
    expect(await upsert('pipelines', body)).toEqual({
      ...pipeline,
      ...{ outcome: 'unchanged', matched_by: 'external_id' },
    });
    const [a, b, won] = pipeline.stages;
    const deal = await api.create('deals', { name: 'D', pipeline_id: pipeline.id, stage_id: b.id });
    const changed = await upsert('pipelines', {
      ...{
        external_id,
        stages: [{ name: 'Won', type: 'lost' }, { name: 'New' }, { name: 'B' }, { name: 'A' }],
      },
    });
    expect(changed.stages).toEqual([
      { ...won, type: 'lost', position: 0 },
      { id: expect.any(String), name: 'New', type: 'open', probability: null, position: 1 },
      { ...b, position: 2 },
      { ...a, position: 3 },
    ]);
    const reply = await api.post('/pipelines/upsert', { external_id, stages: [{ name: 'A' }] });
    expectError(reply, 409, 'RESOURCE_CONFLICT');
    expect((await api.fetch('deals', deal.id)).stage_id).toBe(b.id);
  });

  test('names that several stages have keep them only in the same number', async () => {
    const external_id = externalId();
    const body = { name: 'P', external_id, stages: [{ name: 'A' }, { name: 'A', type: 'won' }] };
    const { stages } = await upsert('pipelines', body);
    expect((await upsert('pipelines', body)).outcome).toBe('unchanged');
    const fewer = await upsert('pipelines', { external_id, stages: [{ name: 'A' }] });
    expect(stages.map(({ id }: Json) => id)).not.toContain(fewer.stages[0].id);
    const more = await upsert('pipelines', { external_id, stages: [{ name: 'A' }, { name: 'A' }] });
    expect(more.stages[0].id).toBe(fewer.stages[0].id);
    expect(more.stages[1].id).not.toBe(fewer.stages[0].id);
  });

  test('fill and keep leave them, and IDs of stages are not taken', async () => {
    const external_id = externalId();
    const pipeline = await upsert('pipelines', { name: 'P', external_id });
    for (const on_match of ['fill', 'keep']) {
      const body = { external_id, name: 'Q', stages: [{ name: 'X' }], on_match };
      expect(await upsert('pipelines', body)).toMatchObject({ ...recordOf(pipeline), outcome: 'unchanged' });
    }
    const stages = [{ id: pipeline.stages[0].id }];
    expectError(
      await api.post('/pipelines/upsert', { external_id, stages }),
      ...([422, 'VALIDATION_FAILED', 'stages.0.name', 'stages.0.id'] as const),
    );
  });

  test('are not for user-bound keys', async () => {
    const body = { name: 'P', external_id: externalId() };
    expectError(await user.post('/pipelines/upsert', body), 403, 'OPERATION_FORBIDDEN');
    expectError(await user.post('/pipelines/batch/upsert', [body]), 403, 'OPERATION_FORBIDDEN');
    expect((await upsert('pipelines', body)).outcome).toBe('created');
  });
});

test('a key without read sees what it created, and only the ID of what it found', async () => {
  for (const resource of CHANGEABLE) {
    const writer = await api.withKey({ scopes: [`${resource}:write`] });
    const body = { ...minimalBody(resource), external_id: externalId() };
    const created = await upsert(resource, body, writer);
    expect(await api.fetch(resource, created.id)).toEqual(recordOf(created));
    for (const outcome of ['updated', 'unchanged']) {
      const field = resource === 'contacts' || resource === 'notes' ? 'title' : 'name';
      const found = await upsert(resource, { ...body, [field]: 'Other' }, writer);
      expect(found).toEqual({ id: created.id, outcome, matched_by: 'external_id' });
    }
    const scopes = V2_SCOPES.filter((scope) => scope !== `${resource}:write`);
    const reader = await api.withKey({ scopes });
    expectError(await reader.post(`/${resource}/upsert`, body), 403, 'AUTH_INSUFFICIENT_SCOPE');
  }
});

test('an array is sent to the batch', async () => {
  const reply = await api.post('/contacts/upsert', [{ email: uniqueEmail() }]);
  expectFault(reply, 'VALIDATION_FAILED', '');
  expect(reply.body.error.message).toContain('POST /api/v2/contacts/batch/upsert');
});

test('options have the values that are named', async () => {
  const email = uniqueEmail();
  for (const [name, value] of [
    ['on_match', 'replace'],
    ['on_match', null],
    ['on_missing', 'skip'],
    ['match', 'email'],
    ['match', null],
  ] as const)
    expectFault(await api.post('/contacts/upsert', { email, [name]: value }), 'VALIDATION_FAILED', name);
  expectFault(await api.post('/contacts', { email, on_match: 'fill' }), 'VALIDATION_FAILED', 'on_match');
});

test('a repeated request is answered as the first, and a dry run writes nothing', async () => {
  const body = { email: uniqueEmail(), external_id: externalId() };
  const send = (headers: Record<string, string>) =>
    harness.send('POST', '/api/v2/contacts/upsert', { headers, body });
  const tried = await send({ 'Dry-Run': 'true' });
  expect(tried.body.data.outcome).toBe('created');
  expect(await api.ids(`/contacts?email=${body.email}`)).toEqual([]);
  const first = await send({ 'Idempotency-Key': 'upsert-1' });
  const again = await send({ 'Idempotency-Key': 'upsert-1' });
  expect(first.status).toBe(201);
  expect(again.text).toBe(first.text);
  expect(again.headers.get('Location')).toBe(first.headers.get('Location'));
  expect((await send({})).body.data.outcome).toBe('unchanged');
  const missing = { email: uniqueEmail(), on_missing: 'fail' };
  const headers = { 'Idempotency-Key': 'upsert-2' };
  for (const isReplayed of [false, true]) {
    const reply = await harness.send('POST', '/api/v2/contacts/upsert', { headers, body: missing });
    expect(reply.status).toBe(404);
    expect(reply.headers.get('Idempotent-Replayed')).toBe(isReplayed ? 'true' : null);
  }
});

test('a hundred at once with one email, and with one external ID, make one record', async () => {
  for (const body of [{ email: uniqueEmail() }, { first_name: 'A', external_id: externalId() }]) {
    const replies = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        api.post('/contacts/upsert', { ...body, title: `T${index % 3}` }),
      ),
    );
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(99);
    expect(new Set(replies.map((reply) => reply.body.data.id)).size).toBe(1);
  }
});

test('a quota counts what is written, external IDs included, and a refused upsert leaves nothing', async () => {
  const own = await startHarness();
  try {
    const client = clientOf(own);
    const email = 'quota@mail.example';
    const send = (body: Json) => client.post('/contacts/upsert', body);
    await send({ email });
    await setQuota(own, { bytes: (await recordTotalsOf(own)).bytes + 20 });
    const expectRefused = async (body: Json) => {
      const before = await countedIn(own);
      expectError(await send(body), 403, 'OPERATION_FORBIDDEN', 'quota.bytes');
      expect(await countedIn(own)).toEqual(before);
    };
    await expectRefused({ email, title: 'x'.repeat(21) });
    await expectRefused({ email, external_id: { source: 's', id: 'x'.repeat(20) } });
    await expectRefused({ email, title: 'x'.repeat(15), external_id: { source: 's', id: 'x'.repeat(5) } });
    expect(
      (await send({ email, title: 'x'.repeat(14), external_id: { source: 's', id: 'x'.repeat(5) } })).status,
    ).toBe(200);
    expect(await countedIn(own)).toEqual(await recordTotalsOf(own));
    expectError(
      await send({ email, title: null, external_id: { source: 's', id: 'y' } }),
      409,
      'RESOURCE_CONFLICT',
      'external_id',
    );
    expect(await countedIn(own)).toEqual(await recordTotalsOf(own));
  } finally {
    await own.close();
  }
});
