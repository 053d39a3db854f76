// The operator commands: init, organizations and users, on the database file itself.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ndjson, Sandbox } from '../support/command.ts';
import { isPostgres } from '../support/fresh-databases.ts';

const sandbox = await Sandbox.withDatabase();
const KEY = /service_(?:live|api|pk)_[0-9A-Za-z]{49}/;
beforeAll(async () => {
  await sandbox.ok(['init', '--org', 'Example', '--user', 'ada@example.com']);
});
afterAll(() => sandbox[Symbol.asyncDispose]());

describe('init', () => {
  test('asks on a terminal for what is missing, until it can be used', async () => {
    using other = new Sandbox();
    const { code, output } = await other.onTerminal(['init'], {
      when: 'Name of the organization: ',
      during: (type) => type('Acme Inc\rada@\rada@example.com\r'),
    });
    expect(output).toContain('Your email (Enter for no user): ');
    expect(output).toContain('"ada@" is not a valid email address.');
    expect(output).toContain('Created organization Acme Inc (');
    expect(output).toContain('Created user ada@example.com.');
    expect(output).toContain('Next: ');
    expect(code).toBe(0);

    const unanswered = await other.onTerminal(['init'], { when: 'organization: ', answer: '\u0004' });
    expect(unanswered.output).toContain('There was no answer.\nNext: Run the same command again.');
    expect(unanswered.code).toBe(1);
    const piped = await other.crm(['init']);
    expect(piped.code).toBe(2);
    expect(piped.stderr).toContain("Required option '--org <name>' not specified.\nNext: ");
  });

  test('prints the bare key in a pipe, and the rest on stderr', async () => {
    await using other = await Sandbox.withDatabase();
    const { code, stdout, stderr } = await other.crm(['init', '--org', 'Other', '--user', 'b@example.com']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^service_live_[0-9A-Za-z]{49}\n$/);
    expect(stderr).toContain('Next: crm serve');
    expect(stderr).not.toMatch(KEY);
  });

  // Any number of servers can serve a database server.
  test.skipIf(isPostgres)('of a database that is served already says what to run next instead', async () => {
    await using other = await Sandbox.withDatabase();
    const server = await other.serve();
    expect((await other.crm(['init', '--org', 'Other'])).stderr).toContain('Next: crm list contacts ');
    const { output } = await other.onTerminal(['init', '--org', 'Shown']);
    expect(output).toMatch(/Next: export CRM_API_KEY=service_live_\S+\n +crm list /);
    expect(output).not.toContain('crm serve');
    await server.stop();
  });

  test('makes one organization, the user, and a v2 key with every scope', async () => {
    expect(ndjson(await sandbox.ok(['orgs', 'list'])).map((org) => org.name)).toEqual(['Example']);
    expect(ndjson(await sandbox.ok(['users', 'list', '--org', 'Example'])).map((user) => user.email)).toEqual(
      ['ada@example.com'],
    );
    const [key] = ndjson(await sandbox.ok(['keys', 'list']));
    expect(key).toMatchObject({ api: 'v2', access: 'organization', status: 'active', expires_at: null });
    expect(key?.scopes).toHaveLength(29);
  });

  test('run again changes nothing and prints nothing on stdout, even after its key was revoked', async () => {
    const [before] = ndjson(await sandbox.ok(['keys', 'list']));
    const again = await sandbox.crm(['init', '--org', 'EXAMPLE', '--user', 'ADA@example.com', '-o', 'json']);
    expect(again).toMatchObject({ code: 0, stdout: '' });
    expect(ndjson(await sandbox.ok(['keys', 'list']))).toEqual([before ?? {}]);
    await using other = await Sandbox.withDatabase();
    const { id } = JSON.parse(await other.ok(['init', '--org', 'Other', '-o', 'json']));
    await other.ok(['keys', 'revoke', id]);
    expect((await other.crm(['init', '--org', 'Other'])).stdout).toBe('');
  });

  test('on a terminal tells the next commands once, in the order in which they work', async () => {
    await using other = await Sandbox.withDatabase();
    const { code, output } = await other.onTerminal(['init', '--org', 'Shown', '--db', 'my.db']);
    expect(code).toBe(0);
    expect(output.match(/Next: /g)).toHaveLength(1);
    expect(output).toMatch(
      /Next: crm serve --db my\.db .*\n +export CRM_API_KEY=service_live_\S+\n +crm list /,
    );
    expect((await other.onTerminal(['init', '--org', 'Shown', '--db', 'my.db'])).output).toContain(
      'Next: crm serve',
    );
  });

  test('twice at once makes one organization and one key', async () => {
    await using other = await Sandbox.withDatabase();
    await other.ok(['init', '--org', 'First']);
    const runs = await Promise.all([1, 2, 3].map(() => other.crm(['init', '--org', 'Second'])));
    expect(runs.map((run) => run.code)).toEqual([0, 0, 0]);
    expect(runs.filter((run) => run.stdout !== '')).toHaveLength(1);
    expect(ndjson(await other.ok(['orgs', 'list']))).toHaveLength(2);
  });

  test.each([
    [['--org', ' '], 'name of an organization'],
    [['--org', 'a\nb'], 'without line breaks'],
    [['--org', 'Example', '--user', 'ada'], 'not a valid email address'],
  ])('%p is a usage error', async (words, reason) => {
    const { code, stdout, stderr } = await sandbox.crm(['init', ...words]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(reason);
  });
});

describe('an organization that is not named', () => {
  const COMMANDS: readonly string[][] = [
    ['users', 'create', 'grace@example.com'],
    ['users', 'list'],
    ['keys', 'issue', '--all-scopes'],
    ['keys', 'issue', '--all-scopes', '--dry-run'],
    ['people', 'export', 'ada@example.com'],
    ['people', 'erase', 'ada@example.com', '--dry-run'],
    ['ingest', 'meetings', 'none.json'],
    ['ingest', 'recordings', 'none.json'],
    ['ingest', 'bookings', 'none.json'],
    ['orgs', 'quota'],
    ['orgs', 'quota', '--records', '100'],
    ['orgs', 'update', '--key-expiry', '90d'],
  ];
  const codesOf = async (db: Sandbox, message: string) => {
    const codes = new Set<number>();
    for (const command of COMMANDS) {
      const { code, stderr } = await db.crm(command);
      expect([command, stderr]).toEqual([command, expect.stringContaining(message)]);
      codes.add(code);
    }
    return [...codes];
  };

  test('is the only one, or one that has to be chosen', async () => {
    await using other = await Sandbox.withDatabase();
    await other.write('none.json', '[]');
    await (await other.serve()).stop();
    expect(await codesOf(other, 'There is no organization yet.\nNext: Create one: crm init --org')).toEqual([
      1,
    ]);
    await other.ok(['orgs', 'create', 'Only']);
    expect(await codesOf(other, '')).toEqual([0]);
    const [user] = ndjson(await other.ok(['users', 'list']));
    expect(user).toMatchObject({ email: 'grace@example.com' });
    await other.ok(['orgs', 'create', 'Second']);
    expect(await codesOf(other, 'There are 2 organizations. Choose one.\nNext: Add --org NAME')).toEqual([2]);
    expect(await other.ok(['users', 'list', '--org', 'Only'])).toContain('grace@example.com');
  }, 300_000);
});

describe('orgs and users', () => {
  test('create prints the object, and names are unique whatever their case', async () => {
    await using other = await Sandbox.withDatabase();
    await other.ok(['init', '--org', 'First']);
    const org = JSON.parse(await other.ok(['orgs', 'create', 'Second']));
    expect(Object.keys(org)).toEqual(['id', 'name', 'created_at']);
    const user = JSON.parse(
      await other.ok(['users', 'create', 'b@example.com', '--org', org.id, '--name', 'B']),
    );
    expect(user).toEqual({ id: expect.any(String), email: 'b@example.com', name: 'B', org_id: org.id });
    const taken = await other.crm(['orgs', 'create', 'SECOND']);
    expect(taken).toMatchObject({ code: 1, stdout: '' });
    expect(taken.stderr).toContain(org.id);
    const known = await other.crm(['users', 'create', 'B@EXAMPLE.com', '--org', 'second']);
    expect(known.code).toBe(1);
    expect(known.stderr).toContain(`Next: Use the existing one (ID ${user.id}), or choose another name.`);
    expect((await other.crm(['users', 'create', 'b@example.com', '--org', 'first'])).code).toBe(0);
  });

  test('an unknown organization or a missing database says how to make one', async () => {
    const org = await sandbox.crm(['users', 'list', '--org', 'Nobody']);
    expect(org.code).toBe(1);
    expect(org.stderr).toContain('crm orgs create');
    const database = await sandbox.crm(['orgs', 'create', 'X', '--db', 'none.db']);
    expect(database.code).toBe(1);
    expect(database.stderr).toContain('crm init --org NAME');
    expect(await sandbox.exists('none.db')).toBe(false);
  });

  test('an empty path is a usage error, and one that no file can have is reported as such', async () => {
    const empty = await sandbox.crm(['orgs', 'list', '--db', '']);
    expect(empty.code).toBe(2);
    expect(empty.stderr).toContain('--db is empty');
    const long = await sandbox.crm(['init', '--org', 'Example', '--db', 'x'.repeat(300)]);
    expect({ code: long.code, stdout: long.stdout }).toEqual({ code: 1, stdout: '' });
    expect(long.stderr).toMatch(/\nNext: /);
    expect(long.stderr).not.toContain('unexpected error');
  });

  test('a file that is no database is left alone', async () => {
    await sandbox.write('text.db', 'hello');
    const { code, stderr } = await sandbox.crm(['orgs', 'list', '--db', 'text.db']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^Next: /m);
    expect(await sandbox.read('text.db')).toBe('hello');
  });
});

describe('what is to be typed next names the database that was named', () => {
  beforeAll(async () => {
    await sandbox.ok(['init', '--org', 'Acme', '--db', 'my own.db']);
  });

  test.each([
    [['orgs', 'create', 'New'], "crm keys issue --org New --all-scopes --db 'my own.db'\n"],
    [
      ['orgs', 'quota', 'Nope'],
      "list organizations with \"crm orgs list --db 'my own.db'\", or create it: crm orgs create NAME --db 'my own.db'\n",
    ],
    [
      ['keys', 'issue', '--org', 'Acme', '--all-scopes', '--user', 'x@y.example', '--access', 'user'],
      "--org Acme --db 'my own.db'\n",
    ],
    [['keys', 'revoke', 'nope'], "to list keys: crm keys list --db 'my own.db'\n"],
    [['init', '--org', 'Acme'], "crm keys issue --org Acme --all-scopes --db 'my own.db'\n"],
  ])('%p', async (words, said) => {
    const { stderr } = await sandbox.crm([...words, '--db', 'my own.db']);
    expect(stderr.toLowerCase()).toContain(said.toLowerCase());
  });

  test.each([
    ['orgs', 'crm init --org NAME --db nowhere/x.db\n'],
    ['init', 'nowhere/x.db cannot be created: its folder does not exist.\n'],
  ])('where there is none: %s', async (command, said) => {
    const words = command === 'orgs' ? ['orgs', 'list'] : ['init', '--org', 'Acme'];
    const { code, stderr } = await sandbox.crm([...words, '--db', 'nowhere/x.db']);
    expect([code, stderr]).toEqual([1, expect.stringContaining(said)]);
  });
});
