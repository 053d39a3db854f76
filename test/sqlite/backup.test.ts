// `crm backup` and `crm restore`: what was answered before is in a backup, and what is put back is what was copied.
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { chmodSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { Sandbox } from '../support/command.ts';

const PAGE_BYTES = 4_096;

const sandbox = new Sandbox();
let key: string;
beforeAll(async () => {
  key = await sandbox.ok(['init', '--org', 'Acme', '--user', 'ada@acme.example']);
});
afterAll(() => sandbox[Symbol.dispose]());

interface Contact {
  id: string;
}

async function create(url: string, name: string): Promise<string> {
  const response = await fetch(`${url}/api/v2/contacts`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ first_name: name, email: `${name}@example.com`, custom: { of: name } }),
  });
  expect(response.status).toBe(201);
  return ((await response.json()) as { data: Contact }).data.id;
}

async function idsIn(db: string): Promise<Set<string>> {
  const server = await sandbox.serve(['--db', db]);
  const env = { CRM_URL: server.url, CRM_API_KEY: key };
  const lines = await sandbox.ok(['list', 'contacts', '--all', '--fields', 'id', '-o', 'ndjson'], { env });
  await server.stop();
  return new Set(
    lines
      .split('\n')
      .filter(Boolean)
      .map((line) => (JSON.parse(line) as Contact).id),
  );
}

describe('beside a server under writes', () => {
  test('has every contact that was answered before it began, and can be put back', async () => {
    const server = await sandbox.serve(['--key-limit', '100000', '--org-limit', '100000']);
    const answered: string[] = [];
    let isOver = false;
    const writing = (async () => {
      for (let count = 0; !isOver; count++) answered.push(await create(server.url, `busy${count}`));
    })();
    const known: string[][] = [];
    for (const name of ['one.db', 'two.db', 'three.db']) {
      known.push([...answered]);
      const figures = JSON.parse(await sandbox.ok(['backup', name, '-o', 'json', '--quiet']));
      expect(figures).toEqual({
        ...{ file: name, taken_at: expect.any(String), rows: expect.any(Number) },
        ...{ bytes: statSync(sandbox.path(name)).size, seconds: expect.any(Number) },
      });
    }
    isOver = true;
    await writing;
    const all = new Set(answered);
    await server.stop();
    for (const [index, name] of ['one.db', 'two.db', 'three.db'].entries()) {
      expect(statSync(sandbox.path(name)).mode & 0o777).toBe(0o600);
      await sandbox.ok(['restore', name, '--confirm', '--db', `restored-${name}`]);
      const restored = await idsIn(`restored-${name}`);
      expect(known[index]?.filter((id) => !restored.has(id))).toEqual([]);
      expect([...restored].filter((id) => !all.has(id))).toEqual([]);
    }
  }, 300_000);
});

