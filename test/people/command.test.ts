// `crm people` as its users run it: beside a server, with nothing left in the file, and told again when a backup brings somebody back.
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readFileSync, statSync } from 'node:fs';
import { ndjson, type RunningServer, Sandbox } from '../support/command.ts';
import { isPostgres } from '../support/fresh-databases.ts';

const EMAIL = 'Ada.Hidden@secret.example';
const LONG = 300_000;
const HIDDEN = /ada\.hidden@secret/i;

const sandbox = await Sandbox.withDatabase();
let server: RunningServer;
beforeAll(async () => {
  server = await sandbox.serveOrganization('Acme');
});
afterAll(() => sandbox[Symbol.asyncDispose]());

async function makeAda(): Promise<void> {
  const [ada] = ndjson(
    await sandbox.ok(['create', 'contacts', `email=${EMAIL}`, 'first_name=Ada', '-o', 'ndjson']),
  );
  const id = String(ada?.id);
  const content = `${'x'.repeat(20_000)} ${EMAIL}`;
  const [note] = ndjson(
    await sandbox.ok(['create', 'notes', 'title=Ada', `content=${content}`, '-o', 'ndjson']),
  );
  // Earlier states, which SQLite keeps unless it is made to overwrite them.
  for (const title of ['One', 'Two']) await sandbox.ok(['update', 'contacts', id, `title=${title}`]);
  await sandbox.ok(['update', 'notes', String(note?.id), `content=${EMAIL} again`]);
  await sandbox.ok(['create', 'deals', `name=Deal of ${EMAIL}`, `point_of_contact_id=${id}`]);
}

const inFiles = (): string =>
  ['crm.db', 'crm.db-wal'].map((name) => readFileSync(sandbox.path(name), 'latin1')).join('');

test('is refused without a word of consent, an address or an organization', async () => {
  const bare = await sandbox.crm(['people', 'erase', EMAIL, '--org', 'Acme']);
  expect([bare.code, bare.stderr]).toEqual([2, expect.stringContaining('--confirm')]);
  expect((await sandbox.crm(['people', 'erase', 'ada', '--org', 'Acme', '--confirm'])).code).toBe(2);
  expect((await sandbox.crm(['people', 'erase', EMAIL, '--org', 'Nobody', '--confirm'])).code).toBe(1);
  await sandbox.ok(['orgs', 'create', 'Another']);
  expect((await sandbox.crm(['people', 'export', EMAIL])).code).toBe(2);
});

test('a document goes to stdout, or to a file that its owner alone can read', async () => {
  await makeAda();
  const document = JSON.parse(await sandbox.ok(['people', 'export', EMAIL.toUpperCase(), '--org', 'acme']));
  expect(document).toMatchObject({ organization: { name: 'Acme' }, contact: { email: EMAIL } });
  expect(Object.keys(document.records)).toEqual(['deals', 'notes']);
  await sandbox.ok(['people', 'export', EMAIL, '--org', 'Acme', '--out', 'ada.json', '--quiet']);
  expect(JSON.parse(readFileSync(sandbox.path('ada.json'), 'utf8')).records).toEqual(document.records);
  expect(statSync(sandbox.path('ada.json')).mode & 0o777).toBe(0o600);
  const again = ['people', 'export', EMAIL, '--org', 'Acme', '--out', 'ada.json', '--quiet'];
  expect(await sandbox.crm(again)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('The file ada.json already exists'),
  });
  await sandbox.ok([...again, '--force']);
});

describe('erasing beside a server', () => {
  test('a dry run writes nothing', async () => {
    const planned = await sandbox.crm(['people', 'erase', EMAIL, '--org', 'Acme', '--dry-run', '-o', 'json']);
    expect(JSON.parse(planned.stdout)).toMatchObject({
      dry_run: true,
      resources: { contacts: { deleted: 1 }, deals: { changed: 1 }, notes: { changed: 1 } },
    });
    expect(await sandbox.ok(['list', 'contacts', '--filter', `email=${EMAIL}`])).toMatch(HIDDEN);
  });

  test('leaves no address in what is served, in the audit log, or in the file and its log', async () => {
    if (!isPostgres) {
      await sandbox.ok(['backup', 'before.db', '--quiet']);
      expect(inFiles()).toMatch(HIDDEN);
    }
    const { code, stdout, stderr } = await sandbox.crm([
      'people',
      'erase',
      EMAIL,
      '--org',
      'Acme',
      '--confirm',
      '-o',
      'json',
    ]);
    expect([code, stderr]).toEqual([0, expect.stringContaining('Review 2 records')]);
    expect(stdout + stderr).not.toMatch(HIDDEN);
    expect(JSON.parse(stdout).left).toEqual([]);
    for (const resource of ['contacts', 'deals', 'notes'])
      expect(await sandbox.ok(['list', resource])).not.toMatch(HIDDEN);
    expect(await sandbox.ok(['list', 'deals'])).toContain('Deal of [erased]');
    if (isPostgres) return expect(stderr).toContain('VACUUM');
    expect(stderr).toContain('before.db');
    expect(inFiles()).not.toMatch(HIDDEN);
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    await sandbox.ok(['create', 'contacts', 'first_name=Next']);
  });

  test.skipIf(isPostgres)('a backup made after it has none either', async () => {
    await sandbox.ok(['backup', 'clean.db', '--quiet']);
    expect(readFileSync(sandbox.path('clean.db'), 'latin1')).not.toMatch(HIDDEN);
  });

  test('an address that nobody has changes nothing', async () => {
    const { code, stderr } = await sandbox.crm(['people', 'erase', EMAIL, '--org', 'Acme', '--confirm']);
    expect([code, stderr]).toEqual([0, expect.stringContaining('stored responses: 0 deleted')]);
  });
});

