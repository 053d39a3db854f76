// The feed of changes: what each write leaves, who sees it, and where one can read on.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { setChangesDays } from '../../db/removal/change-retention.ts';
import { beginChangesEpoch } from '../../db/tables/settings.ts';
import { ChangeMirror, listsOf } from '../support/change-mirror.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { insertReadOnly } from '../support/read-only.ts';
import { type Client, clientOf, expectFault } from '../support/v2.ts';

let harness: Harness;
let api: Client;
let keyId: string;
beforeAll(async () => {
  harness = await startHarness();
  const { key, id } = await harness.issue();
  keyId = id;
  api = clientOf(harness, key);
});
afterAll(() => harness.close());

const feed = async (query = '', client = api) => (await client.get(`/changes?${query}`)).body;

/** What the work leaves in the feed. */
async function leaves(work: () => Promise<unknown>, client = api): Promise<Json[]> {
  const { page_info } = await feed('start=now', client);
  await work();
  return (await feed(`limit=200&cursor=${page_info.end_cursor}`, client)).data;
}

const actions = (changes: Json[]) => changes.map(({ action, resource }) => `${action} ${resource}`);

describe('a change', () => {
  test('has all that is told of it', async () => {
    let made: Json = {};
    const [change, ...others] = await leaves(async () => {
      made = await api.create('contacts', { first_name: 'Ada' });
    });
    expect(others).toEqual([]);
    expect(change).toEqual({
      object: 'change',
      sequence: expect.any(Number),
      at: made.created_at,
      action: 'created',
      resource: 'contacts',
      record_id: made.id,
      actor: { type: 'key', id: keyId, user_id: null },
      request_id: expect.stringMatching(/^req_[\w-]{20}$/),
      cause: null,
      before: null,
      after: null,
      link: null,
      record: made,
    });
  });

  test('names the request that made it, and the user of a user-bound key', async () => {
    const alice = clientOf(harness, (await harness.issue({ userId: harness.alice })).key);
    let requestId: string | null = null;
    const [change] = await leaves(async () => {
      const { headers } = await alice.post('/tasks', { name: 'T' });
      requestId = headers.get('X-Request-Id');
    });
    expect(change).toMatchObject({ request_id: requestId, actor: { user_id: harness.alice } });
  });

  test('of an update has just the values that differ, in the shapes of responses', async () => {
    const body = { first_name: 'A', custom: { a: 1, b: 2, c: 3 }, alt_emails: ['a@x.example'] };
    const { id } = await api.create('contacts', body);
    const changed = { first_name: 'A', title: 'T', custom: { a: 1, b: null, c: 4, d: 5 }, alt_emails: [] };
    const [change] = await leaves(() => api.update('contacts', id, changed));
    expect([change?.action, change?.before, change?.after]).toEqual([
      'updated',
      { title: null, custom: { b: 2, c: 3, d: null }, alt_emails: ['a@x.example'] },
      { title: 'T', custom: { b: null, c: 4, d: 5 }, alt_emails: [] },
    ]);
  });

  test('of a delete has the whole record as it was', async () => {
    const { id } = await api.create('pipelines', { name: 'P', stages: [{ name: 'S', probability: 0.5 }] });
    const before = await api.fetch('pipelines', id);
    const [change] = await leaves(() => api.del(`/pipelines/${id}`));
    expect(change).toMatchObject({ action: 'deleted', record_id: id, before, after: null, record: null });
  });

  test('of stages has both lists of them, followed by the deals that move', async () => {
    const { id, stages } = await api.create('pipelines', { name: 'P', stages: [{ name: 'S' }] });
    const deal = await api.create('deals', { name: 'D', pipeline_id: id });
    const after = [{ ...stages[0], type: 'won' }];
    const changes = await leaves(() => api.update('pipelines', id, { stages: [...after, { name: 'New' }] }));
    const [pipeline, moved] = changes;
    const now = (await api.fetch('pipelines', id)).stages;
    expect([pipeline?.before, pipeline?.after]).toEqual([{ stages }, { stages: now }]);
    expect(moved).toMatchObject({
      ...{ action: 'updated', resource: 'deals', record_id: deal.id, cause: pipeline?.sequence },
      ...{ before: { status: 'open', closed_at: null }, after: { status: 'won', closed_at: pipeline?.at } },
    });
  });

  test('of a link names both ends, with its own fields', async () => {
    const [deal, contact, boss] = [
      await api.create('deals'),
      await api.create('contacts'),
      await api.create('contacts'),
    ];
    const link = () =>
      api.post(`/deals/${deal.id}/contacts`, { contact_id: contact.id, supervisor: boss.id });
    const linked = await leaves(link);
    const shown = { name: 'contacts', resource: 'contacts', id: contact.id, supervisor: boss.id };
    expect(linked).toMatchObject([{ action: 'linked', resource: 'deals', record_id: deal.id, link: shown }]);
    expect(linked[0]?.link.linked_at).toBe(linked[0]?.at);
    expect(await leaves(link)).toEqual([]);
    const cleared = await leaves(() => api.del(`/contacts/${boss.id}`));
    expect(actions(cleared)).toEqual(['deleted contacts', 'linked deals']);
    expect(cleared[1]).toMatchObject({ link: { supervisor: null }, cause: cleared[0]?.sequence });
    const unlinked = await leaves(() => api.del(`/deals/${deal.id}/contacts/${contact.id}`));
    expect(unlinked).toMatchObject([{ action: 'unlinked', link: { id: contact.id, supervisor: null } }]);
  });

  test('of a delete causes those of references and links, directly after it', async () => {
    const company = await api.create('companies');
    const contact = await api.create('contacts', { first_name: 'A', company_id: company.id });
    const segment = await api.create('segments', { name: 'S', record_type: 'company' });
    await api.post(`/segments/${segment.id}/members`, { record_id: company.id });
    const meeting = await insertReadOnly(harness, 'meetings');
    await api.put(`/meetings/${meeting}/company`, { company_id: company.id });
    const other = await api.create('companies');
    const changes = await leaves(() => api.post('/companies/batch/delete', [company.id, other.id]));
    const [deleted] = changes;
    expect(actions(changes).toSorted()).toEqual([
      'deleted companies',
      'deleted companies',
      'unlinked segments',
      'updated contacts',
      'updated meetings',
    ]);
    expect(actions(changes).at(-1)).toBe('deleted companies');
    const caused = changes.slice(1, -1);
    expect(new Set(caused.map(({ cause }) => cause))).toEqual(new Set([deleted?.sequence]));
    const cleared = caused.find(({ resource }) => resource === 'contacts');
    expect(cleared).toMatchObject({
      ...{ record_id: contact.id, before: { company_id: company.id }, after: { company_id: null } },
    });
  });

  test('of an interaction comes before that of the contact that it makes', async () => {
    const body = { type: 'EMAIL', direction: 'INBOUND', title: 'T', main_contact_email: 'new@x.example' };
    const changes = await leaves(() => api.create('interactions', body));
    expect(actions(changes)).toEqual(['created interactions', 'created contacts']);
    expect(changes[1]?.cause).toBe(changes[0]?.sequence);
  });

  test('is left by version 1 as well', async () => {
    const body = { type: 'email', identifier: 'v1@x.example', firstName: 'A' };
    const changes = await leaves(() => harness.send('POST', '/api/v1/people', { body }));
    expect(actions(changes)).toEqual(['created contacts']);
  });

  const { id: absent } = { id: '019b76da-a800-7000-8000-000000000000' };
  const NOTHING: [string, () => Promise<unknown>][] = [
    [
      'an update that changes no value',
      async () => {
        const { id } = await api.create('tasks', { name: 'T' });
        const [created, ...more] = await leaves(() => api.update('tasks', id, { name: 'T' }));
        expect([created, more]).toEqual([undefined, []]);
      },
    ],
    [
      'a dry run',
      async () => {
        const headers = { 'Dry-Run': 'true' };
        const body = { name: 'T' };
        expect(await leaves(() => harness.send('POST', '/api/v2/tasks', { headers, body }))).toEqual([]);
      },
    ],
    [
      'a refused write',
      async () => {
        expect(await leaves(() => api.post('/tasks', { name: 'T', company_id: absent }))).toEqual([]);
      },
    ],
    [
      'a replay',
      async () => {
        const send = () =>
          harness.send('POST', '/api/v2/tasks', {
            headers: { 'Idempotency-Key': 'once' },
            body: { name: 'T' },
          });
        expect(actions(await leaves(send))).toEqual(['created tasks']);
        expect(await leaves(send)).toEqual([]);
      },
    ],
    [
      'an external ID',
      async () => {
        const { id } = await api.create('tasks', { name: 'T' });
        expect(await leaves(() => api.post(`/tasks/${id}/external_ids`, { source: 'a', id: 'b' }))).toEqual(
          [],
        );
      },
    ],
  ];
  for (const [what, expectNone] of NOTHING) test(`is not left by ${what}`, expectNone);

  test('of an item that fails in a batch is not left, and the log has no gap', async () => {
    const items = [{ name: 'A' }, { name: 'B', company_id: absent }, { name: 'C' }];
    const changes = await leaves(() => api.post('/tasks/batch', items));
    expect(changes.map(({ record }) => record.name)).toEqual(['A', 'C']);
    expect(changes[1]?.sequence).toBe(changes[0]?.sequence + 1);
  });
});

