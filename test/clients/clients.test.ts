// Clients that three generators make from the description compile strictly, and one of them does the usual work.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openApiDocument } from '../../server/openapi/document.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';

const ROOT = join(import.meta.dir, '../..');
const MODULES = join(ROOT, 'node_modules');
const OPTIONS = {
  target: 'ESNext',
  module: 'Preserve',
  moduleResolution: 'bundler',
  lib: ['ESNext', 'DOM', 'DOM.Iterable'],
  types: [],
  strict: true,
  noUncheckedIndexedAccess: true,
  noUnusedLocals: true,
  noEmit: true,
  skipLibCheck: true,
  allowImportingTsExtensions: true,
};

let folder: string;
let harness: Harness;
let server: Bun.Server<undefined>;

async function run(...command: string[]): Promise<{ code: number; text: string }> {
  const child = Bun.spawn([process.execPath, ...command], { cwd: folder, stdout: 'pipe', stderr: 'pipe' });
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: await child.exited, text: out + err };
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'crm-clients-'));
  cpSync(join(ROOT, 'test/fixtures/clients'), folder, { recursive: true });
  symlinkSync(MODULES, join(folder, 'node_modules'));
  harness = await startHarness();
  server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: (request) => harness.handle(request) });
  const description = await openApiDocument({ baseUrl: server.url.origin });
  await Bun.write(join(folder, 'openapi.json'), JSON.stringify(description));
  await Bun.write(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: OPTIONS }));
  const made = await run(join(import.meta.dir, 'generate.ts'), join(folder, 'openapi.json'), folder);
  if (made.code !== 0) throw new Error(made.text);
}, 300_000);
afterAll(async () => {
  await server.stop(true);
  await harness.close();
  rmSync(folder, { recursive: true, force: true });
});

test('what they generate, and what their users write, compiles strictly', async () => {
  expect(await run(join(MODULES, 'typescript/bin/tsc'), '-p', folder)).toEqual({ code: 0, text: '' });
}, 300_000);

test('openapi-fetch creates, lists, pages, updates, deletes, links, upserts, sends batches and reads an error', async () => {
  const { journey } = await import(join(folder, 'openapi-fetch-journey.ts'));
  const outcome: Json = await journey(server.url.origin, harness.v2);
  const { created, pages, linked, failures } = outcome;
  expect(created).toMatchObject({ email: 'ada@clients.example', keep_in_touch: false });
  expect(pages.map((page: string[]) => page.length)).toEqual([1, 1]);
  expect(pages.flat()).toContain(created.id);
  expect(outcome.updated).toMatchObject({ id: created.id, title: null });
  expect(linked).toMatchObject({ id: created.id, supervisor: expect.any(String) });
  expect(outcome.outcomes).toEqual(['created', 'error']);
  expect(failures).toMatchObject([{ code: 'RESOURCE_CONFLICT', details: [{ path: 'email' }] }]);
  expect(outcome.upserted).toMatchObject({ id: created.id, outcome: 'updated', matched_by: 'email' });
  expect(outcome.named).toMatchObject([{ source: 'erp', id: 'A-1' }]);
  expect(outcome.links).toMatchObject([{ id: created.id, supervisor: linked.supervisor }]);
  const done = ['created', 'error', 'updated', 'found', 'error', 'unchanged', 'deleted'];
  expect(outcome.bulk).toEqual(done);
  expect(outcome.deleted).toBe(204);
  expect(outcome.code).toBe('VALIDATION_REQUIRED_FIELD');
  expect(outcome.faults.length).toBe(1);
});

test('@hey-api/openapi-ts sends a key once', async () => {
  const { calls } = await import(join(folder, 'hey-api-calls.ts'));
  const { emails, deal, code, team, people, company, name, links }: Json = await calls(
    server.url.origin,
    harness,
  );
  expect(emails).toContain('ada@clients.example');
  expect([deal, code]).toEqual([undefined, 'RESOURCE_NOT_FOUND']);
  expect([name, links]).toEqual(['Third unit', 0]);
  expect([team, people > 0, typeof company]).toEqual(['Acme', true, 'string']);
});