type Left = Record<string, string | null>;

describe('what is left is listed, with exit code 1', () => {
  const left = async (email: string, ...more: string[]) => {
    const { code, stdout, stderr } = await sandbox.crm([
      ...['people', 'erase', email, '--org', 'Acme', '--confirm', '-o', 'json'],
      ...more,
    ]);
    return { code, stderr, left: JSON.parse(stdout).left };
  };

  test('an account of crm itself', async () => {
    await sandbox.ok(['users', 'create', 'grace@secret.example', '--org', 'Acme']);
    const { code, stderr, left: places } = await left('grace@secret.example');
    expect([code, stderr]).toEqual([1, expect.stringContaining('Ignore users: they are crm accounts')]);
    for (const place of places) expect(['users', 'statistics']).toContain(place.table ?? place.kind);
    expect(places).toContainEqual(
      expect.objectContaining({ kind: 'row', table: 'users', column: 'email', organization: 'Acme' }),
    );
  });

  test(
    'an account by its name, which may look like JSON',
    async () => {
      const named = ['--org', 'Acme', '--name', '[bot] of ann@secret.example'];
      await sandbox.ok(['users', 'create', 'bot@secret.example', ...named]);
      const { code, left: places } = await left('ann@secret.example');
      expect(code).toBe(1);
      expect(places).toContainEqual(expect.objectContaining({ kind: 'row', table: 'users', column: 'name' }));
    },
    LONG,
  );

  test(
    'nothing, where others have addresses that end alike',
    async () => {
      for (const name of ['maryjo', 'anne-jo', 'u003cjo'])
        await sandbox.ok([
          'create',
          'contacts',
          `email=${name}@secret.example`,
          'remarks=maryjo@secret.example',
        ]);
      await sandbox.ok(['create', 'contacts', 'email=jo@secret.example']);
      expect(await left('jo@secret.example')).toMatchObject({ code: 0, left: [] });
    },
    LONG,
  );

  test(
    'the URL of a webhook, with what to do about it',
    async () => {
      const words = ['url=https://hooks.example.com/june@secret.example', 'events=deals.*', '-o', 'json'];
      const { id } = JSON.parse(await sandbox.ok(['webhooks', 'create', ...words]));
      await sandbox.ok(['create', 'notes', 'title=N', 'content=To june@secret.example.']);
      const { code, stderr, left: places } = await left('june@secret.example');
      expect([code, places.map(({ table }: Left) => table)]).toEqual([1, ['webhooks']]);
      expect(stderr).toContain(`crm webhooks update ${id} url=URL`);
      expect(stderr).not.toContain('run the same command again');
      await sandbox.ok(['webhooks', 'delete', id, '--yes']);
      expect((await left('june@secret.example')).code).toBe(0);
    },
    LONG,
  );

  test.skipIf(isPostgres)(
    'what another organization has of the person, in the same file',
    async () => {
      const other = await sandbox.ok(['init', '--org', 'Other']);
      const options = { env: { CRM_API_KEY: other } };
      await sandbox.ok(['create', 'notes', 'title=N', 'content=To <joan@secret.example>.'], options);
      await sandbox.ok(['create', 'notes', 'title=N', 'content=Of jane.joan@secret.example.'], options);
      const { code, stderr, left: places } = await left('joan@secret.example');
      expect([code, stderr]).toEqual([
        1,
        expect.stringContaining('Erase the person from other organizations too'),
      ]);
      const found = places.map(({ table, organization }: Left) => `${table} of ${organization}`);
      expect(new Set(found)).toEqual(new Set(['idempotency_keys of Other', 'notes of Other']));
      const erased = ['people', 'erase', 'joan@secret.example', '--org', 'Other', '--confirm'];
      expect((await sandbox.crm(erased)).code).toBe(0);
      // What is somebody else's, and ends alike, is in the file still.
      expect((await left('joan@secret.example')).code).toBe(0);
    },
    LONG,
  );

  test.skipIf(isPostgres)(
    'the log, while somebody reads what was there before',
    async () => {
      await sandbox.ok(['create', 'notes', 'title=N', 'content=To jean@secret.example.']);
      const reader = new Database(sandbox.path('crm.db'), { readonly: true });
      reader.run('BEGIN');
      reader.query('SELECT count(*) FROM notes').get();
      const { code, stderr, left: places } = await left('jean@secret.example', '--quiet');
      expect([code, stderr]).toEqual([1, expect.stringContaining('run the same command again')]);
      expect(places).toContainEqual(expect.objectContaining({ kind: 'log' }));
      reader.run('COMMIT');
      reader.close();
      expect((await left('jean@secret.example')).code).toBe(0);
    },
    LONG,
  );
});

test.skipIf(isPostgres)(
  'a backup that brings somebody back is reported, with the command that erases again',
  async () => {
    await server.stop();
    const { code, stderr } = await sandbox.crm(['restore', 'before.db', '--confirm']);
    const again = 'crm people erase ada.hidden@secret.example --org Acme --confirm';
    expect([code, stderr]).toEqual([0, expect.stringContaining(again)]);
    const erased = await sandbox.crm(['people', 'erase', EMAIL, '--org', 'Acme', '--confirm']);
    expect(erased.stderr).toContain('crm.db.before-restore-');
    await sandbox.ok(['backup', 'after.db', '--quiet']);
    expect((await sandbox.crm(['restore', 'after.db', '--confirm'])).stderr).not.toContain('people erase');
  },
  300_000,
);
