// Metrics of a server of several threads: what each has counted, as one answer.
import { expect, test } from 'bun:test';
import { Sandbox } from '../support/command.ts';
import { Scrape } from '../support/metrics.ts';

test('are the sum over the threads, and of what is shared once', async () => {
  using sandbox = new Sandbox();
  const key = await sandbox.ok(['init', '--org', 'Example']);
  const flags = ['--readers', '3', '--metrics-port', '0', '--key-limit', '1000', '--org-limit', '2000'];
  const server = await sandbox.serve(flags);
  const headers = { 'X-Service-Api-Key': key, Connection: 'close' };
  const batch = JSON.stringify([{ first_name: 'Ada' }, { nothing: 1 }]);
  for (let count = 0; count < 60; count++) {
    expect((await fetch(`${server.url}/api/v2/contacts`, { headers })).status).toBe(200);
    const init = { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' }, body: batch };
    expect((await fetch(`${server.url}/api/v2/contacts/batch`, init)).status).toBe(200);
  }
  const scrape = await Scrape.of(server.metricsUrl);
  const labels = { method: 'GET', route: '/api/v2/contacts' };
  expect(scrape.value('crm_reader_threads')).toBe(3);
  expect(scrape.value('crm_http_requests_total', { ...labels, status: '200' })).toBe(60);
  expect(scrape.value('crm_http_request_duration_seconds_count', labels)).toBe(60);
  expect(scrape.value('crm_batch_items_total', { result: 'created' })).toBe(60);
  expect(scrape.value('crm_batch_items_total', { result: 'failed' })).toBe(60);
  expect(scrape.value('crm_rate_limit_requests_per_minute', { limit: 'key' })).toBe(1_000);
  // Counted in common by all of them; a minute may have turned.
  expect(scrape.value('crm_rate_limit_used_ratio', { limit: 'key' })).toBeWithin(0, 0.121);
  expect(scrape.value('crm_build_info')).toBe(1);
  expect(scrape.value('crm_ready')).toBe(1);
  expect(scrape.value('crm_request_body_limit_bytes')).toBe(288 * 2 ** 20);
  await sandbox.ok(['orgs', 'quota', 'Example', '--records', '1']);
  const init = {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: '{"first_name":"A"}',
  };
  expect((await fetch(`${server.url}/api/v2/contacts`, init)).status).toBe(403);
  expect(
    (await Scrape.of(server.metricsUrl)).value('crm_limit_refusals_total', { limit: 'quota_records' }),
  ).toBe(1);
  await server.stop();
}, 300_000);
