// The isolation matrix, where nothing is named: lists, filters, cursors, counts, what is unique, and answers that are stored.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { includesOf } from '../../db/model/resources/includes.ts';
import { getResource, RESOURCES } from '../../db/model/resources/registry.ts';
import { IndexUpdates } from '../../server/index-updates.ts';
import { CHANGEABLE, CREATABLE } from '../support/contract.ts';
import { expectRefusal } from '../support/envelope.ts';
import { dumpOf } from '../support/full-organization.ts';
import type { Json, Reply } from '../support/harness.ts';
import { ABSENT, clientOf, minimalBody } from '../support/v2.ts';
import { expectAlike, expectNoTrace, type Fixture, type Hidden, startFixture } from './cells.ts';

const WHOSE = ['other organization', 'other user'] as const;

let fixture: Fixture;
let before: unknown[];
beforeAll(async () => {
  fixture = await startFixture();
  before = await dumps();
});
afterAll(() => fixture.harness.close());

const dumps = () => Promise.all(Object.values(fixture.hidden).map((world) => dumpOf(fixture.harness, world)));

/** Asks for a page, in either version, with a key that cannot see the records of the other. */
function ask(whose: Hidden, path: string, parameters: Json): Promise<Reply> {
  const { harness, askers } = fixture;
  if (path.startsWith('/api/v1'))
    return harness.send('POST', path, { key: askers[whose].v1, body: parameters });
  return harness.send('GET', `${path}?${new URLSearchParams(parameters)}`, { key: askers[whose].v2 });
}

interface List {
  whose: Hidden;
  path: string;
  /** Resource in version 2. */
  name: string;
}

const LISTS: List[] = WHOSE.flatMap((whose) => {
  const v2 = RESOURCES.map(({ name }): List => ({ whose, path: `/api/v2/${name}`, name }));
  // Pipelines are everybody's in the organization, and keys of version 1 see all of it.
  if (whose === 'other user') return v2.filter(({ name }) => name !== 'pipelines');
  const v1 = [
    { whose, path: '/api/v1/people/query', name: 'contacts' },
    { whose, path: '/api/v1/interactions/query', name: 'interactions' },
  ];
  return [...v2, ...v1];
});

describe.each(LISTS.map((list): [string, string, List] => [list.path, list.whose, list]))(
  '%s of the %s',
  (_, __, list) => {
    const { whose, path, name } = list;
    const isV1 = path.startsWith('/api/v1');

    test('is left out of lists, of their pages and of whether there are more', async () => {
      const all = await ask(whose, path, isV1 ? {} : { limit: 200 });
      expect([all.status, all.body.page_info.has_next_page]).toEqual([200, false]);
      expectNoTrace(all, fixture.hidden[whose]);
      const { length } = all.body.data;
      if (length === 0 || isV1) return;
      const page = await ask(whose, path, { limit: length });
      expect([page.body.data.length, page.body.page_info.has_next_page]).toEqual([length, false]);
    });

    test('is left out of what is included, and of its IDs', async () => {
      if (isV1) return;
      const names = Object.keys(includesOf(getResource(name)));
      for (const some of [names.slice(0, 5), names.slice(-5)]) {
        const parameters = [['limit', '200'], ...some.map((include) => ['include', include])];
        const reply = await ask(whose, path, parameters);
        expect([reply.status, Object.keys(reply.body)]).toEqual([200, expect.arrayContaining(['included'])]);
        expectNoTrace(reply, fixture.hidden[whose]);
      }
    });

    test('gives cursors that open nothing of it elsewhere', async () => {
      const { harness, hidden } = fixture;
      const key = isV1
        ? (await harness.issue({ api: 'v1', orgNumber: harness.otherOrgNumber })).key
        : hidden[whose].v2;
      const first = isV1
        ? await harness.send('POST', path, { key, body: { limit: 1 } })
        : await harness.send('GET', `${path}?limit=1`, { key });
      const cursor = first.body.page_info.end_cursor;
      expect(cursor).toBeString();
      const reply = await ask(whose, path, { limit: 1, cursor });
      expectNoTrace(reply, hidden[whose]);
      if (whose === 'other user') return expect(reply.status).toBe(200);
      const altered = { limit: 1, cursor: `${cursor.slice(0, -2)}AA` };
      expectAlike(reply, await ask(whose, path, altered), hidden[whose]);
      expect(reply.status).toBe(422);
    });

    for (const [filter, valuesOf] of Object.entries(filtersOf(list))) {
      test(`is found by ${filter} no more than what there is not`, async () => {
        const [hidden, absent] = valuesOf(fixture);
        const filtered = (value: string) =>
          ask(whose, path, isV1 ? { filter: { [filter]: value } } : { [filter]: value });
        const reply = await filtered(hidden);
        expect([reply.status, reply.body.data]).toEqual([200, []]);
        expectAlike(reply, await filtered(absent), fixture.hidden[whose]);
      });
    }

    if (!CREATABLE.includes(name) || isV1) return;
    for (const at of [path, `${path}/batch`])
      test(`answers of ${at} that are stored under an idempotency key are one's own`, () =>
        storedApart(list, at));
  },
);

