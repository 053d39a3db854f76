// Two nodes that write at once: of what only one may do, one does, and the other gets the response that it would get later.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { createOrganization } from '../../db/accounts/accounts.ts';
import { ingestRecordings } from '../../db/ingest/recordings.ts';
import type { Json, Reply } from '../support/harness.ts';
import { readRecordings } from '../support/ingest-readers.ts';
import { type Nodes, startNodes } from '../support/nodes.ts';

const ROUNDS = Number(process.env.NODES_ROUNDS ?? 10);
// In waves, each of which gets the lock of a file in time on a busy machine too.
const UPSERTS_AT_ONCE = 20;

let nodes: Nodes;
beforeAll(async () => {
  nodes = await startNodes();
});
afterAll(() => nodes.close());

type Request = [method: string, path: string, body?: Json];

/** The two requests of a race, and what must come of them. */
interface Race {
  requests: [Request, Request];
  /** What the two may be answered, in their order: as one writer would answer them, whichever comes first. */
  statuses: [number, number][];
  /** What there is to see in the end. */
  check?: (one: Reply, other: Reply) => Promise<void>;
}

async function make(path: string, body: Json): Promise<Json> {
  const reply = await nodes.first.send('POST', `/api/v2${path}`, { body });
  expect([200, 201]).toContain(reply.status);
  return reply.body.data;
}
const read = async (path: string) => (await nodes.first.send('GET', `/api/v2${path}`)).body.data;

