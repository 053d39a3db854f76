// What a value may be is said once: the server, a dry run and ingest tell of it with one code, path and text.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type ImportService, startImportService } from '../fixtures/import/service.ts';
import { lines } from '../fixtures/import/tasks.ts';
import { keysOf, textOf } from '../support/field-samples.ts';
import type { Json } from '../support/harness.ts';
import { readMeetings, readRecordings } from '../support/ingest-readers.ts';

const NOWHERE = '019b76da-a800-7000-8000-000000000001';
const interaction = {
  type: 'EMAIL',
  direction: 'INBOUND',
  title: 'Hello',
  main_contact_email: 'a@b.example',
};

/** Bodies that a create must refuse, by resource. */
const FAULTY: Record<string, Json[]> = {
  contacts: [
    {},
    { email: 'x' },
    { email: true },
    { email: `${'a'.repeat(1_000)}@b.example` },
    { email: textOf(600) },
    { alt_emails: ['a@b.example', 'x'], phone: '1' },
    { alt_emails: [5], first_name: 'A' },
    { alt_emails: Array.from({ length: 101 }, (_, index) => `a${index}@many.example`), phone: '1' },
    { alt_emails: Array.from({ length: 201 }, (_, index) => `a${index}@many.example`), phone: '1' },
    { first_name: 'a\0b' },
    { last_name: '\ud800' },
    { first_name: textOf(1_001) },
    { remarks: textOf(10_001), phone: '1' },
    { title: {}, phone: '1' },
    { keep_in_touch: 'maybe', phone: '1' },
    { custom: { deep: { a: 1 } }, phone: '1' },
    { custom: { long: textOf(1_001) }, phone: '1' },
    { custom: { big: 2 ** 53 }, phone: '1' },
    { custom: { ['k'.repeat(101)]: 1 }, phone: '1' },
    { custom: keysOf(101), phone: '1' },
    { custom: keysOf(201), phone: '1' },
    { custom: { 'a\0b': 1 }, phone: '1' },
    { custom: [1], phone: '1' },
    { company_id: NOWHERE, phone: '1' },
    { company_id: textOf(1_001), phone: '1' },
    { email: 'x', first_name: [], custom: { a: [] } },
    { custom: Object.fromEntries(Array.from({ length: 25 }, (_, index) => [`k${index}`, []])), phone: '1' },
    { phone: ' ', first_name: '' },
  ],
  companies: [
    {},
    { domain: 'https://' },
    { domain: '...' },
    { domain: textOf(1_001) },
    { name: 'A', employee_count: -1 },
    { name: 'A', employee_count: 1.5 },
    { name: 'A', employee_count: 'many' },
    { name: 'A', employee_count: 2 ** 53 },
    { name: 'A', estimated_revenue: -(2 ** 53) },
    { name: 'A', estimated_revenue: 'a lot' },
    { name: 'A', estimated_revenue: [] },
    { employee_count: -1, custom: { a: {} } },
  ],
  deals: [
    {},
    { name: '' },
    { name: ' \t' },
    { name: 'D', currency: 'eur' },
    { name: 'D', currency: 'XYZ' },
    { name: 'D', currency: textOf(1_001) },
    { name: 'D', estimated_value: 'x' },
    { name: 'D', estimated_close_date: true },
    { name: 'D', company_id: NOWHERE },
    { name: 'D', point_of_contact_id: NOWHERE },
    { name: 'D', pipeline_id: NOWHERE },
    { name: 'D', stage_id: NOWHERE },
    { name: 'D', pipeline_id: NOWHERE, stage_id: NOWHERE },
  ],
  pipelines: [
    { stages: [{ name: 'A' }] },
    { name: 'P', stages: [] },
    { name: 'P', stages: 'A' },
    { name: 'P', stages: [{}] },
    { name: 'P', stages: [{ name: '' }] },
    { name: 'P', stages: [{ name: 'A', type: 'half' }] },
    { name: 'P', stages: [{ name: 'A', colour: 'red' }] },
    { name: 'P', stages: [{ name: 'A', probability: 2 }] },
    { name: 'P', stages: [{ name: 'A', probability: 'x' }] },
    { name: 'P', stages: Array.from({ length: 51 }, () => ({ name: 'A' })) },
  ],
  tasks: [
    { done: true },
    { name: 'T', due_date: true },
    { name: 'T', due_date: 1.5 },
    { name: 'T', due_date: 253_402_300_800_000 },
    { name: 'T', due_date: -62_167_219_200_001 },
    { name: 'T', done: [] },
    { name: 'T', deal_id: NOWHERE },
    { name: 'T', person_id: NOWHERE },
  ],
  notes: [
    { content: 'C' },
    { title: 'N', content: textOf(50_001) },
    { title: 'N', parent_id: NOWHERE },
    { title: 'N', is_archived: 'x' },
  ],
  segments: [{}, { name: 'S', record_type: 'deal' }, { name: 'S', description: 1.5 }],
  interactions: [
    {},
    { ...interaction, type: 'LETTER' },
    { ...interaction, direction: 5 },
    { ...interaction, title: '' },
    { ...interaction, main_contact: NOWHERE },
    { ...interaction, main_contact_email: 'x' },
    { type: 'EMAIL', direction: 'INBOUND', title: 'Hello' },
    { type: 'EMAIL', direction: 'INBOUND', title: 'Hello', main_contact: NOWHERE },
    { ...interaction, interaction_date: 1.5 },
    { ...interaction, summary: textOf(10_001) },
  ],
};

let service: ImportService;