describe.each(['before', 'after'])('a search %s what is written is indexed', (when) => {
  beforeAll(async () => {
    const { store, orgNumber, otherOrgNumber } = fixture.harness;
    if (when === 'before') return;
    for (const one of [orgNumber, otherOrgNumber]) await new IndexUpdates(store).update(one);
  });

  test.each(WHOSE)('finds nothing of the %s, by any word of it', async (whose) => {
    const { harness, hidden } = fixture;
    const { mark, ids, v2 } = hidden[whose];
    const words = [mark, mark.slice(0, -1), `${mark} ${mark}`, `name-${mark}-0`, `phone-${mark}-0`];
    const addresses = [`${mark}-0@hidden.example`, `${mark}-0.example`, `${ids.source}:${mark}`];
    const known = await harness.send('GET', `/api/v2/search?q=${mark}`, { key: v2 });
    expect(known.body.data.length).toBeGreaterThan(0);
    const named = Object.values(ids).filter((id) => /^[0-9a-f-]{36}$/.test(id));
    for (const q of [...words, ...addresses, ...named]) {
      const reply = await ask(whose, '/api/v2/search', { q, limit: 100 });
      expect([q, reply.status, reply.body.data, reply.body.page_info.has_next_page]).toEqual([
        q,
        200,
        [],
        false,
      ]);
      expectNoTrace(reply, hidden[whose]);
    }
  });
});

async function storedApart({ whose, name }: List, at: string): Promise<void> {
  const { harness, hidden, askers } = fixture;
  const bodyOf = (record: Json) => (at.endsWith('/batch') ? [record] : record);
  const title = name === 'interactions' ? 'title' : (Object.keys(minimalBody(name))[0] ?? '');
  const send = (key: string, record: Json) =>
    harness.send('POST', at, { key, headers: { 'Idempotency-Key': `once-${at}` }, body: bodyOf(record) });
  const stored = await send(hidden[whose].v2, { ...minimalBody(name), [title]: hidden[whose].mark });
  expect(stored.status).toBeLessThan(300);
  const reply = await send(askers[whose].v2, minimalBody(name));
  expect([reply.status, reply.headers.get('Idempotent-Replayed')]).toEqual([stored.status, null]);
  expectNoTrace(reply, hidden[whose]);
  // The worlds stay what they were.
  await removeMade(name, hidden[whose].v2, stored);
  await removeMade(name, askers[whose].v2, reply);
}

async function removeMade(name: string, key: string, { body }: Reply): Promise<void> {
  if (name === 'interactions') return;
  const api = clientOf(fixture.harness, key);
  const records = body.data.items?.map((item: Json) => item.data) ?? [body.data];
  for (const { id } of records) await api.del(`/${name}/${id}`);
}

type ValueOf = (fixture: Fixture) => [hidden: string, absent: string];

