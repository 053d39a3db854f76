// Organizations and users at the command line: deleted, changed and removed while a server runs.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { ndjson, type RunningServer, Sandbox } from '../support/command.ts';

// Each starts more than ten processes.
const LONG = 300_000;

const sandbox = new Sandbox();
let server: RunningServer;
beforeAll(async () => {
  server = await sandbox.serveOrganization();
});
afterAll(() => sandbox[Symbol.dispose]());

const orgs = (...words: string[]) => sandbox.crm(['orgs', ...words]);
const users = (...words: string[]) => sandbox.crm(['users', ...words]);

test(
  'users are changed, and one who is removed gives everything to another',
  async () => {
    await sandbox.ok(['users', 'create', 'grace@example.com']);
    const changed = await users('update', 'ada@example.com', '--name', 'Ada', '--email', 'ada@new.example');
    expect(ndjson(changed.stdout)[0]).toMatchObject({ email: 'ada@new.example', name: 'Ada' });
    const taken = await users('update', 'ada@new.example', '--email', 'GRACE@example.com');
    expect([taken.code, taken.stderr]).toEqual([1, expect.stringContaining('already exists')]);
    expect((await users('update', 'ada@new.example')).code).toBe(2);

    const bound = ['keys', 'issue', '--access', 'user', '--user', 'ada@new.example', '--all-scopes'];
    const env = { CRM_API_KEY: await sandbox.ok(bound) };
    await sandbox.ok(['create', 'notes', 'title=Mine', 'content=Mine'], { env });
    const words = ['remove', 'ada@new.example', '--transfer-to', 'grace@example.com'];
    expect((await users('remove', 'ada@new.example')).code).toBe(2);
    expect((await users('remove', 'ada@new.example', '--transfer-to', 'ada@new.example')).code).toBe(2);
    const dry = await users(...words, '--dry-run');
    expect(dry.stderr).toBe(
      'Would remove ada@new.example, revoke 1 key, and give grace@example.com 1 note.\nDry run: nothing was changed.\n',
    );
    const done = await users(...words, '-o', 'json');
    expect(JSON.parse(done.stdout)).toMatchObject({ dry_run: false, keys_revoked: 1, records: { notes: 1 } });
    expect((await sandbox.crm(['list', 'notes'], { env })).code).toBe(4);
    const [left] = ndjson(await sandbox.ok(['users', 'list']));
    expect(left?.email).toBe('grace@example.com');
    expect(ndjson(await sandbox.ok(['list', 'notes']))[0]?.created_by).toBe(left?.id);
    const [entry] = ndjson(await sandbox.ok(['audit', 'list', '--action', 'user.removed']));
    expect(entry?.details).toEqual({ transferred_to: left?.id, keys_revoked: 1, records: { notes: 1 } });
  },
  LONG,
);

test(
  'an organization is deleted after its name is confirmed and a backup is made',
  async () => {
    await sandbox.ok(['orgs', 'create', 'Doomed Ltd']);
    const key = await sandbox.ok(['keys', 'issue', '--org', 'Doomed Ltd', '--all-scopes']);
    await sandbox.ok(['create', 'contacts', 'first_name=Zaphodine'], { env: { CRM_API_KEY: key } });
    const unsure = await orgs('delete', 'doomed ltd');
    expect([unsure.code, unsure.stderr]).toEqual([2, expect.stringContaining("--confirm 'Doomed Ltd'")]);
    const wrong = await orgs('delete', 'Doomed Ltd', '--confirm', 'Example');
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('is not the name')]);
    expect((await orgs('delete', '--confirm', 'Example')).code).toBe(2);

    const { code, stdout, stderr } = await orgs('delete', 'Doomed Ltd', '--confirm', 'Doomed Ltd');
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toContain('Deleted the organization Doomed Ltd with ');
    const [, backup = ''] = /^Backed up to (\S+) /m.exec(stderr) ?? [];
    expect(ndjson(await sandbox.ok(['orgs', 'list', '--db', backup]))).toHaveLength(2);
    expect(ndjson(await sandbox.ok(['orgs', 'list']))).toHaveLength(1);
    const answer = await fetch(`${server.url}/api/v2/contacts`, {
      headers: { Authorization: `Bearer ${key}` },
    });
    expect(answer.status).toBe(401);
    expect((await sandbox.crm(['list', 'contacts'])).code).toBe(0);
    const [entry] = ndjson(await sandbox.ok(['audit', 'list', '--action', 'organization.deleted']));
    expect(entry).toMatchObject({ target_type: 'organizations', org_id: null });
    await server.stop();
    for (const name of ['crm.db', 'crm.db-wal'])
      if (await sandbox.exists(name)) expect(await sandbox.read(name)).not.toContain('Zaphodine');
  },
  LONG,
);