describe('a page', () => {
  test('begins with the first pipeline, by the operator, and goes on at its end', async () => {
    const own = await startHarness();
    const other = clientOf(own);
    const { data, page_info } = await feed('', other);
    expect(data).toMatchObject([
      { sequence: 1, action: 'created', resource: 'pipelines', actor: { type: 'operator', id: null } },
    ]);
    expect([data[0].request_id, data[0].record.name]).toEqual([null, 'Sales']);
    expect(page_info).toEqual({ has_next_page: false, end_cursor: expect.any(String), oldest: 1, head: 1 });
    const empty = await feed(`cursor=${page_info.end_cursor}`, other);
    expect([empty.data, empty.page_info.has_next_page]).toEqual([[], false]);
    await other.create('tasks', { name: 'T' });
    const next = await feed(`cursor=${empty.page_info.end_cursor}`, other);
    expect(next.data.map(({ sequence }: Json) => sequence)).toEqual([2]);
    await own.close();
  });

  test('after page gives each change once, in either direction', async () => {
    const walk = async (query: string) => {
      const seen: number[] = [];
      for (let cursor = ''; ; ) {
        const { data, page_info } = await feed(`limit=7&${query}${cursor}`);
        seen.push(...data.map(({ sequence }: Json) => sequence));
        if (!page_info.has_next_page) return { seen, head: page_info.head };
        cursor = `&cursor=${page_info.end_cursor}`;
      }
    };
    const { seen, head } = await walk('');
    expect(seen).toEqual(Array.from({ length: head }, (_, index) => index + 1));
    const back = await feed('sort_direction=desc&limit=200');
    expect(back.data[0].sequence).toBe(head);
    const backwards: number[] = [];
    for (let cursor = ''; ; ) {
      const { data, page_info } = await feed(`limit=7&sort_direction=desc${cursor}`);
      backwards.push(...data.map(({ sequence }: Json) => sequence));
      if (!page_info.has_next_page) break;
      cursor = `&cursor=${page_info.end_cursor}`;
    }
    expect(backwards).toEqual(seen.toReversed());
  });

  test('begins at an instant, or ends at it', async () => {
    const first = await api.create('tasks', { name: 'First' });
    harness.clock.now += 60_000;
    const second = await api.create('tasks', { name: 'Second' });
    const ids = (body: Json) => body.data.map(({ record_id }: Json) => record_id);
    expect(ids(await feed(`start=${Date.parse(second.created_at)}`))).toEqual([second.id]);
    expect(ids(await feed(`start=${encodeURIComponent(second.created_at)}`))).toEqual([second.id]);
    const back = await feed(`sort_direction=desc&limit=1&start=${Date.parse(second.created_at) - 1}`);
    expect(ids(back)).toEqual([first.id]);
  });

  test('has what the filters let through, and goes on behind what they do not', async () => {
    const contact = await api.create('contacts', { first_name: 'A' });
    const { headers } = await api.patch(`/contacts/${contact.id}`, { title: 'T' });
    const request = headers.get('X-Request-Id');
    const found = async (query: string) => actions((await feed(`limit=200&${query}`)).data);
    expect(await found(`resource=contacts&record_id=${contact.id}`)).toEqual([
      'created contacts',
      'updated contacts',
    ]);
    expect(await found(`resource=contacts&record_id=${contact.id}&action=updated`)).toEqual([
      'updated contacts',
    ]);
    expect(await found(`request_id=${request}`)).toEqual(['updated contacts']);
    expect(await found('request_id=req_unknown')).toEqual([]);
    const both = new Set(await found('resource=tasks&resource=pipelines&action=created'));
    expect(both).toEqual(new Set(['created tasks', 'created pipelines']));
  });

  const REFUSED: [query: string, path: string, code: string][] = [
    ['start=yesterday', 'start', 'VALIDATION_INVALID_FORMAT'],
    ['record_id=a', 'record_id', 'VALIDATION_FAILED'],
    ['record_id=a&resource=deals&resource=tasks', 'record_id', 'VALIDATION_FAILED'],
    ['cursor=abc', 'cursor', 'VALIDATION_INVALID_FORMAT'],
    ['resource=users', 'resource', 'VALIDATION_FAILED'],
    ['action=made', 'action', 'VALIDATION_FAILED'],
    ['limit=201', 'limit', 'VALIDATION_OUT_OF_RANGE'],
  ];
  test.each(REFUSED)('is refused for %s', async (query, path, code) => {
    expectFault(await api.get(`/changes?${query}`), code, path);
  });

  test('is refused for a cursor with start, with other filters, or of another organization', async () => {
    const { end_cursor } = (await feed('resource=tasks')).page_info;
    expectFault(
      await api.get(`/changes?resource=tasks&cursor=${end_cursor}&start=now`),
      'VALIDATION_FAILED',
      'start',
    );
    const other = (await harness.issue({ orgNumber: harness.otherOrgNumber })).key;
    for (const reply of [
      await api.get(`/changes?cursor=${end_cursor}`),
      await clientOf(harness, other).get(`/changes?resource=tasks&cursor=${end_cursor}`),
    ])
      expectFault(reply, 'VALIDATION_INVALID_FORMAT', 'cursor');
    const both = (await feed('resource=tasks&resource=deals')).page_info.end_cursor;
    const sameSet = await api.get(`/changes?resource=deals&resource=tasks&resource=deals&cursor=${both}`);
    expect(sameSet.status).toBe(200);
    const another = clientOf(harness, (await harness.issue()).key);
    expect((await another.get(`/changes?resource=tasks&cursor=${end_cursor}`)).status).toBe(200);
  });
});

