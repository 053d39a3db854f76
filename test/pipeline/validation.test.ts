// Validation: which fault has which code and path, that all are reported at once, however many they are.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { creatorOf } from '../support/creates.ts';
import { expectRefusal, type FaultRow, versionOf } from '../support/envelope.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';

let harness: Harness;
let create: Awaited<ReturnType<typeof creatorOf>>;
beforeAll(async () => {
  harness = await startHarness();
  create = await creatorOf(harness);
});
afterAll(() => harness.close());

const FAILED = 'VALIDATION_FAILED';
const INVALID = 'VALIDATION_INVALID_FORMAT';
const RANGE = 'VALIDATION_OUT_OF_RANGE';
const REQUIRED = 'VALIDATION_REQUIRED_FIELD';

const KINDS: [path: string, body: Json, faults: FaultRow[], says?: string[]][] = [
  ['/api/v2/contacts', { first_name: null }, [['email', REQUIRED]], ['email, phone, first_name, last_name']],
  ['/api/v2/contacts', { first_name: '' }, [['email', REQUIRED]]],
  ['/api/v2/companies', { name: null }, [['domain', REQUIRED]], ['domain, name']],
  ['/api/v2/deals', { name: undefined }, [['name', REQUIRED]]],
  ['/api/v2/deals', { name: null }, [['name', FAILED]]],
  ['/api/v2/pipelines', { stages: [{}] }, [['stages.0.name', REQUIRED]]],
  ['/api/v2/interactions', { main_contact: undefined }, [['main_contact', REQUIRED]], ['main_contact_email']],
  ['/api/v2/interactions', { main_contact_email: 'x@y.co' }, [['main_contact_email', FAILED]], ['not both']],
  ['/api/v2/interactions', { main_contact: null }, [['main_contact', REQUIRED]]],
  ['/api/v1/people', { firstName: undefined }, [['firstName', REQUIRED]]],
  ['/api/v1/people', { identifier: undefined }, [['identifier', REQUIRED]]],
  ['/api/v1/interactions', { mainContact: undefined }, [['mainContact', REQUIRED]], ['mainContactEmail']],
  ['/api/v1/interactions', { mainContactEmail: 'x@y.co' }, [['mainContactEmail', FAILED]], ['mainContact ']],
  ['/api/v2/contacts', { email: 'nobody' }, [['email', INVALID]], ['ada@example.com']],
  ['/api/v2/contacts', { email: '' }, [['email', INVALID]]],
  ['/api/v2/contacts', { email: 'a@b.co ' }, [['email', INVALID]]],
  ['/api/v2/contacts', { email: 'a@b@c.co' }, [['email', INVALID]]],
  ['/api/v2/contacts', { email: 'Ada <a@b.co>' }, [['email', INVALID]]],
  ['/api/v2/contacts', { alt_emails: ['ok@b.co', 'nobody'] }, [['alt_emails.1', INVALID]]],
  ['/api/v2/contacts', { alt_emails: 'ok@b.co' }, [['alt_emails', FAILED]], ['array']],
  [
    '/api/v2/contacts',
    { alt_emails: [5, null] },
    [
      ['alt_emails.0', FAILED],
      ['alt_emails.1', FAILED],
    ],
  ],
  ['/api/v2/interactions', { contact_ids: 'x' }, [['contact_ids', FAILED]], ['array']],
  [
    '/api/v2/interactions',
    { contact_ids: ['x', 'y'], company_ids: ['z'] },
    [
      ['contact_ids.0', FAILED],
      ['contact_ids.1', FAILED],
      ['company_ids.0', FAILED],
    ],
  ],
  ['/api/v1/interactions', { contactIds: [] }, [['contactIds', FAILED]]],
  ['/api/v1/people', { identifier: 'nobody' }, [['identifier', INVALID]]],
  ['/api/v2/deals', { estimated_close_date: '2026-02-30' }, [['estimated_close_date', INVALID]]],
  ['/api/v2/deals', { estimated_close_date: '2026-02-03T00:00:00Z' }, [['estimated_close_date', INVALID]]],
  [
    '/api/v2/deals',
    { estimated_close_date: '3/2/2026' },
    [['estimated_close_date', INVALID]],
    ['YYYY-MM-DD'],
  ],
  ['/api/v2/deals', { currency: 'euro' }, [['currency', INVALID]], ['EUR']],
  ['/api/v2/deals', { currency: 'eur' }, [['currency', INVALID]]],
  ['/api/v2/companies', { domain: 'https://' }, [['domain', INVALID]], ['example.com']],
  ['/api/v1/companies', { domain: 'http:///path' }, [['domain', INVALID]]],
  ['/api/v2/contacts', { first_name: 5 }, [['first_name', FAILED]], ['string']],
  ['/api/v2/contacts', { first_name: ['A'] }, [['first_name', FAILED]]],
  ['/api/v2/contacts', { first_name: true }, [['first_name', FAILED]]],
  ['/api/v2/contacts', { keep_in_touch: 'true' }, [['keep_in_touch', FAILED]], ['true or false']],
  ['/api/v2/contacts', { keep_in_touch: 1 }, [['keep_in_touch', FAILED]]],
  ['/api/v2/contacts', { keep_in_touch: null }, [['keep_in_touch', FAILED]]],
  ['/api/v2/companies', { employee_count: '5' }, [['employee_count', FAILED]], ['integer']],
  ['/api/v2/companies', { employee_count: 5.5 }, [['employee_count', FAILED]]],
  ['/api/v2/tasks', { due_date: '2026-01-01T00:00:00Z' }, [['due_date', FAILED]], ['integer']],
  ['/api/v2/tasks', { due_date: 1.5 }, [['due_date', FAILED]]],
  ['/api/v2/segments', { record_type: 'deal' }, [['record_type', FAILED]], ['contact, company']],
  ['/api/v2/interactions', { type: 'CALL' }, [['type', FAILED]], ['DIRECT_MESSAGE', 'VOICE_NOTE']],
  ['/api/v2/interactions', { direction: 'inbound' }, [['direction', FAILED]], ['INBOUND', 'EVENT']],
  ['/api/v1/people', { type: 'phone' }, [['type', FAILED]], ['email']],
  ['/api/v1/interactions', { type: 'CALL' }, [['type', FAILED]], ['DIRECT_MESSAGE', 'VOICE_NOTE']],
  [
    '/api/v2/pipelines',
    { stages: [{ name: 'a', type: 'done' }] },
    [['stages.0.type', FAILED]],
    ['open, won, lost'],
  ],
  ['/api/v2/pipelines', { stages: [{ name: 'a', colour: 'red' }] }, [['stages.0.colour', FAILED]]],
  ['/api/v2/contacts', { custom: { a: { b: 1 } } }, [['custom.a', FAILED]]],
  ['/api/v2/contacts', { custom: { a: [1] } }, [['custom.a', FAILED]]],
  ['/api/v2/contacts', { custom: [] }, [['custom', FAILED]]],
  ['/api/v2/contacts', { custom: 'x' }, [['custom', FAILED]]],
  ['/api/v1/companies', { a: { b: 1 } }, [['a', FAILED]]],
  ['/api/v1/companies', { a: [1] }, [['a', FAILED]]],
  ['/api/v2/contacts', { firstName: 'A' }, [['firstName', FAILED]], ['first_name']],
  ['/api/v2/contacts', { id: 'mine' }, [['id', FAILED]]],
  ['/api/v2/contacts', { created_at: '2026-01-01T00:00:00Z' }, [['created_at', FAILED]]],
  [
    '/api/v2/contacts',
    { updated_at: 1, created_by: 'me' },
    [
      ['updated_at', FAILED],
      ['created_by', FAILED],
    ],
  ],
  ['/api/v2/contacts', { last_interaction_at: null }, [['last_interaction_at', FAILED]]],
  ['/api/v2/deals', { status: 'won' }, [['status', FAILED]]],
  ['/api/v2/tasks', { done_at: null }, [['done_at', FAILED]]],
  ['/api/v1/people', { companyId: 'x' }, [['companyId', FAILED]]],
  ['/api/v1/people', { first_name: 'x' }, [['first_name', FAILED]]],
  [
    '/api/v1/companies',
    { id: 'x', creationTime: 'y' },
    [
      ['id', FAILED],
      ['creationTime', FAILED],
    ],
  ],
  ['/api/v2/contacts', { company_id: 'absent' }, [['company_id', FAILED]], ['existing company']],
  ['/api/v2/contacts', { company_id: '' }, [['company_id', FAILED]]],
  ['/api/v2/contacts', { company_id: 5 }, [['company_id', FAILED]]],
  ['/api/v2/contacts', { owner_id: 'absent' }, [['owner_id', FAILED]], ['existing user']],
  [
    '/api/v2/deals',
    { stage_id: 'absent', company_id: 'absent' },
    [
      ['stage_id', FAILED],
      ['company_id', FAILED],
    ],
  ],
  ['/api/v2/interactions', { main_contact: 'absent' }, [['main_contact', FAILED]]],
  ['/api/v1/interactions', { mainContact: 'absent' }, [['mainContact', FAILED]]],
  [
    '/api/v2/contacts',
    { email: 'nobody', first_name: 5, remarks: 'x'.repeat(10_001), nope: 1, custom: { a: {} } },
    [
      ['email', INVALID],
      ['first_name', FAILED],
      ['remarks', RANGE],
      ['nope', FAILED],
      ['custom.a', FAILED],
    ],
  ],
  [
    '/api/v2/contacts',
    { first_name: undefined, title: 5 },
    [
      ['title', FAILED],
      ['email', REQUIRED],
    ],
  ],
  [
    '/api/v2/companies',
    { name: '', employee_count: -1 },
    [
      ['employee_count', RANGE],
      ['domain', REQUIRED],
    ],
  ],
  [
    '/api/v2/interactions',
    { type: undefined, main_contact: undefined },
    [
      ['type', REQUIRED],
      ['main_contact', REQUIRED],
    ],
  ],
  [
    '/api/v1/interactions',
    { type: undefined, mainContact: undefined },
    [
      ['type', REQUIRED],
      ['mainContact', REQUIRED],
    ],
  ],
  [
    '/api/v1/interactions',
    { title: 5, mainContactEmail: 'x@y.co' },
    [
      ['title', FAILED],
      ['mainContactEmail', FAILED],
    ],
  ],
  [
    '/api/v1/companies',
    { id: 'x', name: 5 },
    [
      ['id', FAILED],
      ['name', FAILED],
    ],
  ],
  [
    '/api/v1/interactions',
    { type: undefined, direction: 'up', title: 'x'.repeat(1_001), interactionDate: '1', nope: 1 },
    [
      ['type', REQUIRED],
      ['direction', FAILED],
      ['title', RANGE],
      ['interactionDate', FAILED],
      ['nope', FAILED],
    ],
  ],
];

