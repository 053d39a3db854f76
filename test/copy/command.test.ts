// `crm migrate`: what it says and refuses, and that it bears being killed.
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { readdirSync, rmSync } from 'node:fs';
import { actingAs } from '../../db/engine/acting.ts';
import { OPERATOR } from '../../db/engine/author.ts';
import { contacts } from '../../db/model/resources/contacts.ts';
import { insertReservedRecords } from '../../db/records/records.ts';
import { openStore } from '../../db/store.ts';
import { recordId } from '../../db/tables/record-id.ts';
import { type Result, Sandbox } from '../support/command.ts';
import { longText } from '../support/long-texts.ts';

const CONTACTS = 6_000;

const sandbox = new Sandbox();
let key: string;
beforeAll(async () => {
  key = await sandbox.ok(['init', '--org', 'Acme', '--user', 'ada@acme.example']);
  const store = await openStore(sandbox.path('crm.db'));
  await store.write(1, async (trx) => {
    const now = Date.now();
    const records = Array.from({ length: CONTACTS }, (_, index) => ({
      id: recordId(now),
      data: { first_name: `C${index}`, remarks: longText('letters', 500) },
    }));
    return insertReservedRecords(
      actingAs(trx, OPERATOR),
      contacts,
      { orgNumber: 1, createdBy: 'x', now },
      records,
    );
  });
  await store.close();
});
afterAll(() => sandbox[Symbol.dispose]());

const migrate = (to: string, ...more: string[]) => ['migrate', '--from', 'crm.db', '--to', to, ...more];
const digestOfFile = async (name: string) =>
  Bun.SHA256.hash(await Bun.file(sandbox.path(name)).bytes(), 'hex');