describe('a key', () => {
  test('reads the changes of the resources that it may read, and links that it may list', async () => {
    const { key } = await harness.issue({ scopes: ['deals:read', 'notes:read'] });
    const client = clientOf(harness, key);
    const [deal, contact, note] = [
      await api.create('deals'),
      await api.create('contacts'),
      await api.create('notes'),
    ];
    const changes = await leaves(async () => {
      await api.post(`/deals/${deal.id}/contacts`, { contact_id: contact.id });
      await api.post(`/notes/${note.id}/records`, { record_type: 'contact', record_id: contact.id });
      await api.update('contacts', contact.id, { title: 'T' });
      await api.update('deals', deal.id, { name: 'E' });
    }, client);
    expect(actions(changes)).toEqual(['linked notes', 'updated deals']);
    expect((await client.get('/changes?resource=contacts')).status).toBe(403);
    const none = clientOf(harness, (await harness.issue({ scopes: ['tasks:write'] })).key);
    expect((await none.get('/changes')).body.error.code).toBe('AUTH_INSUFFICIENT_SCOPE');
  });

  test('of a user sees records come and go, by what its user could see at the time', async () => {
    const { alice, bob } = harness;
    const client = clientOf(harness, (await harness.issue({ userId: alice })).key);
    const { id } = await api.create('companies', { name: 'C', owner_id: bob });
    const steps: [Json, Json[]][] = [
      [{ name: 'Hidden' }, []],
      [{ owner_id: alice }, [{ action: 'created', before: null, after: null }]],
      [{ name: 'Seen' }, [{ action: 'updated', before: { name: 'Hidden' }, after: { name: 'Seen' } }]],
      [{ owner_id: null }, [{ action: 'deleted', before: null, record: null }]],
    ];
    for (const [body, expected] of steps) {
      const changes = await leaves(() => api.update('companies', id, body), client);
      expect(changes).toMatchObject(expected);
      expect(changes.map(({ sequence, cause }) => [sequence, cause])).toEqual(
        expected.map(() => [null, null]),
      );
    }
    expect(await leaves(() => api.del(`/companies/${id}`), client)).toEqual([]);
    expect((await feed('', client)).page_info).toMatchObject({ oldest: null, head: null });
  });

  test('of a user sees a link while it sees both ends', async () => {
    const { alice, bob } = harness;
    const client = clientOf(harness, (await harness.issue({ userId: alice })).key);
    const deal = await api.create('deals', { name: 'D', owner_id: alice });
    for (const [owner_id, expected] of [
      [alice, ['linked deals']],
      [bob, []],
    ] as const) {
      const contact = await api.create('contacts', { first_name: 'A', owner_id });
      const link = () => api.post(`/deals/${deal.id}/contacts`, { contact_id: contact.id });
      expect(actions(await leaves(link, client))).toEqual([...expected]);
    }
  });

  test('of a user gets cursors that say nothing: two of one place differ, and have one length', async () => {
    const client = clientOf(harness, (await harness.issue({ userId: harness.bob })).key);
    const cursors = [await feed('start=now', client), await feed('start=oldest&limit=1', client)];
    const [now, oldest] = cursors.map(({ page_info }) => page_info.end_cursor);
    expect(now).toHaveLength(oldest.length);
    expect((await feed('start=now', client)).page_info.end_cursor).not.toBe(now);
  });
});

