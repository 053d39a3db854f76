// The commands for single records against a running server: create, get, update, delete, link, unlink, and their dry runs.
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
    // As an import reads them.
    expect(await create('segments', 'name=S', 'record_type=Company')).toMatchObject({
      record_type: 'company',
    });
    expect(await create('tasks', 'name=T', 'due_date=2026-03-31', 'done=yes')).toMatchObject({
      due_date: Date.UTC(2026, 2, 31),
      done: true,
    });
    expect(
      await create('contacts', 'first_name=E', 'alt_emails=a@typed.example, b@typed.example'),
    ).toMatchObject({
      alt_emails: ['a@typed.example', 'b@typed.example'],
    });
    const { id } = await create('contacts', 'first_name=F');
    const { id: other } = await create('contacts', 'first_name=G');
    const pairs = ['type=memo', 'direction=internal', 'title=T', `main_contact=${id}`];
    for (const list of [`${id}, ${other}`, `${other};${other}`, JSON.stringify([other]), other])
      expect(await create('interactions', ...pairs, `contact_ids=${list}`)).toMatchObject({
        contact_ids: [id, other],
      });
    expect(await create('interactions', ...pairs, 'contact_ids=')).toMatchObject({ contact_ids: [id] });
    expect(
      await create('pipelines', 'name=P', 'stages=[{"name":"One"},{"name":"Won","type":"won"}]'),
    ).toMatchObject({ stages: [{ name: 'One', type: 'open' }, { name: 'Won' }] });
  });

  test('takes JSON as text, from a file, or from the input', async () => {
    await sandbox.write('contact.json', '\uFEFF{"first_name":"File"}');
    const sources: [string, string][] = [
      ['{"first_name":"Text"}', 'Text'],
      ['@contact.json', 'File'],
    ];
    for (const [data, name] of sources) {
      expect(JSON.parse(await sandbox.ok(['create', 'contacts', '-d', data]))).toMatchObject({
        first_name: name,
      });
    }
    const input = await sandbox.ok(['create', 'contacts', '-d', '-'], { stdin: '{"first_name":"Input"}' });
    expect(JSON.parse(input)).toMatchObject({ first_name: 'Input' });
  });

  test('lets the server judge the JSON as it is written', async () => {
    const { code, stderr } = await sandbox.crm(['create', 'contacts', '-d', '{"title":"a","title":"b"}']);
    expect(code).toBe(1);
    expect(stderr).toContain('422');
    expect(stderr).toContain('title');
  });

  test('lists all errors below their number', async () => {
    const words = ['create', 'contacts', '-d', '{"email":"grace@","phone":7}'];
    const { stderr } = await sandbox.crm(words);
    expect(stderr).toStartWith(
      'crm: The request has 2 errors (422 VALIDATION_FAILED, POST /api/v2/contacts):\n  email: must be',
    );
  });

  test('of what exists quotes the server, its request id and the existing record', async () => {
    const { id } = await create('contacts', 'email=twice@example.com');
    const { code, stdout, stderr } = await sandbox.crm(['create', 'contacts', 'email=Twice@example.com']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('RESOURCE_CONFLICT');
    expect(stderr).toMatch(/^Request ID: req_\S+$/m);
    expect(stderr).toContain(String(id));
  });

  test('of a duplicate interaction says so', async () => {
    const words = ['create', 'interactions', 'type=MEMO', 'direction=INTERNAL', 'title=Hi', 'primary_id=1'];
    const pairs = [...words, 'main_contact_email=memo@example.com'];
    expect(JSON.parse(await sandbox.ok(pairs))).toMatchObject({ is_duplicate: false });
    const again = await sandbox.crm(pairs);
    expect(JSON.parse(again.stdout)).toMatchObject({ is_duplicate: true });
    expect(again.stderr).toContain('Nothing was written');
  });
});

