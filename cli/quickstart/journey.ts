// The journey of quickstart: import over HTTP, ingest, read with both API versions, export.

import { listRequest } from '../api/list-request.ts';
import { pagesOf } from '../api/pages.ts';
import { CliError } from '../errors.ts';
import { clientFor, type Demo } from './demo.ts';
import { exportContacts } from './export.ts';
import { importDemo } from './import.ts';
import { ingestDemo } from './ingest.ts';
import type { Measure, QuickstartStats } from './stats.ts';

/** Sends the demo data through the server and back; throws if anything is refused, lost or duplicated. */
export async function runJourney(demo: Demo): Promise<QuickstartStats> {
  const { data } = demo;
  const startedMs = performance.now();
  const imported = await importDemo(demo);
  const ingested = await ingestDemo(demo);
  const pages = { v2: await readAll(demo, 'v2'), v1: await readAll(demo, 'v1') };
  const exported = await exportContacts(demo);
  if (exported.records !== data.records.contacts.length) throw notWhole('The export');
  return { ...imported, ingested, pages, exported, seconds: (performance.now() - startedMs) / 1_000 };
}

/** Reads all contacts, which v1 calls people, and checks that every imported one appears exactly once. */
async function readAll(demo: Demo, api: 'v1' | 'v2'): Promise<Measure> {
  const { screen, data, ids, database } = demo;
  const client = clientFor(demo, database.keys[api]);
  const list = listRequest(api === 'v1' ? 'people' : 'contacts', { api, filter: [] });
  const missing = new Set(data.records.contacts.map(({ key }) => ids.get(key)));
  const measure = await screen.measure({
    ...{ label: `Read with ${api}`, unit: list.name, total: missing.size },
    run: async (report) => {
      const state = { done: 0, requests: 0, bytes: 0 };
      for await (const page of pagesOf(client, list)) {
        for (const { id } of page.records) missing.delete(String(id));
        state.done += page.records.length;
        state.requests = client.answered;
        state.bytes += Buffer.byteLength(page.response.text);
        report(state);
      }
      return state;
    },
  });
  if (missing.size > 0 || measure.records !== data.records.contacts.length) {
    throw notWhole(`Reading with ${api}`);
  }
  return measure;
}

function notWhole(what: string): CliError {
  return new CliError(`${what} did not return every contact exactly once.`, {
    nextSteps: ['run it again. If this happens again, report it with the output above.'],
  });
}
