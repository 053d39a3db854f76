// Journeys on the compiled executable, each from an empty folder: what a person does on the first day, and what breaks.
import { afterAll, describe, expect, test } from 'bun:test';
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { readState } from '../../cli/import/session/journal-state.ts';
import { BINARY, ndjson, type RunningCommand, type RunningServer, Sandbox } from '../support/command.ts';
import { DatabaseProxy } from '../support/database-proxy.ts';
import { isPostgres } from '../support/fresh-databases.ts';
import type { Json } from '../support/harness.ts';
import { makeOpenFolder } from '../support/shared-folders.ts';

const isBuilt = existsSync(BINARY);
if (!isBuilt) console.warn(`skipped: ${BINARY} is not built; run "bun run build"`);

const TIMEOUT_MS = 300_000;
const DEALS = 3_000;
const IMPORT = ['import', 'deals', 'deals.csv', '--batch-size', '5'];

const sandboxes: Sandbox[] = [];
const proxies: DatabaseProxy[] = [];
afterAll(async () => {
  await Promise.all(proxies.map((proxy) => proxy.stop()));
  for (const sandbox of sandboxes) await sandbox[Symbol.asyncDispose]();
});

async function emptyFolder(): Promise<Sandbox> {
  const sandbox = await Sandbox.withDatabase([BINARY]);
  sandboxes.push(sandbox);
  return sandbox;
}

interface Answer {
  status: number;
  headers: Headers;
  body: Json;
}

async function send(method: string, url: string, key: string, body?: unknown): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const { status, headers } = response;
  return { status, headers, body: text === '' ? null : JSON.parse(text) };
}

/** Rows that the journal beside the input calls done. */
function rowsDone(sandbox: Sandbox): number {
  const path = sandbox.path('deals.csv.crm-journal');
  return existsSync(path) ? readState(readFileSync(path)).state.rows : 0;
}

/** Resolves once the import is under way, and fails if it ended before anybody saw it. */
async function underWay(sandbox: Sandbox, command: RunningCommand): Promise<void> {
  let ended: unknown;
  void command.result.then((result) => {
    ended = result;
  });
  while (rowsDone(sandbox) < 100) {
    if (ended !== undefined) throw new Error(`the import ended too soon: ${JSON.stringify(ended)}`);
    await Bun.sleep(2);
  }
}

const portOf = ({ url }: RunningServer) => Number(new URL(url).port);

/** A folder with a served organization and a file of deals, which nothing but the import keeps from doubling. */
async function dealsToImport() {
  const sandbox = await emptyFolder();
  const server = await sandbox.serveOrganization();
  // Through this process, so that nothing is imported while it is too busy to see how far that has come.
  const proxy = await DatabaseProxy.start(portOf(server));
  proxies.push(proxy);
  sandbox.env.CRM_URL = proxy.through(`${server.url}/`);
  const serveAgain = async () => {
    proxy.port = portOf(await sandbox.serve());
  };
  const names = Array.from({ length: DEALS }, (_, index) => `Deal ${index}`);
  await sandbox.write('deals.csv', `name,estimated_value\n${names.map((name) => `${name},10`).join('\n')}\n`);
  const storedNames = async (): Promise<unknown[]> =>
    ndjson(await sandbox.ok(['list', 'deals', '--all', '--fields', 'name', '-o', 'ndjson'])).map(
      ({ name }) => name,
    );
  return { sandbox, server, serveAgain, names: names.sort(), storedNames };
}