// Those by which a record, or one that it refers to, can be looked for.
function filtersOf({ whose, path, name }: List): Record<string, ValueOf> {
  const idsOf =
    (target: string): ValueOf =>
    ({ hidden }) => [hidden[whose].ids[target] ?? '', ABSENT];
  const textOf =
    (write: (mark: string) => string): ValueOf =>
    ({ hidden }) => [write(hidden[whose].mark), write('nobody')];
  const email = textOf((mark) => `${mark}-0@hidden.example`);
  if (path.endsWith('people/query'))
    return { email, phone: textOf((mark) => `phone-${mark}-0`), companyId: idsOf('companies') };
  if (path.endsWith('interactions/query'))
    return { contactId: idsOf('contacts'), companyId: idsOf('companies') };
  const filters: Record<string, ValueOf> = {};
  const texts: Record<string, ValueOf> = {
    email,
    attendee_email: email,
    phone: textOf((mark) => `phone-${mark}-0`),
    domain: textOf((mark) => `${mark}-0.example`),
    name: textOf((mark) => `name-${mark}-0`),
    external_id: ({ hidden }) => [`${hidden[whose].ids.source}:${hidden[whose].mark}`, 'nobody:1'],
  };
  const resource = RESOURCES.find((one) => one.name === name);
  for (const [filter, { references }] of Object.entries(resource?.filters ?? {})) {
    const [target] = references;
    const isEverybodys = whose === 'other user' && /^(?:pipelines|stages)$/.test(target ?? '');
    const value = target === undefined ? texts[filter] : idsOf(target);
    if (value !== undefined && !isEverybodys) filters[filter] = value;
  }
  return filters;
}

describe('what is unique in an organization', () => {
  type Maker = [what: string, method: string, path: string, bodyOf: (mark: string, source: string) => Json];
  const makers: Maker[] = [
    ...CHANGEABLE.map((name): Maker => {
      const bodyOf = (id: string, source: string) => ({ ...minimalBody(name), external_id: { source, id } });
      return [`an external ID of ${name}`, 'POST', `/api/v2/${name}/upsert`, bodyOf];
    }),
    [
      'an email that is upserted',
      'POST',
      '/api/v2/contacts/upsert',
      (mark) => ({ email: `alt-${mark}-1@hidden.example` }),
    ],
    [
      'a domain that is upserted',
      'POST',
      '/api/v2/companies/upsert',
      (mark) => ({ domain: `https://${mark}-0.example` }),
    ],
    ['an email', 'POST', '/api/v2/contacts', (mark) => ({ email: `${mark}-0@hidden.example` })],
    [
      'an alternative email',
      'POST',
      '/api/v2/contacts',
      (mark) => ({ email: `alt-${mark}-1@hidden.example` }),
    ],
    [
      'an email in v1',
      'POST',
      '/api/v1/people',
      (mark) => ({ type: 'email', identifier: `${mark}-1@hidden.example`, firstName: 'A' }),
    ],
    [
      'an email that is put in v1',
      'PUT',
      '/api/v1/people',
      (mark) => ({ email: `alt-${mark}-0@hidden.example`, firstName: 'A' }),
    ],
    ['a domain', 'POST', '/api/v2/companies', (mark) => ({ domain: `${mark}-0.example` })],
    ['a domain in v1', 'POST', '/api/v1/companies', (mark) => ({ domain: `${mark}-1.example` })],
    [
      'where an interaction comes from',
      'POST',
      '/api/v2/interactions',
      (mark) => ({ ...minimalBody('interactions'), primary_id: `primary ${mark}` }),
    ],
  ];

  test.each(makers)('%s is free where the other organization has it', async (_, method, path, bodyOf) => {
    const { harness, hidden } = fixture;
    const { mark, ids } = hidden['other organization'];
    const { source = '', ...others } = ids;
    const reply = await harness.send(method, path, { body: bodyOf(mark, source) });
    expect(reply.status).toBeOneOf([200, 201]);
    expect(reply.body.data.is_duplicate ?? false).toBe(false);
    expect(reply.body.data.outcome ?? 'created').toBe('created');
    // The mark is in what was sent.
    expect(Object.values(others).filter((id) => reply.text.includes(id))).toEqual([]);
    // So that it is free for the next.
    if (path.startsWith('/api/v2')) await removeMade(path.split('/')[3] ?? '', harness.v2, reply);
  });

  // Pipelines are everybody's in the organization.
  const personal = makers.filter(([, , path]) => path.startsWith('/api/v2') && !path.includes('pipelines'));
  test.each(personal)('%s of another user is taken, and not by whom', async (_, method, path, bodyOf) => {
    const { harness, hidden, askers } = fixture;
    const { mark, ids } = hidden['other user'];
    const body = bodyOf(mark, ids.source ?? '');
    const reply = await harness.send(method, path, { key: askers['other user'].v2, body });
    if (path.endsWith('interactions'))
      expect([reply.status, reply.body.data.is_duplicate]).toEqual([201, false]);
    else expect([reply.status, reply.headers.get('Location')]).toEqual([409, null]);
    expect(Object.values(ids).filter((id) => id !== '' && reply.text.includes(id))).toEqual([]);
  });

  test.each(
    personal
      .filter(([, , path]) => path.endsWith('/upsert'))
      .flatMap((row) => WHOSE.map((whose) => [...row, whose] as const)),
  )(
    '%s is answered like one that nobody has where an upsert creates none',
    async (_, method, path, bodyOf, whose) => {
      const { harness, hidden, askers } = fixture;
      const { mark, ids } = hidden[whose];
      const ask = (value: string) => {
        const body = { ...bodyOf(value, ids.source ?? ''), on_missing: 'fail' };
        return harness.send(method, path, { key: askers[whose].v2, body });
      };
      const reply = await ask(mark);
      expectRefusal(reply, 404, 'RESOURCE_NOT_FOUND');
      expectAlike(reply, await ask('nobody'), hidden[whose]);
      const batch = await harness.send(method, path.replace(/upsert$/, 'batch/upsert'), {
        key: askers[whose].v2,
        body: [mark, 'nobody'].map((value) => ({ ...bodyOf(value, ids.source ?? ''), on_missing: 'fail' })),
      });
      const [one, other] = batch.body.data.items;
      expect(one.error).toEqual(other.error);
      expectNoTrace(batch, hidden[whose]);
    },
  );
});