describe('however many the faults', () => {
  const many = (total: number, value: Json) =>
    Object.fromEntries(Array.from({ length: total }, (_, index) => [`k${index}`, value]));
  test('nineteen of 190 unknown fields are reported', async () => {
    for (const path of ['/api/v2/contacts', '/api/v1/people', '/api/v1/people/query']) {
      const reply = await create(path, many(190, 1));
      expect([reply.status, reply.body.error.code]).toEqual([422, FAILED]);
      expect(reply.body.error.details[0]).toMatchObject({ path: 'k0', code: FAILED });
      expect(reply.body.error.details).toHaveLength(20);
    }
  });

  test('nineteen of 100 bad values in custom are reported, and how many more there are', async () => {
    const { details } = (await create('/api/v2/contacts', { first_name: 'A', custom: many(100, {}) })).body
      .error;
    const told = Object.keys(many(19, {})).map((key) => `custom.${key}`);
    expect(details.map(({ path }: Json) => path)).toEqual([...told, '']);
    expect(details.at(-1).message).toContain('81 more errors');
  });

  for (const total of [201, 501, 20_000]) {
    test(`${total} keys in one object are refused for their number alone`, async () => {
      for (const [path, body, at] of [
        ['/api/v2/contacts', many(total, 1), ''],
        ['/api/v1/people', many(total, 1), ''],
        ['/api/v1/companies', many(total, {}), ''],
        ['/api/v2/contacts', { custom: many(total, {}) }, 'custom'],
      ] as const) {
        const reply = await create(path, body);
        expect([reply.status, reply.body.error.code]).toEqual([422, RANGE]);
        expect(reply.body.error.details).toMatchObject([{ path: at, code: RANGE }]);
      }
    });
    test(`${total} items in a list are refused for their number alone`, async () => {
      const reply = await create('/api/v2/contacts', { alt_emails: Array(total).fill('\0') });
      expect([reply.status, reply.body.error.code]).toEqual([422, RANGE]);
      expect(reply.body.error.details).toMatchObject([{ path: 'alt_emails', code: RANGE }]);
    });
  }

  test('in an item of a batch too', async () => {
    const body = [{ first_name: 'A', ...many(600, 1) }, { first_name: 'B' }];
    const { items } = (await harness.send('POST', '/api/v2/contacts/batch', { body })).body.data;
    expect(items.map((item: Json) => item.status)).toEqual(['error', 'created']);
  });
});

describe('faults have their code and path', () => {
  for (const [path, body, faults, says = []] of KINDS) {
    test(`${path} ${JSON.stringify(body).slice(0, 70)}`, async () => {
      const reply = await create(path, body);
      const code = faults.length > 1 ? FAILED : (faults[0]?.[1] ?? '');
      const { message, details } = expectRefusal(reply, 422, code, faults, versionOf(path));
      for (const word of says) expect(details[0].message).toContain(word);
      // The message of an error with one fault is of use by itself.
      if (faults.length === 1) expect(message).toBe(`${details[0].path}: ${details[0].message}`);
    });
  }
});