test('a copy that begins with start=now and follows the feed is exact', async () => {
  const own = await startHarness();
  const client = clientOf(own);
  const company = await client.create('companies');
  await client.create('contacts', { first_name: 'A', company_id: company.id });
  const mirror = new ChangeMirror(client, false);
  await mirror.copy(listsOf(client));
  await client.del(`/companies/${company.id}`);
  const { id } = await client.create('deals');
  await client.update('deals', id, { name: 'Renamed' });
  await mirror.follow();
  await mirror.expectSame(listsOf(client));
  await own.close();
});

test('after a backup was restored, cursors from before are refused', async () => {
  const { end_cursor } = (await feed('start=now')).page_info;
  await harness.store.write('accounts', beginChangesEpoch);
  expectFault(await api.get(`/changes?cursor=${end_cursor}`), 'VALIDATION_OUT_OF_RANGE', 'cursor');
});

test('where no changes are kept, there is no feed; later it has no gap, and old cursors are refused', async () => {
  const { end_cursor, head } = (await feed('start=now')).page_info;
  const keep = (days: number) => harness.store.write('accounts', (trx) => setChangesDays(trx, days));
  await keep(0);
  await api.create('tasks', { name: 'Unlogged' });
  expect((await api.get('/changes')).body.error.code).toBe('RESOURCE_NOT_FOUND');
  await keep(30);
  expectFault(await api.get(`/changes?cursor=${end_cursor}`), 'VALIDATION_OUT_OF_RANGE', 'cursor');
  expectFault(await api.get('/changes?start=0'), 'VALIDATION_OUT_OF_RANGE', 'start');
  await api.create('tasks', { name: 'Logged' });
  const { data, page_info } = await feed();
  expect([data.map(({ sequence }: Json) => sequence), page_info.oldest]).toEqual([[head + 2], head + 2]);
});
