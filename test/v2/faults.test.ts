// A refused body tells every fault at once: of its schema, and of the rules that need nothing but the body.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { type Client, clientOf, expectError } from '../support/v2.ts';

const MISSING = 'VALIDATION_REQUIRED_FIELD';
const WRONG = 'VALIDATION_FAILED';
const FORMAT = 'VALIDATION_INVALID_FORMAT';
const RANGE = 'VALIDATION_OUT_OF_RANGE';

const ROWS: [resource: string, body: Json, faults: Record<string, string>][] = [
  ['interactions', {}, { type: MISSING, direction: MISSING, title: MISSING, main_contact: MISSING }],
  [
    'interactions',
    { type: 'X', title: '', main_contact: 'a', main_contact_email: 'b@mail.example' },
    { type: WRONG, direction: MISSING, title: MISSING, main_contact_email: WRONG },
  ],
  ['contacts', { title: 5, nonsense: 1 }, { email: MISSING, title: WRONG, nonsense: WRONG }],
  [
    'contacts',
    { email: 'x', last_name: 'a\0', custom: { a: [] } },
    {
      email: FORMAT,
      last_name: WRONG,
      'custom.a': WRONG,
    },
  ],
  ['contacts', { alt_emails: ['x', 5] }, { email: MISSING, 'alt_emails.0': FORMAT, 'alt_emails.1': WRONG }],
  ['companies', { employee_count: -1 }, { domain: MISSING, employee_count: RANGE }],
  ['companies', { domain: 'https://', employee_count: 1.5 }, { domain: FORMAT, employee_count: WRONG }],
  [
    'deals',
    { currency: 'eur', estimated_close_date: '2026-02-30', estimated_value: '5' },
    { name: MISSING, currency: FORMAT, estimated_close_date: FORMAT, estimated_value: WRONG },
  ],
  [
    'pipelines',
    { stages: [{ id: 'x', type: 'y' }] },
    { name: MISSING, 'stages.0.id': WRONG, 'stages.0.type': WRONG, 'stages.0.name': MISSING },
  ],
  ['tasks', { done: null, due_date: '5' }, { name: MISSING, done: WRONG, due_date: WRONG }],
  ['notes', { title: '', is_archived: 1 }, { title: MISSING, is_archived: WRONG }],
  ['segments', { record_type: 'deal' }, { name: MISSING, record_type: WRONG }],
];

let harness: Harness;
let api: Client;

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
});
afterAll(() => harness.close());

for (const [resource, body, faults] of ROWS) {
  test(`${resource}: ${Object.keys(faults).join(', ')}`, async () => {
    const reply = await api.post(`/${resource}`, body);
    expectError(reply, 422, WRONG, ...Object.keys(faults));
    const { details } = reply.body.error;
    expect(Object.fromEntries(details.map((detail: Json) => [detail.path, detail.code]))).toEqual(faults);
    for (const { message } of details) expect(message).not.toBeEmpty();
    const { items } = (await api.post(`/${resource}/batch`, [body])).body.data;
    expect(items[0].error).toEqual(reply.body.error);
  });
}

test('a change tells the faults of what it changes', async () => {
  const company = await api.create('companies');
  const reply = await api.patch(`/companies/${company.id}`, { domain: '/', name: 5, custom: { a: {} } });
  expectError(reply, 422, WRONG, 'domain', 'name', 'custom.a');
  const deal = await api.create('deals');
  const body = { currency: 'euro', estimated_close_date: 'soon', company_id: 'absent' };
  expectError(await api.patch(`/deals/${deal.id}`, body), 422, WRONG, 'currency', 'estimated_close_date');
});

test('an enum names its values', async () => {
  const reply = await api.post('/interactions', { type: 'X', direction: 'Y', title: 'T', main_contact: 'x' });
  const text = JSON.stringify(reply.body.error.details);
  for (const value of ['DIRECT_MESSAGE', 'VOICE_NOTE', 'HYBRID', 'EVENT']) expect(text).toContain(value);
});

test('instants are what RFC 3339 can write', async () => {
  for (const due_date of [-62_167_219_200_000, 253_402_300_799_999])
    expect((await api.create('tasks', { name: 'T', due_date })).due_date).toBe(due_date);
  for (const due_date of [-62_167_219_200_001, 253_402_300_800_000])
    expectError(await api.post('/tasks', { name: 'T', due_date }), 422, RANGE, 'due_date');
});
