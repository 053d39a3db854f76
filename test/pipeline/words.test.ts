// What refusals tell beyond their code: where malformed JSON breaks, which path takes an array, how a plus is written.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type Harness, type Json, type Reply, startHarness } from '../support/harness.ts';
import { threadMs } from '../support/thread-time.ts';

let harness: Harness;

beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const messageOf = ({ body }: Reply): string => body.error.message;
const detailsOf = ({ body }: Reply): Json[] => body.error.details;

describe('malformed JSON', () => {
  const CASES: [text: string, line: number, column: number][] = [
    ['{"name": }', 1, 10],
    ['{"name": "x",}', 1, 14],
    ['{\n  "name": "x"\n  "phone": 1\n}', 3, 3],
    ['{"name": "x"', 1, 13],
    ['{"na\tme": 1}', 1, 5],
    ["{'name': 1}", 1, 2],
    ['{"name": 01}', 1, 11],
    ['{"name": nul}', 1, 13],
    ['{"a": 1}\r\n{"b": 2}', 2, 1],
    ['{"😀": "x" 1}', 1, 11],
    ['[1, 2', 1, 6],
    ['{"a": "\\x"}', 1, 9],
  ];
  for (const [raw, line, column] of CASES) {
    test(`${JSON.stringify(raw)} breaks at line ${line}, column ${column}`, async () => {
      const reply = await harness.send('POST', '/api/v2/contacts', { raw });
      expect([reply.status, reply.body.error.code]).toEqual([422, 'VALIDATION_INVALID_FORMAT']);
      expect(messageOf(reply)).toContain(`line ${line}, column ${column}`);
    });
  }
});

test('a body that curl -d calls a form gets a hint how curl sends JSON', async () => {
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const reply = await harness.send('POST', '/api/v2/contacts', { raw: '{"first_name":"Ada"}', headers });
  expect([reply.status, reply.body.error.code]).toEqual([422, 'VALIDATION_INVALID_FORMAT']);
  expect(messageOf(reply)).toContain('--json');
});

describe('two credentials', () => {
  test('name the one that is wanted', async () => {
    for (const path of ['/api/v1/authenticate', '/api/v2/contacts']) {
      const key = path.includes('v1') ? harness.v1 : harness.v2;
      const reply = await harness.send('GET', path, { key, headers: { 'X-Service-Api-Key': key } });
      expect([reply.status, reply.body.error.code]).toEqual([401, 'AUTH_INVALID_API_KEY']);
      expect(messageOf(reply)).toContain('exactly one');
    }
  });
});

describe('a raw plus in a query', () => {
  const REFUSED = [
    'contacts?phone=+441632960123',
    'contacts?email=ada+crm@example.com',
    'contacts?created_since=2026-01-01T00:00:00+02:00',
    'contacts?limit=+5',
    'companies?updated_since=2026-01-01T00:00:00+00:00',
    'bookings?attendee_email=ada+crm@example.com',
  ];
  for (const path of REFUSED) {
    test(`${path} is refused with a hint`, async () => {
      const reply = await harness.send('GET', `/api/v2/${path}`);
      expect(reply.status).toBe(422);
      expect(JSON.stringify(detailsOf(reply))).toContain('%2B');
    });
  }

  const TAKEN = [
    'contacts?phone=%2B441632960123',
    'contacts?phone=%2B44%201632%20960123',
    'contacts?email=ada%2Bcrm@example.com',
    'companies?name=Smith+and+Sons',
    'contacts?created_since=2026-01-01T00:00:00%2B02:00',
  ];
  for (const path of TAKEN) {
    test(`${path} is taken`, async () => {
      expect((await harness.send('GET', `/api/v2/${path}`)).status).toBe(200);
    });
  }

  test('a value refused for another reason gets no hint', async () => {
    const reply = await harness.send('GET', '/api/v2/contacts?limit=x');
    expect(JSON.stringify(detailsOf(reply))).not.toContain('%2B');
  });
});

describe('an array where one record is wanted', () => {
  for (const resource of [
    'contacts',
    'companies',
    'deals',
    'pipelines',
    'tasks',
    'notes',
    'segments',
    'interactions',
  ]) {
    test(`${resource}: gets a hint at the batch path`, async () => {
      const reply = await harness.send('POST', `/api/v2/${resource}`, { body: [{ name: 'x' }] });
      expect(reply.status).toBe(422);
      expect(messageOf(reply)).toContain(`/api/v2/${resource}/batch`);
    });
  }

  test('where there is no batch path, none is named', async () => {
    const reply = await harness.send('POST', '/api/v1/people', { body: [{ firstName: 'x' }] });
    expect(reply.status).toBe(422);
    expect(messageOf(reply)).not.toContain('/batch');
  });
});

describe('many faults', () => {
  const unknown = (count: number): Json =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`unknown_${at}`, 1]));

  test('of one body: nineteen, and how many more there are', async () => {
    const reply = await harness.send('POST', '/api/v2/contacts', {
      body: { first_name: 'A', ...unknown(50) },
    });
    expect([reply.status, reply.body.error.code]).toEqual([422, 'VALIDATION_FAILED']);
    expect(detailsOf(reply)).toHaveLength(20);
    expect(detailsOf(reply).at(-1).message).toContain('31 more');
    expect(messageOf(reply)).toContain('50 errors');
  });

  test('twenty are reported in full', async () => {
    const reply = await harness.send('POST', '/api/v2/contacts', {
      body: { first_name: 'A', ...unknown(19) },
    });
    expect(detailsOf(reply)).toHaveLength(19);
    expect(JSON.stringify(detailsOf(reply))).not.toContain('more');
  });

  test('of a batch: once two hundred are listed, later items carry code and message alone', async () => {
    const body = Array.from({ length: 100 }, () => ({ first_name: 'A', ...unknown(30) }));
    const reply = await harness.send('POST', '/api/v2/contacts/batch', { body });
    const errors: Json[] = reply.body.data.items.map((item: Json) => item.error);
    const listed = errors.map((error) => error.details?.length ?? 0);
    expect(Math.max(...listed)).toBe(20);
    expect(listed.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(219);
    expect(listed.slice(11)).toEqual(Array.from({ length: 89 }, () => 0));
    expect(errors.at(-1)).toEqual({ code: 'VALIDATION_FAILED', message: expect.any(String) });
    expect(reply.text.length).toBeLessThan(100_000);
  });

  test('a stored answer stays small too', async () => {
    const name = 'k'.repeat(1_500);
    const item = Object.fromEntries(Array.from({ length: 10 }, (_, at) => [`${name}${at}`, 1]));
    const body = Array.from({ length: 100 }, () => item);
    const headers = { 'Idempotency-Key': 'many-faults' };
    const reply = await harness.send('POST', '/api/v2/contacts/batch', { body, headers });
    expect(reply.text.length).toBeLessThan(250_000);
  });
});

test('a parameter sixty thousand times over is refused in no time: in the square of that it would be half a minute', async () => {
  const query = Array.from({ length: 60_000 }, () => 'a=1').join('&');
  const startedMs = threadMs();
  const reply = await harness.send('GET', `/api/v2/contacts?${query}`);
  expect(reply.status).toBe(422);
  expect(threadMs() - startedMs).toBeLessThan(5_000);
});