describe('get, update, delete', () => {
  test('get prints one record: one line, an object, or a field a line', async () => {
    const { id } = await create('contacts', 'first_name=Got', 'custom.k=v');
    const get = ['get', 'contacts', String(id)];
    expect(JSON.parse(await sandbox.ok(get))).toMatchObject({ id, first_name: 'Got' });
    expect(JSON.parse(await sandbox.ok([...get, '-o', 'json']))).toMatchObject({ id });
    expect(await sandbox.ok([...get, '--fields', 'first_name,custom.k', '-o', 'csv'])).toBe(
      'first_name,custom.k\nGot,v',
    );
    expect(await sandbox.ok([...get, '-o', 'table'])).toMatch(/^first_name +Got$/m);
  });

  test('get of what is not there: exit 1', async () => {
    const { code, stdout, stderr } = await sandbox.crm(['get', 'contacts', 'nobody']);
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
    expect(JSON.parse(await sandbox.ok(['update', 'contacts', String(id), ...pairs]))).toMatchObject({
      first_name: 'Up',
      title: 'New',
      phone: null,
      custom: { b: '2' },
    });
  });

  test('delete with --yes deletes; stdout stays empty', async () => {
    const { id } = await create('contacts', 'first_name=Gone');
    const { code, stdout, stderr } = await sandbox.crm(['delete', 'contacts', String(id), '--yes']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toContain(String(id));
    expect((await sandbox.crm(['get', 'contacts', String(id)])).code).toBe(1);
  });

  test('delete on a terminal asks, and only a yes deletes', async () => {
    const { id } = await create('contacts', 'first_name=Asked');
    const remove = (answer: string) =>
      sandbox.onTerminal(['delete', 'contacts', String(id)], { when: '[y/N]', answer });
    expect((await remove('\r')).code).toBe(1);
    const refused = await remove('n\r');
    expect([refused.code, refused.output]).toEqual([
      1,
      expect.stringContaining(`Delete contact ${id} (Asked)? [y/N]`),
    ]);
    const interrupted = await remove('\u0003');
    expect(interrupted.code).toBe(130);
    // The shell's prompt begins a line.
    expect(interrupted.output).toEndWith('\n');
    expect((await sandbox.crm(['get', 'contacts', String(id)])).code).toBe(0);
    expect((await remove('y\r')).code).toBe(0);
    expect((await sandbox.crm(['get', 'contacts', String(id)])).code).toBe(1);
  });
});

const nameOf = (resource: string): string => (resource === 'notes' ? 'title=A' : 'name=A');

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
      const made = JSON.parse(await sandbox.ok(['link', target, String(child), ...pairs]));
      expect(made).toMatchObject({ linked_at: expect.any(String) });
      const [listed] = ndjson(await sandbox.ok(['list', target]));
      expect(listed).toEqual(made);
      const again = await sandbox.crm(['link', target, String(child), ...pairs]);
      expect([again.code, again.stderr]).toEqual([0, '']);
      expect([listed?.id, listed?.record_id]).toContain(child);
      expect((await sandbox.crm(['unlink', target, String(child)])).code).toBe(0);
      expect(await sandbox.ok(['list', target])).toBe('');
      expect((await sandbox.crm(['unlink', target, String(child)])).code).toBe(1);
    }
  });

  test('a link that exists is not changed, which is said', async () => {
    const [contact, deal] = [await create('contacts', 'first_name=C'), await create('deals', 'name=D')];
    const link = ['link', `deals/${deal.id}/contacts`, String(contact.id)];
    await sandbox.ok(link);
    const { stdout, stderr } = await sandbox.crm([...link, `supervisor=${contact.id}`]);
    expect(JSON.parse(stdout).supervisor).toBeNull();
    expect(stderr).toBe(
      'The link exists already and stays as it is. To change its fields, unlink it first.\n',
    );
  });

  test.each([...['contacts', 'companies', 'deals', 'pipelines', 'tasks', 'notes', 'segments']])(
    'the IDs that %s have in other systems',
    async (resource) => {
      const { id } = await create(resource, resource === 'contacts' ? 'first_name=A' : nameOf(resource));
      const target = `${resource}/${id}/external_ids`;
      const made = JSON.parse(await sandbox.ok(['link', target, 'salesforce:00:3']));
      expect(made).toEqual({ source: 'salesforce', id: '00:3', created_at: expect.any(String) });
      expect(ndjson(await sandbox.ok(['list', target]))).toEqual([made]);
      expect(await sandbox.ok(['list', target, '-o', 'csv'])).toBe(
        `source,id,created_at\nsalesforce,00:3,${made.created_at}`,
      );
      if (resource !== 'pipelines') {
        const found = await sandbox.ok(['list', resource, '--filter', 'external_id=salesforce:00:3']);
        expect(ndjson(found).map((record) => record.id)).toEqual([id]);
      }
      expect((await sandbox.crm(['unlink', target, 'salesforce'])).code).toBe(0);
      expect(await sandbox.ok(['list', target])).toBe('');
      expect((await sandbox.crm(['unlink', target, 'salesforce'])).code).toBe(1);
    },
  );

  test('an association of an unknown meeting is not found', async () => {
    for (const words of [
      ['link', 'meetings/x/deal', 'y'],
      ['unlink', 'meetings/x/deal'],
      ['get', 'meetings/x/deal'],
    ]) {
      const { code, stderr } = await sandbox.crm(words);
      expect(code).toBe(1);
      expect(stderr).toContain('404');
    }
  });

  test('the deal and the company of a meeting are set, read, and cleared', async () => {
    await sandbox.write(
      'meetings.json',
      '[{"external_id":"m1","title":"Kick-off","start_time":1767225600000}]',
    );
    await sandbox.ok(['ingest', 'meetings', 'meetings.json', '--org', 'Example']);
    const [meeting] = ndjson(await sandbox.ok(['list', 'meetings']));
    for (const [name, resource] of [
      ['deal', 'deals'],
      ['company', 'companies'],
    ] as const) {
      const { id } = await create(resource, 'name=Associated');
      const target = `meetings/${meeting?.id}/${name}`;
      expect((await sandbox.crm(['get', target])).stdout).toBe('');
      expect(JSON.parse(await sandbox.ok(['link', target, String(id)]))).toMatchObject({ id });
      expect(JSON.parse(await sandbox.ok(['get', target]))).toMatchObject({ id });
      expect(await sandbox.crm(['unlink', target])).toMatchObject({ code: 0, stdout: '' });
      const unset = await sandbox.crm(['get', target]);
      expect(unset).toMatchObject({ code: 0, stdout: '' });
      expect(unset.stderr).toContain('is not set');
      expect(await sandbox.ok(['get', target, '-o', 'json'])).toBe('null');
    }
  });
});