// Each makes what its round needs; `name` has not been used before.
const RACES: Record<string, (name: string) => Promise<Race>> = {
  'an email address, as that of one and one more of another': async (name) => ({
    requests: [
      ['POST', '/api/v2/contacts', { email: `${name}@a.test` }],
      ['POST', '/api/v2/contacts', { email: `${name}@b.test`, alt_emails: [`${name}@a.test`] }],
    ],
    statuses: [
      [201, 409],
      [409, 201],
    ],
    check: async () => expect(await read(`/contacts?email=${name}@a.test`)).toHaveLength(1),
  }),
  'an email address that one gives up and the other takes': async (name) => {
    const { id } = await make('/contacts', { email: `${name}@a.test` });
    return {
      requests: [
        ['DELETE', `/api/v2/contacts/${id}`],
        ['POST', '/api/v2/contacts', { email: `${name}@a.test` }],
      ],
      statuses: [
        [204, 201],
        [204, 409],
      ],
    };
  },
  'a person, in v1': async (name) => ({
    requests: [
      ['PUT', '/api/v1/people', { email: `${name}@a.test`, firstName: 'A' }],
      ['PUT', '/api/v1/people', { email: `${name}@a.test`, lastName: 'B' }],
    ],
    statuses: [[200, 200]],
    check: async (one, other) => {
      expect(other.body.data.id).toBe(one.body.data.id);
      expect(await read(`/contacts/${one.body.data.id}`)).toMatchObject({ first_name: 'A', last_name: 'B' });
    },
  }),
  'a domain': async (name) => ({
    requests: [
      ['POST', '/api/v2/companies', { domain: `${name}.test` }],
      ['POST', '/api/v2/companies', { domain: `${name}.test`, name: 'B' }],
    ],
    statuses: [
      [201, 409],
      [409, 201],
    ],
  }),
  'a domain, in v1': async (name) => ({
    requests: [
      ['POST', '/api/v1/companies', { domain: `${name}.test` }],
      ['POST', '/api/v1/companies', { domain: `${name}.test` }],
    ],
    statuses: [
      [201, 200],
      [200, 201],
    ],
    check: async (one, other) => expect(other.body.data.id).toBe(one.body.data.id),
  }),
  'a link': async () => {
    const [deal, contact] = [
      await make('/deals', { name: 'D' }),
      await make('/contacts', { first_name: 'C' }),
    ];
    const link: Request = ['POST', `/api/v2/deals/${deal.id}/contacts`, { contact_id: contact.id }];
    return {
      requests: [link, link],
      statuses: [[200, 200]],
      check: async () => expect(await read(`/deals/${deal.id}/contacts`)).toHaveLength(1),
    };
  },
  'a link to what the other deletes': async () => {
    const [deal, contact] = [
      await make('/deals', { name: 'D' }),
      await make('/contacts', { first_name: 'C' }),
    ];
    return {
      requests: [
        ['POST', `/api/v2/deals/${deal.id}/contacts`, { contact_id: contact.id }],
        ['DELETE', `/api/v2/contacts/${contact.id}`],
      ],
      statuses: [
        [200, 204],
        [422, 204],
      ],
      check: async () => expect(await read(`/deals/${deal.id}/contacts`)).toEqual([]),
    };
  },
  'the same interaction': async (name) => {
    const contact = await make('/contacts', { first_name: 'C' });
    const body = {
      type: 'EMAIL',
      direction: 'INBOUND',
      title: 'T',
      primary_id: name,
      main_contact: contact.id,
    };
    const request: Request = ['POST', '/api/v2/interactions', body];
    return {
      requests: [request, request],
      statuses: [[201, 201]],
      check: async (one, other) => {
        expect(other.body.data.id).toBe(one.body.data.id);
        const told = [one, other].map((reply) => reply.body.data.is_duplicate);
        expect(told.toSorted()).toEqual([false, true]);
      },
    };
  },
  'an interaction that makes a contact, and that contact': async (name) => {
    const [email, memo] = [`${name}@a.test`, { type: 'MEMO', direction: 'INTERNAL', title: 'T' }];
    return {
      requests: [
        ['POST', '/api/v2/interactions', { ...memo, main_contact_email: email }],
        ['POST', '/api/v2/contacts', { email }],
      ],
      statuses: [
        [201, 409],
        [201, 201],
      ],
      check: async () => expect(await read(`/contacts?email=${email}`)).toHaveLength(1),
    };
  },
  'the removal of a stage, and a deal in it': async () => {
    const { id, stages } = await make('/pipelines', { name: 'P', stages: [{ name: 'A' }, { name: 'B' }] });
    const [a, b] = stages;
    return {
      requests: [
        ['PATCH', `/api/v2/pipelines/${id}`, { stages: [a] }],
        ['POST', '/api/v2/deals', { name: 'D', pipeline_id: id, stage_id: b.id }],
      ],
      statuses: [
        [409, 201],
        [200, 422],
      ],
      check: async (_, { status }) =>
        expect((await read(`/pipelines/${id}`)).stages).toEqual(status === 201 ? [a, b] : [a]),
    };
  },
  'an external ID, added to two records': async (name) => {
    const [a, b] = [await make('/deals', { name: 'A' }), await make('/deals', { name: 'B' })];
    const add = ({ id }: Json): Request => [
      'POST',
      `/api/v2/deals/${id}/external_ids`,
      { source: 'race', id: name },
    ];
    return {
      requests: [add(a), add(b)],
      statuses: [
        [200, 409],
        [409, 200],
      ],
      check: async (one) => {
        const [found] = await read(`/deals?external_id=race:${name}`);
        expect(found.id).toBe(one.status === 200 ? a.id : b.id);
      },
    };
  },
  'an external ID, added twice to one record': async (name) => {
    const { id } = await make('/deals', { name: 'A' });
    const path = `/deals/${id}/external_ids`;
    const add: Request = ['POST', `/api/v2${path}`, { source: 'race', id: name }];
    return {
      requests: [add, add],
      statuses: [[200, 200]],
      check: async (one, other) => {
        expect(other.body.data).toEqual(one.body.data);
        expect(await read(path)).toEqual([one.body.data]);
      },
    };
  },
  'an upsert of one email, with different fields': async (name) => {
    const email = `${name}@a.test`;
    return {
      requests: [
        ['POST', '/api/v2/contacts/upsert', { email, title: 'A' }],
        ['POST', '/api/v2/contacts/upsert', { email: email.toUpperCase(), remarks: 'B' }],
      ],
      statuses: [
        [201, 200],
        [200, 201],
      ],
      check: async (one, other) => {
        expect(other.body.data.id).toBe(one.body.data.id);
        expect([one, other].map(({ body }) => body.data.outcome).toSorted()).toEqual(['created', 'updated']);
        expect(await read(`/contacts/${one.body.data.id}`)).toMatchObject({ title: 'A', remarks: 'B' });
      },
    };
  },
  'an upsert by one external ID, and the deletion of its record': async (name) => {
    const external_id = { source: 'race', id: name };
    const { id } = await make('/tasks/upsert', { name: 'A', external_id });
    return {
      requests: [
        ['POST', '/api/v2/tasks/upsert', { name: 'B', external_id }],
        ['DELETE', `/api/v2/tasks/${id}`],
      ],
      statuses: [
        [200, 204],
        [201, 204],
      ],
      check: async ({ status, body }) => {
        const found = await read(`/tasks?external_id=race:${name}`);
        expect(found.map((task: Json) => task.id)).toEqual(status === 201 ? [body.data.id] : []);
      },
    };
  },
  'two batches that link the same records': async () => {
    const [deal, contact] = [
      await make('/deals', { name: 'D' }),
      await make('/contacts', { first_name: 'C' }),
    ];
    const item = { of: 'deals.contacts', parent_id: deal.id, id: contact.id };
    const batch: Request = ['POST', '/api/v2/links/batch', [item]];
    return {
      requests: [batch, batch],
      statuses: [[200, 200]],
      check: async (one, other) => {
        const [[first], [second]] = [one.body.data.items, other.body.data.items];
        expect([first.status, second.status].toSorted()).toEqual(['linked', 'unchanged']);
        expect(second.data).toEqual(first.data);
      },
    };
  },
  'two notes, each to be below the other': async () => {
    const [a, b] = [await make('/notes', { title: 'A' }), await make('/notes', { title: 'B' })];
    return {
      requests: [
        ['PATCH', `/api/v2/notes/${a.id}`, { parent_id: b.id }],
        ['PATCH', `/api/v2/notes/${b.id}`, { parent_id: a.id }],
      ],
      statuses: [
        [200, 422],
        [422, 200],
      ],
    };
  },
  'two fields of one record': async () => {
    const { id } = await make('/contacts', { first_name: 'C' });
    return {
      requests: [
        ['PATCH', `/api/v2/contacts/${id}`, { title: 'A' }],
        ['PATCH', `/api/v2/contacts/${id}`, { remarks: 'B' }],
      ],
      statuses: [[200, 200]],
      check: async () => expect(await read(`/contacts/${id}`)).toMatchObject({ title: 'A', remarks: 'B' }),
    };
  },
  'an update, and the deletion': async () => {
    const { id } = await make('/contacts', { first_name: 'C' });
    return {
      requests: [
        ['PATCH', `/api/v2/contacts/${id}`, { title: 'A' }],
        ['DELETE', `/api/v2/contacts/${id}`],
      ],
      statuses: [
        [200, 204],
        [404, 204],
      ],
    };
  },
};