describe.skipIf(!isBuilt)('the executable', () => {
  test('is named in messages by its path where it is not on the PATH, before a command and before an option', () => {
    const { exitCode, stderr } = Bun.spawnSync([BINARY, 'help', 'xyzzy'], { env: { PATH: '' } });
    expect([exitCode, stderr.toString()]).toEqual([
      2,
      expect.stringContaining(
        `Next: Run "${BINARY} help" to list the topics, or "${BINARY} --help" to list the commands.`,
      ),
    ]);
  });

  test(
    'leads from an empty folder through both versions, an import and an export to the same records',
    async () => {
      const sandbox = await emptyFolder();
      const server = await sandbox.serveOrganization('Acme Inc');
      const v1Key = await sandbox.ok(['keys', 'issue', '--org', 'Acme Inc', '--api', 'v1', '--all-scopes']);
      const [v1, v2] = [`${server.url}/api/v1`, `${server.url}/api/v2`];
      const v2Key = sandbox.env.CRM_API_KEY ?? '';

      const authenticated = await send('GET', `${v1}/authenticate`, v1Key);
      expect(authenticated.body.data).toEqual({ team_name: 'Acme Inc' });
      expect((await send('GET', `${v2}/contacts`, v1Key)).body.error.code).toBe('AUTH_INVALID_API_KEY');
      const person = { type: 'email', identifier: 'grace@example.com', firstName: 'Grace' };
      const created = await send('POST', `${v1}/people`, v1Key, person);
      expect(created.status).toBe(201);
      const seen = await send('GET', `${v2}/contacts/${created.body.data.id}`, v2Key);
      expect(seen.body.data).toMatchObject({ email: 'grace@example.com', first_name: 'Grace' });

      const people = Array.from({ length: 250 }, (_, index): [string, string] => [
        `p${index}@example.com`,
        `Ada, "${index}"`,
      ]);
      const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;
      await sandbox.write(
        'people.csv',
        ['E-mail,First Name', ...people.map((row) => row.map(cell).join(','))].join('\r\n'),
      );
      const imported = await sandbox.crm(['import', 'contacts', 'people.csv', '-o', 'json']);
      expect(imported.code).toBe(0);
      expect(JSON.parse(imported.stdout)).toMatchObject({ created: 250, rejected: 0 });

      const paged: string[] = [];
      let cursor = '';
      do {
        const { body } = await send('GET', `${v2}/contacts?limit=100${cursor}`, v2Key);
        paged.push(...body.data.map((contact: { email: string }) => contact.email));
        cursor = body.page_info.has_next_page ? `&cursor=${body.page_info.end_cursor}` : '';
      } while (cursor !== '');
      const expected = ['grace@example.com', ...people.map(([email]) => email)].sort();
      expect(paged.sort()).toEqual(expected);
      const people1 = await send('POST', `${v1}/people/query`, v1Key, { limit: 100 });
      expect(people1.body.data).toHaveLength(100);
      expect(people1.body.page_info.has_next_page).toBe(true);

      await sandbox.ok(['export', 'contacts', '--out', 'out.ndjson']);
      const rows = ndjson(await sandbox.read('out.ndjson')).map(({ email, first_name }) => [
        email,
        first_name,
      ]);
      expect(rows.sort()).toEqual([['grace@example.com', 'Grace'], ...people].sort());
      expect((await server.stop()).code).toBe(0);
    },
    TIMEOUT_MS,
  );

  test(
    'a server killed in the middle of an import: it goes on once the server is back, every row once',
    async () => {
      const { sandbox, server, serveAgain, names, storedNames } = await dealsToImport();
      const command = sandbox.start(IMPORT);
      await underWay(sandbox, command);
      await server.stop('SIGKILL');
      expect(rowsDone(sandbox)).toBeLessThan(DEALS);
      await serveAgain();
      const { code, stderr } = await command.result;
      expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
      expect((await storedNames()).sort()).toEqual(names);
      const again = await sandbox.crm(IMPORT);
      expect(again.code).toBe(0);
      expect(again.stderr).toContain('was already imported');
      expect(await storedNames()).toHaveLength(DEALS);
    },
    TIMEOUT_MS,
  );

  test(
    'an importer killed on its way, and the server with it: the same command again gives every row once',
    async () => {
      const { sandbox, server, serveAgain, names, storedNames } = await dealsToImport();
      const command = sandbox.start(IMPORT);
      await underWay(sandbox, command);
      command.kill('SIGKILL');
      await Promise.all([command.result, server.stop('SIGKILL')]);
      expect(rowsDone(sandbox)).toBeLessThan(DEALS);
      await serveAgain();
      const again = await sandbox.crm(IMPORT);
      expect(again.code).toBe(0);
      expect(again.stderr).toContain('Resuming after row');
      expect((await storedNames()).sort()).toEqual(names);
    },
    TIMEOUT_MS,
  );

  test(
    'an interrupted importer ends with 130, says how to go on, and the same command goes on',
    async () => {
      const { sandbox, names, storedNames } = await dealsToImport();
      const command = sandbox.start(IMPORT);
      await underWay(sandbox, command);
      command.kill('SIGINT');
      const interrupted = await command.result;
      expect(interrupted.code).toBe(130);
      expect(interrupted.stderr).toMatch(/Interrupted after [\d,]+ rows\.\nNext: Run the same command again/);
      expect((await sandbox.crm(IMPORT)).code).toBe(0);
      expect((await storedNames()).sort()).toEqual(names);
    },
    TIMEOUT_MS,
  );

  test('an address in use, and a second server on one file, are reported with the next step', async () => {
    const sandbox = await emptyFolder();
    const server = await sandbox.serveOrganization();
    const { port } = new URL(server.url);
    const taken = await sandbox.crm(['serve', '--db', 'other.db', '--port', port]);
    expect(taken).toMatchObject({ code: 1, stdout: '' });
    expect(taken.stderr).toMatch(/127\.0\.0\.1:\d+ is already in use\.\nNext: .*--port/);
    // A database on PostgreSQL may be served by several.
    if (isPostgres) return;
    const second = await sandbox.crm(['serve', '--port', '0']);
    expect(second).toMatchObject({ code: 1, stdout: '' });
    expect(second.stderr).toMatch(new RegExp(`process ${server.pid}\\b.*\\nNext: `));
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  });

  test.skipIf(isPostgres)('openapi prints without a server what a server serves', async () => {
    const sandbox = await emptyFolder();
    const server = await sandbox.serve();
    const printed = JSON.parse(await sandbox.ok(['openapi']));
    const served = (await (await fetch(`${server.url}/docs/json`)).json()) as Json;
    expect(printed.paths).toEqual(served.paths);
    const versionOne = JSON.parse(await sandbox.ok(['openapi', '--api', 'v1']));
    expect(Object.keys(versionOne.paths)).not.toEqual([]);
    expect(Object.keys(versionOne.paths).join()).not.toContain('/contacts');
  });

  // It has one entry, which its threads run too.
  test.skipIf(isPostgres)('serves from several threads', async () => {
    const sandbox = await emptyFolder();
    const key = await sandbox.ok(['init', '--org', 'Acme Inc']);
    const server = await sandbox.serve(['--readers', '3']);
    const url = `${server.url}/api/v2/contacts`;
    const created = await send('POST', url, key, { first_name: 'Ada' });
    expect(created.status).toBe(201);
    const threads = readdirSync(`/proc/${server.pid}/task`).map((task) =>
      readFileSync(`/proc/${server.pid}/task/${task}/comm`, 'utf8').trim(),
    );
    expect(threads.filter((name) => name === 'Worker')).toHaveLength(3);
    const read = await Promise.all(
      Array.from({ length: 30 }, () => send('GET', `${url}/${created.body.data.id}`, key)),
    );
    expect(new Set(read.map(({ body }) => body.data.first_name))).toEqual(new Set(['Ada']));
    expect((await server.stop()).code).toBe(0);
  });

  test('version tells version, commit and Bun', async () => {
    const line = await (await emptyFolder()).ok(['version']);
    expect(line).toMatch(/^crm \d+\.\d+\.\d+ \(commit (?:[0-9a-f]{12}|unknown), Bun \d+\.\d+\.\d+\)$/);
  });

  const open = process.getuid?.() === 0 && Bun.which('setpriv') !== null ? makeOpenFolder() : null;
  afterAll(() => open !== null && rmSync(open, { recursive: true }));
  test.skipIf(open === null)(
    'runs as a user that has neither a name nor a folder (needs root, and a folder in which others may run it)',
    () => {
      const folder = open ?? '';
      const copy = join(folder, 'crm');
      copyFileSync(BINARY, copy);
      const nobody = ['setpriv', '--reuid=54321', '--regid=54321', '--clear-groups', 'env', '-i'];
      const command = [...nobody, copy, 'init', '--org', 'Acme', '--db', join(folder, 'their.db')];
      const { exitCode, stderr } = Bun.spawnSync(command, { cwd: folder });
      expect([exitCode, stderr.toString()]).toEqual([
        0,
        expect.stringContaining('Created organization Acme'),
      ]);
    },
  );

  test('a .env or a bunfig.toml that happens to lie in the folder means nothing to it', async () => {
    const sandbox = new Sandbox([BINARY]);
    sandboxes.push(sandbox);
    await sandbox.write('.env', 'CRM_DB=elsewhere.db\nCRM_OUTPUT=nonsense\n');
    await sandbox.write('bunfig.toml', 'preload = ["./no-such-file.ts"]\n');
    await sandbox.ok(['init', '--org', 'Acme']);
    expect(existsSync(join(sandbox.folder, 'crm.db'))).toBe(true);
    expect(ndjson(await sandbox.ok(['orgs', 'list']))).toHaveLength(1);
  });
});
