// The data commands against a running server: list, get, create, update, delete, link, unlink.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Desk, ndjson } from './cli-support.ts';

const desk = new Desk();
beforeAll(async () => {
  await desk.serveOrganization();
});
afterAll(() => desk[Symbol.dispose]());

async function create(resource: string, ...pairs: string[]): Promise<Record<string, unknown>> {
  return JSON.parse(await desk.ok(['create', resource, ...pairs]));
}

describe('create', () => {
  test('types values by the declaration', async () => {
    const record = await create(
      'companies',
      'domain=https://www.Typed.example/x',
      'employee_count=250',
      'estimated_revenue=1.5e6',
      'name=A=B',
      'custom.region=north',
      'custom.a.b=007',
    );
    expect(record).toMatchObject({
      domain: 'typed.example',
      employee_count: 250,
      estimated_revenue: 1_500_000,
      name: 'A=B',
      custom: { region: 'north', 'a.b': '007' },
    });
    expect(await create('tasks', 'name=T', 'due_date=2026-03-31', 'done=true')).toMatchObject({
      due_date: Date.UTC(2026, 2, 31),
      done: true,
    });
    expect(
      await create('contacts', 'first_name=E', 'alt_emails=a@typed.example, b@typed.example'),
    ).toMatchObject({
      alt_emails: ['a@typed.example', 'b@typed.example'],
    });
    expect(
      await create('pipelines', 'name=P', 'stages=[{"name":"One"},{"name":"Won","type":"won"}]'),
    ).toMatchObject({ stages: [{ name: 'One', type: 'open' }, { name: 'Won' }] });
  });

  test('takes JSON as text, from a file, or from the input', async () => {
    await desk.write('contact.json', '\uFEFF{"first_name":"File"}');
    const sources: [string, string][] = [
      ['{"first_name":"Text"}', 'Text'],
      ['@contact.json', 'File'],
    ];
    for (const [data, name] of sources) {
      expect(JSON.parse(await desk.ok(['create', 'contacts', '-d', data]))).toMatchObject({
        first_name: name,
      });
    }
    const input = await desk.ok(['create', 'contacts', '-d', '-'], { stdin: '{"first_name":"Input"}' });
    expect(JSON.parse(input)).toMatchObject({ first_name: 'Input' });
  });

  test('lets the server judge the JSON as it is written', async () => {
    const { code, stderr } = await desk.crm(['create', 'contacts', '-d', '{"title":"a","title":"b"}']);
    expect(code).toBe(1);
    expect(stderr).toContain('422');
    expect(stderr).toContain('title');
  });

  test('of what exists quotes the server, its request id and the existing record', async () => {
    const { id } = await create('contacts', 'email=twice@example.com');
    const { code, stdout, stderr } = await desk.crm(['create', 'contacts', 'email=Twice@example.com']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('RESOURCE_CONFLICT');
    expect(stderr).toMatch(/^Request id: req_\S+$/m);
    expect(stderr).toContain(String(id));
  });

  test('of a duplicate interaction says so', async () => {
    const words = ['create', 'interactions', 'type=MEMO', 'direction=INTERNAL', 'title=Hi', 'primary_id=1'];
    const pairs = [...words, 'main_contact_email=memo@example.com'];
    expect(JSON.parse(await desk.ok(pairs))).toMatchObject({ is_duplicate: false });
    const again = await desk.crm(pairs);
    expect(JSON.parse(again.stdout)).toMatchObject({ is_duplicate: true });
    expect(again.stderr).toContain('nothing is written');
  });
});

describe('get, update, delete', () => {
  test('get prints one record: one line, an object, or a field a line', async () => {
    const { id } = await create('contacts', 'first_name=Got', 'custom.k=v');
    const get = ['get', 'contacts', String(id)];
    expect(JSON.parse(await desk.ok(get))).toMatchObject({ id, first_name: 'Got' });
    expect(JSON.parse(await desk.ok([...get, '-o', 'json']))).toMatchObject({ id });
    expect(await desk.ok([...get, '--fields', 'first_name,custom.k', '-o', 'csv'])).toBe(
      'first_name,custom.k\nGot,v',
    );
    expect(await desk.ok([...get, '-o', 'table'])).toMatch(/^first_name +Got$/m);
  });

  test('get of what is not there: exit 1', async () => {
    const { code, stdout, stderr } = await desk.crm(['get', 'contacts', 'nobody']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('404 RESOURCE_NOT_FOUND');
  });

  test('update changes what is given, clears what is empty, leaves the rest', async () => {
    const { id } = await create(
      'contacts',
      'first_name=Up',
      'title=Old',
      'phone=1',
      'custom.a=1',
      'custom.b=2',
    );
    const pairs = ['title=New', 'phone=', 'custom.a='];
    expect(JSON.parse(await desk.ok(['update', 'contacts', String(id), ...pairs]))).toMatchObject({
      first_name: 'Up',
      title: 'New',
      phone: null,
      custom: { b: '2' },
    });
  });

  test('delete with --yes deletes; stdout stays empty', async () => {
    const { id } = await create('contacts', 'first_name=Gone');
    const { code, stdout, stderr } = await desk.crm(['delete', 'contacts', String(id), '--yes']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toContain(String(id));
    expect((await desk.crm(['get', 'contacts', String(id)])).code).toBe(1);
  });

  test('delete on a terminal asks, and only a yes deletes', async () => {
    const { id } = await create('contacts', 'first_name=Asked');
    const remove = (answer: string) =>
      desk.onTerminal(['delete', 'contacts', String(id)], { when: '[y/N]', answer });
    expect((await remove('\r')).code).toBe(1);
    expect((await remove('n\r')).code).toBe(1);
    expect((await remove('\u0003')).code).toBe(130);
    expect((await desk.crm(['get', 'contacts', String(id)])).code).toBe(0);
    expect((await remove('y\r')).code).toBe(0);
    expect((await desk.crm(['get', 'contacts', String(id)])).code).toBe(1);
  });
});

describe('list', () => {
  const names = Array.from({ length: 450 }, (_, index) => `Note ${index}`);
  beforeAll(async () => {
    for (let start = 0; start < names.length; start += 100) {
      const body = JSON.stringify(names.slice(start, start + 100).map((title) => ({ title })));
      const headers = { authorization: `Bearer ${desk.env.CRM_API_KEY}` };
      await fetch(`${desk.env.CRM_URL}/api/v2/notes/batch`, { method: 'POST', headers, body });
    }
  });

  test('prints NDJSON in a pipe: 20 records unless said, the next cursor on stderr', async () => {
    const { code, stdout, stderr } = await desk.crm(['list', 'notes']);
    expect(code).toBe(0);
    expect(ndjson(stdout).map((note) => note.title)).toEqual(names.slice(-20).reverse());
    expect(stderr).toMatch(/^More: add --cursor \S+\n$/);
    const cursor = stderr.trim().split(' ').at(-1) ?? '';
    const next = ndjson(await desk.ok(['list', 'notes', '--cursor', cursor, '--limit', '1']));
    expect(next[0]?.title).toBe('Note 429');
  });

  test('--limit counts records over pages; --all is all, and says nothing of more', async () => {
    const limited = JSON.parse(await desk.ok(['list', 'notes', '--limit', '301', '-o', 'json']));
    expect(limited).toHaveLength(301);
    const { stdout, stderr } = await desk.crm(['list', 'notes', '--all', '--sort-direction', 'asc']);
    expect(ndjson(stdout).map((note) => note.title)).toEqual(names);
    expect(stderr).toBe('');
  });

  test('--filter, --fields and each format', async () => {
    await create('companies', 'name=Ä, "Co"', 'domain=list.example', 'custom.n=x');
    const list = ['list', 'companies', '--filter', 'domain=LIST.example', '--fields', 'name,custom.n'];
    expect(await desk.ok(list)).toBe('{"name":"Ä, \\"Co\\"","custom.n":"x"}');
    expect(await desk.ok([...list, '-o', 'json'])).toBe('[\n{"name":"Ä, \\"Co\\"","custom.n":"x"}\n]');
    expect(await desk.ok([...list, '-o', 'csv'])).toBe('name,custom.n\n"Ä, ""Co""",x');
    expect(await desk.ok([...list, '-o', 'table'])).toBe('NAME     CUSTOM.N\nÄ, "Co"  x');
  });

  test('of nothing is an empty list in every format', async () => {
    const list = ['list', 'companies', '--filter', 'name=nobody', '--fields', 'id,name'];
    expect(await desk.ok(list)).toBe('');
    expect(await desk.ok([...list, '-o', 'json'])).toBe('[]');
    expect(await desk.ok([...list, '-o', 'csv'])).toBe('id,name');
    expect(await desk.ok([...list, '-o', 'table'])).toBe('ID  NAME');
  });

  test('--envelope prints the response as the server sent it', async () => {
    const envelope = JSON.parse(await desk.ok(['list', 'notes', '--limit', '2', '--envelope', '-o', 'csv']));
    expect(Object.keys(envelope)).toEqual(['object', 'data', 'page_info', 'meta']);
    expect(envelope.data).toHaveLength(2);
  });

  test('on a terminal is a table that fits it, in which nothing is obeyed', async () => {
    await create('segments', 'name=red\u001b[31m and\nlong '.padEnd(300, 'x'));
    const { code, output } = await desk.onTerminal(['list', 'segments'], {
      columns: 80,
      env: { NO_COLOR: '1' },
    });
    expect(code).toBe(0);
    expect(output).not.toContain('\u001b');
    expect(output).toContain('red␛[31m and⏎l…');
    for (const line of output.split('\n')) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(80);
  });

  test('colours the header of a terminal unless told not to', async () => {
    const list = ['list', 'segments'];
    expect((await desk.onTerminal(list)).output).toStartWith('\u001b[1mID');
    expect((await desk.onTerminal([...list, '--no-color'])).output).toStartWith('ID');
    expect((await desk.onTerminal(list, { env: { TERM: 'dumb' } })).output).toStartWith('ID');
  });

  test('ends quietly when its reader has seen enough', async () => {
    const command = ['list', 'notes', '--all'];
    const { code, stdout, stderr } = await desk.piped(command, 'head -n 1');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(ndjson(stdout)).toHaveLength(1);
  });

  test('--api v1 reads people and interactions with the limits of v1', async () => {
    const key = await desk.ok(['keys', 'issue', '--org', 'Example', '--api', 'v1', '--all-scopes']);
    await create('contacts', 'email=v1@example.com', 'first_name=Vi');
    const env = { CRM_API_KEY: key };
    const list = ['list', 'people', '--api', 'v1', '--filter', 'email=v1@example.com'];
    expect(ndjson(await desk.ok(list, { env }))).toEqual([
      expect.objectContaining({ email: 'v1@example.com', firstName: 'Vi' }),
    ]);
    expect((await desk.crm(list)).code).toBe(4);
    expect(
      ndjson(await desk.ok(['list', 'interactions', '--api', 'v1', '--all'], { env })).length,
    ).toBeGreaterThan(0);
    expect((await desk.crm([...list, '--sort-by', 'created_at'], { env })).code).toBe(2);
  });
});

describe('link and unlink', () => {
  test('every kind of sub-resource', async () => {
    const contact = await create('contacts', 'first_name=Linked');
    const company = await create('companies', 'name=Linked');
    const deal = await create('deals', 'name=Linked');
    const note = await create('notes', 'title=Linked');
    const segment = await create('segments', 'name=Linked', 'record_type=company');
    const links: [string, unknown, string[]][] = [
      [`deals/${deal.id}/contacts`, contact.id, [`supervisor=${contact.id}`]],
      [`deals/${deal.id}/companies`, company.id, []],
      [`notes/${note.id}/records`, deal.id, ['record_type=deal']],
      [`segments/${segment.id}/members`, company.id, []],
    ];
    for (const [target, child, pairs] of links) {
      const made = JSON.parse(await desk.ok(['link', target, String(child), ...pairs]));
      expect(made).toMatchObject({ linked_at: expect.any(String) });
      const [listed] = ndjson(await desk.ok(['list', target]));
      expect(listed).toEqual(made);
      expect([listed?.id, listed?.record_id]).toContain(child);
      expect((await desk.crm(['unlink', target, String(child)])).code).toBe(0);
      expect(await desk.ok(['list', target])).toBe('');
      expect((await desk.crm(['unlink', target, String(child)])).code).toBe(1);
    }
  });

  test('an association of an unknown meeting is not found', async () => {
    for (const words of [
      ['link', 'meetings/x/deal', 'y'],
      ['unlink', 'meetings/x/deal'],
      ['get', 'meetings/x/deal'],
    ]) {
      const { code, stderr } = await desk.crm(words);
      expect(code).toBe(1);
      expect(stderr).toContain('404');
    }
  });

  test('the deal and the company of a meeting are set, read, and cleared', async () => {
    await desk.write('meetings.json', '[{"external_id":"m1","title":"Kick-off","start_time":1767225600000}]');
    await desk.ok(['ingest', 'meetings', 'meetings.json', '--org', 'Example']);
    const [meeting] = ndjson(await desk.ok(['list', 'meetings']));
    for (const [name, resource] of [
      ['deal', 'deals'],
      ['company', 'companies'],
    ] as const) {
      const { id } = await create(resource, 'name=Associated');
      const target = `meetings/${meeting?.id}/${name}`;
      expect((await desk.crm(['get', target])).stdout).toBe('');
      expect(JSON.parse(await desk.ok(['link', target, String(id)]))).toMatchObject({ id });
      expect(JSON.parse(await desk.ok(['get', target]))).toMatchObject({ id });
      expect(await desk.crm(['unlink', target])).toMatchObject({ code: 0, stdout: '' });
      const unset = await desk.crm(['get', target]);
      expect(unset).toMatchObject({ code: 0, stdout: '' });
      expect(unset.stderr).toContain('is not set');
    }
  });
});