describe('a backup', () => {
  test('prints lines, and leaves nothing next to the backup', async () => {
    const before = new Set(readdirSync(sandbox.folder));
    const { code, stdout, stderr } = await sandbox.crm(['backup', 'told.db']);
    expect([code, stdout]).toEqual([0, '']);
    expect(stderr).toMatch(
      /\nBacked up [\d,]+ rows of \.\/crm\.db to told\.db \([\d.]+ .B\) in (?:\d+ min )?\d+ s; verified\.\nTo restore it: crm restore told\.db --confirm\n$/,
    );
    expect(readdirSync(sandbox.folder).filter((name) => !before.has(name))).toEqual(['told.db']);
  });

  test('of a database that an older crm wrote leaves that as it is', async () => {
    await sandbox.ok(['backup', 'older.db', '--quiet']);
    const older = new Database(sandbox.path('older.db'));
    older.run('DELETE FROM kysely_migration');
    older.close();
    const before = readFileSync(sandbox.path('older.db'));
    await sandbox.ok(['backup', 'of-older.db', '--db', 'older.db', '--quiet']);
    expect(readFileSync(sandbox.path('older.db')).equals(before)).toBe(true);
  });

  test('has the tables of other programs too, such as those of Litestream', async () => {
    await sandbox.ok(['backup', 'theirs.db', '--quiet']);
    const theirs = new Database(sandbox.path('theirs.db'));
    theirs.run('CREATE TABLE _litestream_seq (id INTEGER PRIMARY KEY, seq INTEGER)');
    theirs.run('CREATE TABLE _litestream_lock (id INTEGER)');
    theirs.run('INSERT INTO _litestream_lock VALUES (1), (1), (2)');
    theirs.run("DELETE FROM settings WHERE name = 'backup'");
    theirs.close();
    await sandbox.ok(['orgs', 'list', '--db', 'theirs.db']);
    await sandbox.ok(['backup', 'of-theirs.db', '--db', 'theirs.db', '--quiet']);
    await sandbox.ok(['restore', 'of-theirs.db', '--db', 'again.db', '--confirm', '--quiet']);
    const again = new Database(sandbox.path('again.db'));
    expect(again.query('SELECT id FROM _litestream_lock').values()).toEqual([[1], [1], [2]]);
    again.close();
  });

  test('takes no place that is taken, unless older ones are to be kept', async () => {
    const refused = await sandbox.crm(['backup', 'told.db']);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('--keep 7')]);
    const first = readFileSync(sandbox.path('told.db'));
    for (let count = 0; count < 3; count++) await sandbox.ok(['backup', 'told.db', '--keep', '3', '--quiet']);
    const names = readdirSync(sandbox.folder).filter((name) => name.startsWith('told.db'));
    expect(names.sort()).toEqual(['told.db', 'told.db.1', 'told.db.2']);
    expect(readFileSync(sandbox.path('told.db.2')).equals(first)).toBe(false);
  });

  test.each([
    [['backup', 'crm.db', '--keep', '2'], 'crm.db is the database itself.'],
    [['backup', '.', '--keep', '2'], '. is a folder.'],
    [
      ['backup', 'a', '--db', 'postgres://ada:secret@db.example/crm'],
      'pg_dump -Fc -f FILE -d postgres://ada@db.example/crm',
    ],
    [['restore', 'a', '--db', 'postgres://ada:secret@db.example/crm'], 'pg_restore'],
    [['restore', 'nowhere.db', '--confirm'], 'File not found: nowhere.db'],
    [['restore', 'crm.db', '--confirm'], 'crm.db is the database itself.'],
    [['restore', 'told.db'], '--confirm'],
  ])('%j is refused in words', async (words, message) => {
    const { code, stderr } = await sandbox.crm(words);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(stderr).not.toContain('secret');
  });

  test('that was killed on its way leaves the one before, and nothing that is taken for one', async () => {
    for (const wait of [150, 250, 350, 450, 550]) {
      const backup = sandbox.start(['backup', 'told.db', '--keep', '1']);
      await Bun.sleep(wait);
      backup.kill('SIGKILL');
      await backup.result;
      await sandbox.ok(['restore', 'told.db', '--confirm', '--quiet', '--db', `after-${wait}.db`]);
    }
    await sandbox.ok(['backup', 'told.db', '--keep', '1', '--quiet']);
    expect(readdirSync(sandbox.folder).filter((name) => name.includes('crm-part'))).toEqual([]);
  });
});

