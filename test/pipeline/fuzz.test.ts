// Requests that nobody would think of: whatever they carry, no answer is an internal error or outside the contract.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { describedOperations } from '../../server/interface.ts';
import type { Operation } from '../../server/operation.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';

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

const OPERATIONS = describedOperations().filter((operation) => operation.admit === undefined);

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

const known = fc.nat().map((index) => ids[index % ids.length] ?? '');
const scalar = fc.oneof(
  fc.constantFrom<Json>(...ODD, ...MORE),
  known,
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.double({ noNaN: true }),
);

/** Mostly what the schema asks for, now and then something else. */
function fitting(schema: Json): fc.Arbitrary<Json> {
  return fc.oneof({ weight: 19, arbitrary: right(schema) }, { weight: 1, arbitrary: scalar });
}

function right(schema: Json): fc.Arbitrary<Json> {
  if (Array.isArray(schema.type)) {
    return fc.oneof(...schema.type.map((type: string) => right({ ...schema, type })));
  }
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.format === 'email') return fc.nat(30).map((one) => `Person${one}@fuzz.test`);
  if (schema.format === 'date') return fc.constant('2026-02-28');
  if (schema.type === 'string') return fc.oneof(known, fc.string({ unit: 'grapheme', maxLength: 9 }));
  if (schema.type === 'integer') return fc.integer({ min: schema.minimum, max: schema.maximum });
  if (schema.type === 'number') return fc.double({ min: schema.minimum, max: schema.maximum, noNaN: true });
  if (schema.type === 'boolean') return fc.boolean();
  if (schema.type === 'array') return fc.array(fitting(schema.items), { maxLength: 3 });
  if (schema.type !== 'object') return fc.constant(null);
  const required = schema.required ?? [];
  const given = Object.entries<Json>(schema.properties ?? {}).map(([name, property]) => {
    const often = { weight: required.includes(name) ? 40 : 1, arbitrary: fitting(property) };
    return fc.oneof(often, { weight: 2, arbitrary: fc.constant(undefined) }).map((value) => [name, value]);
  });
  const more = fc.dictionary(fc.constantFrom('nope', 'constructor', '', 'a.b', 'id'), scalar, {
    maxKeys: 2,
    noNullPrototype: true,
  });
  const extra = fc.oneof({ weight: 9, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: more });
  return fc
    .tuple(fc.tuple(...given), extra)
    .map(([pairs, others]) => ({ ...Object.fromEntries(pairs), ...others }));
}

function bodyOf({ body, isBatch }: Operation): fc.Arbitrary<Json> {
  return isBatch === true ? fc.array(fitting(body), { maxLength: 4 }) : fitting(body);
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
    segments: fc.array(fc.oneof(known, known, scalar), { minLength: 2, maxLength: 2 }),
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
      const allowed = [
        ...Object.keys(operation.successes).map(Number),
        ...operation.errorStatuses,
        403,
        404,
        422,
      ];
      expect(failures).toEqual([]);
      expect(allowed).toContain(reply.status);
      if (reply.text !== '') expect(reply.body.meta.request_id).toMatch(/^req_/);
    }),
    { numRuns: 2_000, seed: 20_261_121, endOnFailure: true },
  );
}, 60_000);