describe('--dry-run', () => {
  const DRY = 'othing was written.';

  test('of every command that writes prints what would be, and writes nothing', async () => {
    const contact = await create('contacts', 'first_name=Dry');
    const deal = await create('deals', 'name=Dry');
    const [id, child] = [String(deal.id), String(contact.id)];
    const dry = async (...words: string[]): Promise<string> => {
      const { code, stdout, stderr } = await sandbox.crm([...words, '--dry-run']);
      expect([words[0], code]).toEqual([words[0], 0]);
      expect(stderr).toContain(DRY);
      return stdout;
    };
    const made = JSON.parse(await dry('create', 'deals', 'name=Never'));
    expect(made).toMatchObject({ name: 'Never', status: 'open' });
    expect((await sandbox.crm(['get', 'deals', made.id])).code).toBe(1);
    expect(JSON.parse(await dry('update', 'deals', id, 'name=Wet'))).toMatchObject({ id, name: 'Wet' });
    // It destroys nothing, so it needs no --yes.
    expect(await dry('delete', 'deals', id)).toBe('');
    expect(JSON.parse(await sandbox.ok(['get', 'deals', id]))).toMatchObject({ name: 'Dry' });
    expect(JSON.parse(await dry('link', `deals/${id}/contacts`, child))).toMatchObject({ id: child });
    expect(await sandbox.ok(['list', `deals/${id}/contacts`])).toBe('');
    await sandbox.ok(['link', `deals/${id}/contacts`, child]);
    expect(await dry('unlink', `deals/${id}/contacts`, child)).toBe('');
    expect(await sandbox.ok(['list', `deals/${id}/contacts`])).not.toBe('');
  });

  test('fails as the command would', async () => {
    const words = ['create', 'contacts', 'email=dry@example.com'];
    await sandbox.ok(words);
    const { code, stdout, stderr } = await sandbox.crm([...words, '--dry-run']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain('409 RESOURCE_CONFLICT');
    const unknown = await sandbox.crm(['delete', 'contacts', 'nobody', '--dry-run']);
    expect([unknown.code, unknown.stderr]).toEqual([1, expect.stringContaining('404')]);
  });
});