beforeAll(async () => {
  service = await startImportService();
});
afterAll(() => service.close());

/** An error of the server as an errors file tells it: each fault with its path, where there are several. */
function rowOf({ code, details }: Json): Json {
  const paths = details.flatMap(({ path }: Json) => (path === '' ? [] : [path]));
  const told = details.map(({ path, message }: Json) =>
    details.length > 1 && path !== '' ? `${path}: ${message}` : message,
  );
  return { code, path: paths.join(', '), message: told.join('; ') };
}

async function refused(resource: string, body: Json): Promise<Json> {
  const reply = await service.harness.send('POST', `/api/v2/${resource}`, { body });
  expect([body, reply.status]).toEqual([body, 422]);
  return reply.body.error;
}

/** What a dry run says of rows that it would all reject. */
async function dryRun(resource: string, bodies: Json[]): Promise<Json[]> {
  const file = `${resource}.ndjson`;
  await service.write(file, bodies.map((body) => JSON.stringify(body)).join('\n'));
  const flags = ['--date-format', 'unix-ms', '--dry-run', '--errors', `errors-${file}`];
  const run = await service.crm(['import', resource, file, ...flags]);
  expect([run.exitCode, run.stderr]).toEqual([3, expect.stringContaining('would be rejected')]);
  return lines(await service.read(`errors-${file}`)).map((line) => {
    const { _line: line_, _code: code, _path: path, _message: message } = JSON.parse(line);
    return { line: line_, code, path, message };
  });
}

describe('a dry run says what the server would say', () => {
  for (const [resource, bodies] of Object.entries(FAULTY)) {
    test(`of ${bodies.length} bodies of ${resource}`, async () => {
      const expected: Json[] = [];
      for (const [index, body] of bodies.entries())
        expected.push({ line: index + 1, ...rowOf(await refused(resource, body)) });
      expect(await dryRun(resource, bodies)).toEqual(expected);
    });
  }

  test('of a stage of another pipeline', async () => {
    const other = { name: 'Other', stages: [{ name: 'New' }] };
    const { body } = await service.harness.send('POST', '/api/v2/pipelines', { body: other });
    const deal = { name: 'D', stage_id: body.data.stages[0].id };
    expect(await dryRun('deals', [deal])).toEqual([{ line: 1, ...rowOf(await refused('deals', deal)) }]);
  });

  test('of values that another record has, and adds whose they are', async () => {
    const rows: [string, Json, Json][] = [
      ['contacts', { email: 'taken@same.example' }, { phone: '1', alt_emails: ['TAKEN@same.example'] }],
      ['companies', { domain: 'same.example' }, { domain: 'https://www.SAME.example/about' }],
    ];
    for (const [resource, first, second] of rows) {
      const { body } = await service.harness.send('POST', `/api/v2/${resource}`, { body: first });
      const reply = await service.harness.send('POST', `/api/v2/${resource}`, { body: second });
      const { code, path, message } = rowOf(reply.body.error);
      expect(await dryRun(resource, [second])).toEqual([
        { line: 1, code, path, message: `${message}: ${body.data.id}` },
      ]);
    }
  });
});

describe('ingest says what the server says', () => {
  const told = async (value: Json, read: typeof readMeetings | typeof readRecordings) =>
    (await read(JSON.stringify({ external_id: 'x', ...value }))).faults.map(({ message }) => message);

  test.each([
    [{ title: 5 }, 'contacts', { title: 5 }],
    [{ title: 'a\0b' }, 'contacts', { title: 'a\0b' }],
    [{ title: textOf(1_001) }, 'contacts', { title: textOf(1_001) }],
    [{ description: textOf(10_001) }, 'tasks', { description: textOf(10_001) }],
    [{ owner_id: 5 }, 'contacts', { owner_id: 5 }],
    [{ company_id: [] }, 'contacts', { company_id: [] }],
    [{ deal_id: textOf(1_001) }, 'tasks', { deal_id: textOf(1_001) }],
    [{ start_time: 1.5 }, 'tasks', { due_date: 1.5 }],
    [{ start_time: 253_402_300_800_000 }, 'tasks', { due_date: 253_402_300_800_000 }],
    [{ start_time: 2 ** 53 }, 'tasks', { due_date: 2 ** 53 }],
  ])('of a value of a meeting: %#', async (value, resource, body) => {
    const { details } = await refused(resource, { phone: '1', name: 'T', ...body });
    const [name = ''] = Object.keys(body);
    const [own = ''] = Object.keys(value);
    const faults = details.filter(({ path }: Json) => path === name);
    expect(await told(value, readMeetings)).toEqual(faults.map(({ message }: Json) => `${own} ${message}`));
    expect(faults).not.toEqual([]);
  });

  test('of names that are not known, and of lists that are none, with what is allowed', async () => {
    const [unknown] = (await refused('tasks', { name: 'T', colour: 1 })).details;
    const [beginning] = unknown.message.split('name, ');
    expect(await told({ colour: 1 }, readMeetings)).toEqual([
      expect.stringContaining(`colour ${beginning}external_id, title`),
    ]);
    const [notList] = (await refused('contacts', { phone: '1', alt_emails: 'x' })).details;
    expect(await told({ segments: 'x' }, readRecordings)).toEqual([`segments ${notList.message}`]);
    const [choice] = (await refused('segments', { name: 'S', record_type: 'x' })).details;
    expect(await told({ status: 'x' }, readMeetings)).toEqual([
      `status ${choice.message.replace('contact, company', 'confirmed, tentative, cancelled')}`,
    ]);
  });
});