describe('a restore', () => {
  test('waits for no server, and changes nothing under one', async () => {
    const server = await sandbox.serve([]);
    const { code, stderr } = await sandbox.crm(['restore', 'told.db', '--confirm']);
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/Another crm server is already serving .*\nNext: Stop it/s),
    ]);
    await server.stop();
  });

  test('keeps what it replaces, with keys as they were', async () => {
    await sandbox.ok(['backup', 'kept.db', '--quiet']);
    await sandbox.ok(['orgs', 'create', 'Later']);
    const { stderr } = await sandbox.crm(['restore', 'kept.db', '--confirm']);
    expect(stderr).toMatch(
      /Restored \.\/crm\.db from kept\.db in (?:\d+ min )?\d+ s: [\d,]+ rows, as of \d{4}-.*Z\.\n/,
    );
    const [, kept = ''] = /kept as \.\/(crm\.db\.before-restore-\d{8}T\d{6}Z)\.\n/.exec(stderr) ?? [];
    expect(stderr).toContain('API keys that were revoked or rotated since the backup work again');
    expect(await sandbox.ok(['orgs', 'list', '-o', 'ndjson'])).not.toContain('Later');
    expect(await sandbox.ok(['orgs', 'list', '-o', 'ndjson', '--db', kept])).toContain('Later');
  });

  test.each([0o644, 0o400])(
    'is readable by its owner alone, whatever others may do with a backup of mode %o',
    async (mode) => {
      const db = `mode-${mode}.db`;
      const backup = `mode-${mode}.backup.db`;
      await sandbox.ok(['init', '--org', 'Acme', '--db', db]);
      await sandbox.ok(['backup', backup, '--db', db, '--quiet']);
      chmodSync(sandbox.path(backup), mode);
      await sandbox.ok(['restore', backup, '--db', db, '--confirm', '--quiet']);
      expect(statSync(sandbox.path(db)).mode & 0o777).toBe(0o600);
      expect(await sandbox.ok(['orgs', 'list', '--db', db, '-o', 'json'])).toContain('Acme');
    },
  );

  test('puts back what was damaged, other than in its backup', async () => {
    const sound = readFileSync(sandbox.path('kept.db'));
    const answers: string[] = [];
    const pages = sound.length / PAGE_BYTES;
    for (let page = 1; page < pages; page += Math.ceil(pages / 12)) {
      const at = page * PAGE_BYTES;
      const harmed = Buffer.from(sound);
      for (let byte = at; byte < at + 64; byte++) harmed[byte] = 255 - (harmed[byte] ?? 0);
      writeFileSync(sandbox.path('harmed.db'), harmed);
      const { code, stderr } = await sandbox.crm(['restore', 'harmed.db', '--confirm', '--db', 'new.db']);
      answers.push(`${code} ${/is damaged/.test(stderr)}`);
      rmSync(sandbox.path('new.db'), { force: true });
    }
    expect(answers.filter((answer) => answer === '1 true').length).toBeGreaterThan(8);
    expect(answers.filter((answer) => answer !== '1 true' && answer !== '0 false')).toEqual([]);
    writeFileSync(sandbox.path('crm.db'), 'no database at all');
    const { code, stderr } = await sandbox.crm(['restore', 'kept.db', '--confirm']);
    expect([code, stderr]).toEqual([0, expect.stringContaining('Restored ./crm.db')]);
    expect(await sandbox.ok(['orgs', 'list', '-o', 'ndjson'])).toContain('Acme');
  }, 300_000);

  test('finds a value that was changed, which no index tells of', async () => {
    const text = readFileSync(sandbox.path('kept.db'), 'latin1');
    writeFileSync(sandbox.path('changed.db'), text.replaceAll('Acme', 'Acne'), 'latin1');
    const { code, stderr } = await sandbox.crm(['restore', 'changed.db', '--confirm']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('organizations')]);
  });

  test('takes no empty file, and calls it by its name', async () => {
    writeFileSync(sandbox.path('empty.db'), '');
    const { code, stderr } = await sandbox.crm(['restore', 'empty.db', '--confirm', '--db', 'new.db']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('crm: empty.db is empty.')]);
    expect(readdirSync(sandbox.folder).filter((name) => /^new\.db(?!-serving)/.test(name))).toEqual([]);
  });

  test('takes a plain copy of a file that nothing served, and says that it cannot compare it', async () => {
    renameSync(sandbox.path('crm.db'), sandbox.path('plain.db'));
    const { code, stderr } = await sandbox.crm(['restore', 'plain.db', '--confirm']);
    expect([code, stderr]).toEqual([0, expect.stringContaining('"crm backup" did not write it')]);
  });
});