test.each(Object.keys(RACES))(
  '%s',
  async (title) => {
    for (let round = 0; round < ROUNDS; round++) {
      const race = await RACES[title]?.(`r${crypto.randomUUID()}`);
      if (race === undefined) throw new Error(title);
      const { requests, statuses, check } = race;
      // Either node is first as often as the other.
      const order = round % 2 === 0 ? nodes.all : nodes.all.toReversed();
      const sent = requests.map(([method, path, body], index) => order[index]?.send(method, path, { body }));
      const [one, other] = await Promise.all(sent);
      if (one === undefined || other === undefined) throw new Error('two are sent');
      expect(statuses).toContainEqual([one.status, other.status]);
      await check?.(one, other);
    }
  },
  300_000,
);

test('a hundred upserts of one email, many at once, make one contact', async () => {
  const email = `r${crypto.randomUUID()}@a.test`;
  const external_id = { source: 'race', id: email };
  const upsert = (index: number) => {
    const body = { email, title: `T${index % 7}`, ...(index % 2 === 0 && { external_id }) };
    const node = nodes.all[index % 2] ?? nodes.first;
    // One request in four is a batch.
    return index % 4 < 3
      ? node.send('POST', '/api/v2/contacts/upsert', { body })
      : node.send('POST', '/api/v2/contacts/batch/upsert', { body: [body, body] });
  };
  const replies: Reply[] = [];
  while (replies.length < 100) {
    const wave = Array.from({ length: UPSERTS_AT_ONCE }, (_, index) => upsert(replies.length + index));
    replies.push(...(await Promise.all(wave)));
  }
  const answers = replies.flatMap(({ body }) => body.data.items ?? [body]);
  const outcomes = answers.map(({ status, data }: Json) => status ?? data.outcome);
  expect(outcomes.filter((outcome: string) => outcome === 'created')).toHaveLength(1);
  expect(outcomes.filter((outcome: string) => !/^(?:created|updated|unchanged)$/.test(outcome))).toEqual([]);
  expect(new Set(answers.map(({ data }: Json) => data.id)).size).toBe(1);
  expect(await read(`/contacts?email=${email}`)).toHaveLength(1);
  expect(await read(`/contacts?external_id=race:${email}`)).toHaveLength(1);
}, 300_000);

test('an external id', async () => {
  const { orgNumber } = nodes.first;
  for (let round = 0; round < ROUNDS; round++) {
    const external_id = `r${crypto.randomUUID()}`;
    const ingest = nodes.all.map(async ({ store }) => {
      const { entries } = await readRecordings(JSON.stringify([{ external_id, title: 'T' }]));
      const options = { orgNumber, createdBy: 'ingest', ownerId: null, clock: () => nodes.first.clock.now };
      return ingestRecordings(store, options, entries);
    });
    const reports = await Promise.all(ingest);
    expect(reports.map(({ created, unchanged }) => [created, unchanged]).toSorted()).toEqual([
      [0, 1],
      [1, 0],
    ]);
  }
});

test('the name of an organization', async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const name = `r${crypto.randomUUID()}`;
    const made = await Promise.allSettled(
      nodes.all.map(({ store }) => store.write('accounts', (trx) => createOrganization(trx, name, 1))),
    );
    expect(made.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const refused = made.find((one) => one.status === 'rejected');
    expect(String(refused?.reason)).toContain(`An organization named ${name} already exists.`);
  }
});
