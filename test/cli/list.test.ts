// `crm list`: limits and pages, filters and fields, each output format, a terminal, and version 1.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ndjson, Sandbox } from '../support/command.ts';

const sandbox = await Sandbox.withDatabase();
beforeAll(async () => {
  await sandbox.serveOrganization();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

async function create(resource: string, ...pairs: string[]): Promise<Record<string, unknown>> {
  return JSON.parse(await sandbox.ok(['create', resource, ...pairs]));
}

describe('list', () => {
  const names = Array.from({ length: 450 }, (_, index) => `Note ${index}`);
  beforeAll(async () => {
    for (let start = 0; start < names.length; start += 100) {
      const body = JSON.stringify(names.slice(start, start + 100).map((title) => ({ title })));
      const headers = { authorization: `Bearer ${sandbox.env.CRM_API_KEY}` };
      await fetch(`${sandbox.env.CRM_URL}/api/v2/notes/batch`, { method: 'POST', headers, body });
    }
  });

  test('prints NDJSON in a pipe: 20 records unless said, the next cursor on stderr', async () => {
    const { code, stdout, stderr } = await sandbox.crm(['list', 'notes']);
    expect(code).toBe(0);
    expect(ndjson(stdout).map((note) => note.title)).toEqual(names.slice(-20).reverse());
    expect(stderr).toMatch(/^For the next page, add --cursor \S+\n$/);
    const cursor = stderr.trim().split(' ').at(-1) ?? '';
    const next = ndjson(await sandbox.ok(['list', 'notes', '--cursor', cursor, '--limit', '1']));
    expect(next[0]?.title).toBe('Note 429');
  });

  test('--limit counts records over pages; --all is all, and says nothing of more', async () => {
    const limited = JSON.parse(await sandbox.ok(['list', 'notes', '--limit', '301', '-o', 'json']));
    expect(limited).toHaveLength(301);
    const { stdout, stderr } = await sandbox.crm(['list', 'notes', '--all', '--sort-direction', 'asc']);
    expect(ndjson(stdout).map((note) => note.title)).toEqual(names);
    expect(stderr).toBe('');
  });

  test('--filter, --fields and each format', async () => {
    await create('companies', 'name=Ä, "Co"', 'domain=list.example', 'custom.n=x');
    const list = ['list', 'companies', '--filter', 'domain=LIST.example', '--fields', 'name,custom.n'];
    expect(await sandbox.ok(list)).toBe('{"name":"Ä, \\"Co\\"","custom.n":"x"}');
    expect(await sandbox.ok([...list, '-o', 'json'])).toBe('[\n{"name":"Ä, \\"Co\\"","custom.n":"x"}\n]');
    expect(await sandbox.ok([...list, '-o', 'csv'])).toBe('name,custom.n\n"Ä, ""Co""",x');
    expect(await sandbox.ok([...list, '-o', 'table'])).toBe('NAME     CUSTOM.N\nÄ, "Co"  x');
  });

  test('a filter may hold spaces and a plus', async () => {
    await create('contacts', 'first_name=Grace', 'phone=+44 1632 960123');
    const list = ['list', 'contacts', '--filter', 'phone=+44 1632 960123', '--fields', 'first_name'];
    expect(await sandbox.ok(list)).toBe('{"first_name":"Grace"}');
  });

  test('of nothing is an empty list in every format', async () => {
    const list = ['list', 'companies', '--filter', 'name=nobody', '--fields', 'id,name'];
    expect(await sandbox.ok(list)).toBe('');
    expect(await sandbox.ok([...list, '-o', 'json'])).toBe('[]');
    expect(await sandbox.ok([...list, '-o', 'csv'])).toBe('id,name');
    expect(await sandbox.ok([...list, '-o', 'table'])).toBe('ID  NAME');
  });

  test('--envelope prints the response as the server sent it', async () => {
    const envelope = JSON.parse(
      await sandbox.ok(['list', 'notes', '--limit', '2', '--envelope', '-o', 'csv']),
    );
    expect(Object.keys(envelope)).toEqual(['object', 'data', 'page_info', 'meta']);
    expect(envelope.data).toHaveLength(2);
  });

  test('on a terminal is a table that fits it, in which nothing is obeyed', async () => {
    await create('segments', 'name=red\u001b[31m and\nlong '.padEnd(300, 'x'));
    const { code, output } = await sandbox.onTerminal(['list', 'segments'], {
      columns: 80,
      env: { NO_COLOR: '1' },
    });
    expect(code).toBe(0);
    expect(output).not.toContain('\u001b');
    expect(output).toContain('\nred␛[31m and long ');
    expect(output).toContain('xxx…\n');
    for (const line of output.split('\n')) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(80);
  });

  test.each([['-o csv'], ['-o ndjson'], ['--envelope']])('nor with %s', async (words) => {
    await create('segments', 'name=green \u001b[32m \u009b32m');
    const { code, output } = await sandbox.onTerminal(['list', 'segments', ...words.split(' ')]);
    expect(code).toBe(0);
    expect(output).toContain('green ');
    expect(output).not.toContain('\u001b');
    expect(output).not.toContain('\u009b');
  });

  test('colours the header of a terminal unless told not to', async () => {
    const list = ['list', 'segments'];
    expect((await sandbox.onTerminal(list)).output).toStartWith('\u001b[1mNAME');
    expect((await sandbox.onTerminal([...list, '--no-color'])).output).toStartWith('NAME');
    expect((await sandbox.onTerminal(list, { env: { TERM: 'dumb' } })).output).toStartWith('NAME');
  });

  test('ends quietly when its reader has seen enough', async () => {
    const command = ['list', 'notes', '--all'];
    const { code, stdout, stderr } = await sandbox.piped(command, 'head -n 1');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(ndjson(stdout)).toHaveLength(1);
  });

  test('--api v1 reads people and interactions with the limits of v1', async () => {
    const key = await sandbox.ok(['keys', 'issue', '--org', 'Example', '--api', 'v1', '--all-scopes']);
    await create('contacts', 'email=v1@example.com', 'first_name=Vi');
    await create(
      'interactions',
      'type=EMAIL',
      'direction=INBOUND',
      'title=Hi',
      'main_contact_email=v1@example.com',
    );
    const env = { CRM_API_KEY: key };
    const list = ['list', 'people', '--api', 'v1', '--filter', 'email=v1@example.com'];
    expect(ndjson(await sandbox.ok(list, { env }))).toEqual([
      expect.objectContaining({ email: 'v1@example.com', firstName: 'Vi' }),
    ]);
    expect((await sandbox.crm(list)).code).toBe(4);
    expect(ndjson(await sandbox.ok(['list', 'interactions', '--api', 'v1', '--all'], { env }))).toEqual([
      expect.objectContaining({ title: 'Hi' }),
    ]);
    expect((await sandbox.crm([...list, '--sort-by', 'created_at'], { env })).code).toBe(2);
  });
});
