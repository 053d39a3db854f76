// Requests that nobody would think of: whatever they carry, no answer is an internal error or outside the contract.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { allOperations } from '../server/app.ts';
import type { Operation } from '../server/operation.ts';
import { type Harness, type Json, startHarness } from './support/harness.ts';

const failures: string[] = [];
let harness: Harness;
let ids: string[] = [];
beforeAll(async () => {
  harness = await startHarness({ log: (line) => line.includes('"level":"error"') && failures.push(line) });
  const created = async (resource: string, body: Json) =>
    (await harness.send('POST', `/api/v2/${resource}`, { body })).body.data;
  const pipeline = (await harness.send('GET', '/api/v2/pipelines')).body.data[0];
  const contact = await created('contacts', { first_name: 'A', email: 'a@fuzz.test' });
  const records = [
    contact,
    await created('companies', { domain: 'fuzz.test' }),
    await created('deals', { name: 'D' }),
    await created('notes', { title: 'N' }),
    await created('segments', { name: 'S' }),
    pipeline,
    pipeline.stages[1],
  ];
  ids = [...records.map((record) => record.id), harness.alice, 'absent', '', 'a@fuzz.test', 'fuzz.test'];
});
afterAll(() => harness.close());

const OPERATIONS = allOperations().filter((operation) => operation.isTokenAuthorized !== true);

/** The names that a body of the operation can have, at any depth, and some that it cannot. */
function namesOf(operation: Operation): string[] {
  const names = new Set(['nope', 'constructor', 'toString', '', 'id', 'custom', 'a.b']);
  const walk = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if ('properties' in value) for (const name of Object.keys(value.properties as object)) names.add(name);
    for (const child of Object.values(value)) walk(child);
  };
  walk(operation.body);
  return [...names];
}

const ODD = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e15,
  -0,
  2 ** 53,
  '',
  ' ',
  '0',
  'true',
  '2026-01-31',
  'EUR',
  'EMAIL',
];
const MORE = [
  'INBOUND',
  'open',
  'contact',
  'x'.repeat(1_001),
  '\u0000',
  '😀',
  'b@fuzz.test',
  '%00',
  "'; --",
  [],
  {},
];

const scalar = fc.oneof(
  fc.constantFrom<Json>(...ODD, ...MORE),
  fc.nat().map((index) => ids[index % ids.length]),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.double({ noNaN: true }),
);

function bodyOf(operation: Operation): fc.Arbitrary<Json> {
  const name = fc.constantFrom(...namesOf(operation));
  const { value } = fc.letrec<{ value: Json; object: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      scalar,
      scalar,
      scalar,
      fc.array(tie('value'), { maxLength: 3 }),
      tie('object'),
    ),
    object: fc.dictionary(name, tie('value'), { maxKeys: 8, noNullPrototype: true }),
  }));
  const object = fc.dictionary(name, value, { maxKeys: 8, noNullPrototype: true });
  if (operation.isBatch === true) return fc.oneof(fc.array(fc.oneof(object, value), { maxLength: 4 }), value);
  return fc.oneof({ weight: 9, arbitrary: object }, { weight: 1, arbitrary: value });
}

function queryOf({ query }: Operation): fc.Arbitrary<string> {
  const names = [...Object.keys(query), 'nope', '__proto__', ''];
  const value = scalar.map((one) => encodeURIComponent(String(one).toWellFormed()));
  const pair = fc.tuple(fc.constantFrom(...names), value).map(([name, text]) => `${name}=${text}`);
  return fc.oneof(
    fc.constant(''),
    fc.array(pair, { maxLength: 3 }).map((pairs) => `?${pairs.join('&')}`),
  );
}

// Reported by name: the whole operation would fill the screen.
const named = new Map(OPERATIONS.map((operation) => [`${operation.method} ${operation.path}`, operation]));

const request = fc.constantFrom(...named).chain(([name, operation]) =>
  fc.record({
    name: fc.constant(name),
    segments: fc.array(scalar, { minLength: 2, maxLength: 2 }),
    query: queryOf(operation),
    body: operation.body === undefined ? fc.constant(undefined) : bodyOf(operation),
    key: fc.option(fc.constantFrom('a', 'b', 'not a key'), { nil: undefined, freq: 4 }),
  }),
);

test('2,000 odd requests', async () => {
  await fc.assert(
    fc.asyncProperty(request, async ({ name, segments, query, body, key }) => {
      const operation = named.get(name) as Operation;
      let place = 0;
      const path = operation.path.replaceAll(/\{\w+\}/g, () => {
        const segment = String(segments[place] ?? '').toWellFormed();
        place += 1;
        return encodeURIComponent(segment).replaceAll('.', '%2E') || 'x';
      });
      const headers: Record<string, string> = key === undefined ? {} : { 'Idempotency-Key': key };
      const raw = body === undefined ? undefined : JSON.stringify(body);
      const reply = await harness.send(operation.method, path + query, { headers, raw });
      const allowed = [...operation.successStatuses, ...operation.errorStatuses, 403, 404, 422];
      expect(failures).toEqual([]);
      expect(allowed).toContain(reply.status);
      if (reply.text !== '') expect(reply.body.meta.request_id).toMatch(/^req_/);
    }),
    { numRuns: 2_000, seed: 20_261_121, endOnFailure: true },
  );
}, 30_000);