describe('a whole copy', () => {
  test('is reported table by table, in lines and as JSON, and nothing of the source has changed', async () => {
    const before = await digestOfFile('crm.db');
    const { code, stdout, stderr } = await sandbox.crm(migrate('whole.db', '-o', 'json'));
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    expect(stderr).toMatch(/^Copying: 6,1\d\d of 6,1\d\d rows \(100%\), [\d,]+ rows\/s$/m);
    expect(stderr).toMatch(/^contacts +6,000 {2}[0-9a-f]{16} {2}same$/m);
    expect(stderr).toMatch(
      /^Copied 6,1\d\d rows from crm.db to whole.db in (?:\d+ min )?\d+ s; all \d+ tables match\.$/m,
    );
    expect(stderr).toEndWith('\nNext: crm serve --db whole.db\n');
    const { tables, ...summary } = JSON.parse(stdout);
    expect(summary).toEqual({
      ...{ from: 'crm.db', to: 'whole.db', rows: expect.any(Number), rows_copied: summary.rows },
      ...{ seconds: expect.any(Number), is_same: true },
    });
    const digest = expect.stringMatching(/^[0-9a-f]{64}$/);
    const held = { rows: CONTACTS, digest };
    expect(tables).toContainEqual({ table: 'contacts', ...held, is_same: true, copy: held });
    expect(await digestOfFile('crm.db')).toBe(before);
    expect(readdirSync(sandbox.folder).filter((name) => /-(?:wal|shm)$/.test(name))).toEqual([]);
  });

  test('takes the keys of the source', async () => {
    const server = await sandbox.serve(['--db', 'whole.db']);
    const env = { CRM_URL: server.url, CRM_API_KEY: key };
    expect(await sandbox.ok(['list', 'contacts', '--limit', '1', '-o', 'csv'], { env })).toContain('C5999');
    await server.stop();
  });

  test('says nothing with --quiet', async () => {
    expect(await sandbox.crm(migrate('quiet.db', '--quiet'))).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  test('shows a bar on a terminal, and leaves the lines of the tables', async () => {
    const { code, output } = await sandbox.onTerminal(migrate('terminal.db'));
    expect(code).toBe(0);
    expect(output).toMatch(/Copying.* {2}\S*[█░]+\S* {2}\d+% {2}[\d,]+\/6,1\d\d rows/);
    expect(output).toMatch(/contacts +6,000 {2}[0-9a-f]{16} {2}same\n/);
  });

  test('reads what a server that was killed has left in the log, and leaves it there', async () => {
    const server = await sandbox.serve(['--db', 'quiet.db']);
    const env = { CRM_URL: server.url, CRM_API_KEY: key };
    await sandbox.ok(['create', 'contacts', 'first_name=Last'], { env });
    await server.stop('SIGKILL');
    const before = [await digestOfFile('quiet.db'), await digestOfFile('quiet.db-wal')];
    await sandbox.ok(['migrate', '--from', 'quiet.db', '--to', 'of-log.db', '--quiet']);
    expect([await digestOfFile('quiet.db'), await digestOfFile('quiet.db-wal')]).toEqual(before);
    const copy = new Database(sandbox.path('of-log.db'), { readonly: true });
    expect(copy.query("select count(*) as n from contacts where first_name = 'Last'").get()).toEqual({
      n: 1,
    });
    copy.close();
  });
});

describe('is refused, with what to do next,', () => {
  const refusal = async (code: number, ...args: string[]): Promise<string> => {
    const refused = await sandbox.crm(args);
    expect([refused.code, refused.stdout]).toEqual([code, '']);
    expect(refused.stderr).toMatch(/\nNext: /);
    return refused.stderr;
  };

  test('without both databases', async () => {
    expect(await refusal(2, 'migrate', '--from', 'crm.db')).toContain('--to <database>');
  });

  test('into itself, whatever it is called', async () => {
    for (const name of ['crm.db', './crm.db', sandbox.path('crm.db')])
      expect(await refusal(2, ...migrate(name))).toContain('--from and --to name the same database, crm.db.');
  });

  test('from a file that is not there, or is no database of crm', async () => {
    const missing = await refusal(1, 'migrate', '--from', 'no.db', '--to', 'new.db');
    expect(missing).toContain('No database found at no.db.\nNext: Choose the database to copy with --from');
    await sandbox.write('empty.db', '');
    const empty = await refusal(1, 'migrate', '--from', 'empty.db', '--to', 'new.db');
    expect(empty).toContain('The database empty.db has no crm tables.');
    await sandbox.write('text.db', 'no database at all, but long enough to be one');
    expect(await refusal(1, 'migrate', '--from', 'text.db', '--to', 'new.db')).toContain(
      'text.db is not an SQLite',
    );
    expect(await sandbox.exists('new.db')).toBe(false);
  });

  test('from a file that a newer crm wrote', async () => {
    await sandbox.ok(['init', '--db', 'newer.db', '--org', 'Acme']);
    const newer = new Database(sandbox.path('newer.db'));
    newer.run("insert into kysely_migration values ('0099-later', '2099')");
    newer.close();
    const refused = await refusal(1, 'migrate', '--from', 'newer.db', '--to', 'new.db');
    expect(refused).toContain('newer.db was written by a newer crm (it has the migration 0099-later)');
    expect(await refusal(1, ...migrate('newer.db'))).toContain('newer crm');
  });

  test('into a database that is not empty', async () => {
    await sandbox.ok(['init', '--db', 'used.db', '--org', 'Other']);
    expect(await refusal(1, ...migrate('used.db'))).toContain('The database used.db is not empty.');
  });

  test('while a server has either', async () => {
    const server = await sandbox.serve();
    const served = await refusal(1, ...migrate('new.db'));
    expect(served).toContain(`already serving crm.db (process ${server.pid}`);
    expect(served).toContain('Next: Stop it, then run the same command again.');
    await server.stop();
    const other = await sandbox.serve(['--db', 'free.db']);
    expect(await refusal(1, ...migrate('free.db'))).toContain(
      `already serving free.db (process ${other.pid}`,
    );
    await other.stop();
  });

  test('where a server cannot be reached, and no password is shown', async () => {
    const refused = await refusal(1, ...migrate('postgres://crm:secret@127.0.0.1:1/crm'));
    expect(refused).toContain('The database postgres://crm@127.0.0.1:1/crm cannot be reached');
    expect(refused).not.toContain('secret');
  });
});

describe('a copy that was ended on its way', () => {
  /** Starts a copy, and ends it once it has that many contacts, before it has all. */
  async function startedUpTo(name: string, rows: number, signal: NodeJS.Signals): Promise<Result> {
    const copied = () => {
      try {
        using copy = new Database(sandbox.path(name), { readonly: true });
        return copy.query<{ n: number }, []>('select count(*) as n from contacts').get()?.n ?? 0;
      } catch {
        return 0;
      }
    };
    for (let tries = 0; tries < 20; tries += 1) {
      const child = sandbox.start(migrate(name));
      while (copied() < rows) await Bun.sleep(1);
      child.kill(signal);
      const result = await child.result;
      if (copied() < CONTACTS) {
        expect(result.code).not.toBe(0);
        return result;
      }
      // On a busy machine it had gone too far by then.
      for (const end of ['', '-wal', '-shm']) rmSync(sandbox.path(name + end), { force: true });
    }
    throw new Error(`${name} was copied whole each time`);
  }

  test('by a kill, again and again, resumes where it stopped', async () => {
    for (const rows of [1, 500, 2_500]) {
      await startedUpTo('killed.db', rows, 'SIGKILL');
      const opened = await sandbox.crm(['orgs', 'list', '--db', 'killed.db']);
      expect([opened.code, opened.stderr]).toEqual([
        1,
        expect.stringContaining('killed.db contains an incomplete copy of another'),
      ]);
    }
    const { code, stderr } = await sandbox.crm(migrate('killed.db'));
    expect([code, stderr]).toEqual([0, expect.stringMatching(/all \d+ tables match/)]);
    const told = /^Continuing an interrupted copy: ([\d,]+) of ([\d,]+) rows are already copied\.$/m.exec(
      stderr,
    );
    const [copied = 0, all = 0] = (told ?? []).slice(1).map((count) => Number(count.replaceAll(',', '')));
    expect(copied).toBeGreaterThanOrEqual(2_500);
    expect(copied).toBeLessThan(all);
    expect(await sandbox.ok(['orgs', 'list', '--db', 'killed.db'])).toContain('Acme');
  }, 300_000);

  test('by Ctrl-C says how to go on', async () => {
    const { code, stderr } = await startedUpTo('ctrl-c.db', 500, 'SIGINT');
    expect(code).toBe(130);
    expect(stderr).toEndWith(
      'crm: Interrupted. The rows copied so far are kept.\nNext: Run the same command again to continue.\n',
    );
    expect((await sandbox.crm(migrate('ctrl-c.db', '--quiet'))).code).toBe(0);
  });

  test('and written to by somebody else is reported to differ, and stays closed', async () => {
    await startedUpTo('changed.db', 500, 'SIGKILL');
    const copy = new Database(sandbox.path('changed.db'));
    copy.run("update contacts set first_name = 'Another' where first_name = 'C7'");
    copy.close();
    const { code, stdout, stderr } = await sandbox.crm(migrate('changed.db', '-o', 'json'));
    expect([code, JSON.parse(stdout).is_same]).toEqual([1, false]);
    expect(stderr).toMatch(/^contacts +6,000 {2}[0-9a-f]{16} {2}differs: 6,000 rows, [0-9a-f]{16}$/m);
    expect(stderr).toContain('crm: The copy differs from the source in: contacts.\nNext: ');
    expect((await sandbox.crm(['orgs', 'list', '--db', 'changed.db'])).code).toBe(1);
  });
});