test("what the organization ties to one's own records shows nothing of another user's", async () => {
  const { harness, own, hidden } = fixture;
  const [org, alice] = [clientOf(harness), clientOf(harness, own.v2)];
  const { ids, mark } = hidden['other user'];
  const { deals, notes, segments, meetings } = own.ids;
  await org.post(`/deals/${deals}/contacts`, { contact_id: ids.contacts, supervisor: ids.contacts });
  await org.post(`/deals/${deals}/companies`, { company_id: ids.companies });
  await org.post(`/notes/${notes}/records`, { record_type: 'deal', record_id: ids.deals });
  await org.post(`/segments/${segments}/members`, { record_id: ids.contacts });
  await org.put(`/meetings/${meetings}/deal`, { deal_id: ids.deals });
  await org.put(`/meetings/${meetings}/company`, { company_id: ids.companies });
  const lists = [
    `/deals/${deals}/contacts`,
    `/deals/${deals}/companies`,
    `/notes/${notes}/records`,
    `/segments/${segments}/members`,
  ];
  for (const path of lists) {
    const reply = await alice.get(`${path}?limit=1`);
    expect([path, reply.body.data.length, reply.body.page_info.has_next_page]).toEqual([path, 1, false]);
    expectNoTrace(reply, hidden['other user']);
  }
  expect((await alice.fetch('segments', segments ?? '')).member_count).toBe(1);
  for (const name of ['deal', 'company']) {
    const reply = await alice.get(`/meetings/${meetings}/${name}`);
    expect([reply.status, reply.text.includes(mark)]).toEqual([200, false]);
    expectNoTrace(reply, hidden['other user']);
  }
});

test('and nothing of what was hidden has changed', async () => {
  // Interactions cannot be removed, nor do their contacts go with them; webhooks wait for what this file writes.
  const others = { interactions: null, contacts: null };
  const comparable = (all: unknown[]) =>
    all.map((dump) =>
      JSON.stringify({ ...(dump as Json), ...others }).replace(/(?<="pending_count":)\d+/g, '0'),
    );
  expect(comparable(await dumps())).toEqual(comparable(before));
});
