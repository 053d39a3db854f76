// Requests that nobody would think of: whatever they carry, no answer is an internal error or outside the contract.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { describedOperations } from '../../server/interface.ts';
import type { Operation } from '../../server/operation.ts';
import { bodyOf, drawFrom, known, queryOf, scalar } from '../soak/fuzz/bodies.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';

const failures: string[] = [];
let harness: Harness;
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
    await created('webhooks', { url: 'https://fuzz.example/', events: ['*'] }),
    pipeline,
    pipeline.stages[1],
  ];
  drawFrom([...records.map((record) => record.id), harness.alice, 'absent', '', 'a@fuzz.test', 'fuzz.test']);
});
afterAll(() => harness.close());

const OPERATIONS = describedOperations().filter((operation) => operation.admit === undefined);

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
      if (reply.headers.get('Content-Type') === 'text/event-stream') return;
      if (reply.text !== '') expect(reply.body.meta.request_id).toMatch(/^req_/);
    }),
    { numRuns: 2_000, seed: 20_261_121, endOnFailure: true },
  );
}, 300_000);
