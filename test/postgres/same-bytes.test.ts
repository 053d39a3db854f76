// One journey on both engines: byte for byte the same answers, save ids, cursors and signatures, at the same times.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { anyRequest } from '../model/arbitraries.ts';
import { compareAll, Step, startWorld } from '../model/run.ts';
import { sendRow } from '../support/contract-walk.ts';
import { ROWS } from '../support/endpoints.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { contentOf, fillOrganization, IMPORTED } from '../support/organization.ts';
import { PostgresServer, postgresPrograms } from '../support/postgres.ts';
import { Transcript } from '../support/transcript.ts';

const NOW = Date.now();
const REQUESTS = 300;
// A plan that PostgreSQL can choose by itself, depending on when it gathers statistics: it finds rows in another order.
const WITHOUT_INDEXES = ['enable_indexscan', 'enable_bitmapscan', 'enable_indexonlyscan'];

describe.skipIf(postgresPrograms === null)('SQLite and PostgreSQL', () => {
  const folder = mkdtempSync(join(tmpdir(), 'crm-test-'));
  let server: PostgresServer;
  beforeAll(async () => {
    server = await PostgresServer.start();
  }, 300_000);
  afterAll(async () => {
    await server.close();
    rmSync(folder, { recursive: true, force: true });
  });

  type Journey = (harness: Harness) => Promise<unknown>;

  /** What is sent and answered on a journey through a database that is empty as it begins. */
  async function transcriptOf(db: string, journey: Journey): Promise<string[]> {
    const harness = await startHarness({ db, now: NOW });
    const transcript = new Transcript();
    await journey(transcript.of(harness));
    await harness.close();
    return transcript.lines;
  }

  let journeys = 0;
  async function expectSame(journey: Journey, off: readonly string[] = []): Promise<void> {
    journeys += 1;
    await server.sql(`create database journey_${journeys}`);
    for (const setting of off) await server.sql(`alter database journey_${journeys} set ${setting} = off`);
    const onSqlite = await transcriptOf(join(folder, `journey-${journeys}.db`), journey);
    const onPostgres = await transcriptOf(server.address(`journey_${journeys}`), journey);
    for (const [step, line] of onSqlite.entries()) expect(onPostgres[step]).toBe(line);
    expect(onPostgres).toHaveLength(onSqlite.length);
    expect(onSqlite.length).toBeGreaterThan(20);
  }

  test(
    'answer each operation alike',
    () =>
      expectSame(async (harness) => {
        for (const row of ROWS)
          await sendRow(harness, row, row[1].startsWith('/api/v1') ? harness.v1 : harness.v2);
      }),
    300_000,
  );

  test(
    'refuse alike',
    () =>
      expectSame(async ({ send }) => {
        for (const [method, path] of ROWS) {
          await send(method, path.replaceAll(/\{\w+\}/g, '01890000-0000-7000-8000-000000000000'), {
            body: {},
          });
          await send(method, path, { raw: '[' });
          await send(method, `${path}?nope=1`, { body: { nope: 1 } });
          await send(method, path, { key: 'service_live_wrong' });
        }
      }),
    300_000,
  );

  test(
    'show a whole organization alike, page by page',
    () =>
      expectSame(async (harness) => {
        await fillOrganization(harness);
        await contentOf(harness, harness.v2, true);
        for (const resource of IMPORTED) {
          for (const query of ['', '&sort_by=updated_at', '&sort_direction=asc&created_since=2026-01-01']) {
            for (let cursor = ''; ; ) {
              const path = `/api/v2/${resource}?limit=2${query}${cursor}`;
              const { page_info } = (await harness.send('GET', path)).body;
              if (page_info?.has_next_page !== true) break;
              cursor = `&cursor=${encodeURIComponent(page_info.end_cursor)}`;
            }
          }
        }
      }),
    300_000,
  );

  test(
    'take text, numbers and keys alike, and repeat themselves alike',
    () =>
      expectSame(async ({ send }) => {
        const texts = [
          '',
          ' ',
          'ſẞİı',
          '😀'.repeat(500),
          'a\u0000b',
          'e\u0301',
          '\u{10FFFF}',
          '%_\\',
          '\'"',
          'ÅÄ',
        ];
        const amounts = [0, -0, 0.1, 1e21, 1e-7, 1.7976931348623157e308, 5e-324, 9007199254740991];
        for (const [index, text] of texts.entries()) {
          const contact: Json = { first_name: text, custom: { [text]: text }, phone: text };
          for (const body of [contact, contact, { ...contact, title: 'T' }])
            await send('POST', '/api/v2/contacts', { body, headers: { 'Idempotency-Key': `text-${index}` } });
          await send('GET', `/api/v2/contacts?phone=${encodeURIComponent(text)}`);
          await send('POST', '/api/v2/companies', { body: { name: text } });
          await send('GET', `/api/v2/companies?name=${encodeURIComponent(text)}`);
        }
        for (const amount of amounts) {
          await send('POST', '/api/v2/deals', { body: { name: 'D', estimated_value: amount } });
          await send('POST', '/api/v2/companies', { body: { name: 'N', custom: { amount } } });
        }
      }),
    300_000,
  );

  test.each([
    [1, WITHOUT_INDEXES],
    [2, []],
    [3, []],
  ])(
    'take any requests alike: seed %i',
    (seed, off) => {
      const [requests = []] = fc.sample(fc.array(anyRequest, { minLength: REQUESTS, maxLength: REQUESTS }), {
        seed,
        numRuns: 1,
      });
      return expectSame(async (harness) => {
        const { model, real } = await startWorld(harness);
        for (const request of requests) await new Step(request).run(model, real);
        await compareAll(model, real);
      }, off);
    },
    300_000,
  );
});
