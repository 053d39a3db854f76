// What people see of records on a terminal, and what they may write instead of IDs: names, short IDs and days.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { contactNamed, type NameSource } from '../../cli/api/names.ts';
import { shortIdOf } from '../../cli/input/short-id.ts';
import { ndjson, Sandbox } from '../support/command.ts';

const sandbox = await Sandbox.withDatabase();
const ids: Record<string, string> = {};
beforeAll(async () => {
  await sandbox.serveOrganization();
  await create('byron', 'companies', 'name=Byron Mills International', 'domain=byron.example');
  await create('acme', 'companies', 'name=Acme');
  await create('acme2', 'companies', 'name=Acme');
  await create('ada', 'contacts', 'first_name=Ada', 'last_name=Lovelace', 'email=ada@x.example');
  ids.user = JSON.parse(await sandbox.ok(['users', 'list', '--org', 'Example', '-o', 'ndjson'])).id;
  await create(
    'loom',
    'deals',
    'name=Loom',
    'company=byron.example',
    'stage=proposal',
    `owner_id=${ids.user}`,
  );
  const words = ['contact=ada lovelace', 'company=Byron Mills International', 'owner=ada@example.com'];
  await create(
    'engine',
    'deals',
    'name=Difference engine',
    'estimated_value=48000',
    'currency=GBP',
    ...words,
  );
});
afterAll(() => sandbox[Symbol.asyncDispose]());

async function create(name: string, resource: string, ...pairs: string[]): Promise<void> {
  ids[name] = JSON.parse(await sandbox.ok(['create', resource, ...pairs])).id;
}

/** What a terminal of that width shows, without colour. */
async function shown(args: readonly string[], columns = 200): Promise<string> {
  const { output } = await sandbox.onTerminal(args, { columns, env: { NO_COLOR: '1', PAGER: '' } });
  return output;
}

/** The short ID in the last column of a table, by the first word of the line. */
async function shortId(resource: string, name: string): Promise<string> {
  const table = await shown(['list', resource]);
  const line = table.split('\n').find((one) => one.startsWith(name));
  return line?.trim().split(/ {2,}/).at(-1) ?? '';
}

describe('a list on a terminal', () => {
  test('has names instead of IDs, no empty column, and the short ID last', async () => {
    const [header = '', engine = '', loom = ''] = (await shown(['list', 'deals'])).split('\n');
    const columns = ['NAME', 'COMPANY', 'STAGE', 'VALUE', 'OWNER', 'STATUS', 'PIPELINE', 'CREATED', 'ID'];
    expect(header.trim().split(/ {2,}/)).toEqual(columns);
    expect(engine).toMatch(
      /^Difference engine +Byron Mills International +Prospecting +48,000 GBP +ada@example.com +open +Sales +(now|\d min ago) +[0-9a-z]{10}$/,
    );
    expect(loom).toContain('Proposal');
  });

  test.each([40, 60, 80])('of %d columns breaks no word, and leaves the ID out first', async (width) => {
    const table = await shown(['list', 'deals'], width);
    const words = 'NAME COMPANY STAGE VALUE OWNER STATUS PIPELINE CREATED Loom Difference engine Byron Mills'
      .concat(' International Prospecting Proposal 48,000 GBP ada@example.com open Sales now 1 2 3 4 min ago')
      .split(' ');
    expect(
      table
        .trim()
        .split(/\s+/)
        .filter((word) => !words.includes(word)),
    ).toEqual([]);
    for (const line of table.split('\n')) expect(line.length).toBeLessThanOrEqual(width);
  });

  test('says that there is none, and names the fields that are asked for', async () => {
    expect(await shown(['list', 'deals', '--filter', 'status=lost'])).toBe('No deals.\n');
    expect(await shown(['list', 'segments'])).toBe(
      'No segments.\nNext: crm import segments FILE\n      crm create segments --help\n',
    );
    expect(await shown(['list', 'bookings'])).toBe(
      'No bookings.\nNext: crm ingest bookings FILE   (where the database is)\n',
    );
    const table = await shown(['list', 'deals', '--fields', 'name,stage_id', '--sort-direction', 'asc']);
    expect(table).toBe(
      'NAME               STAGE\nLoom               Proposal\nDifference engine  Prospecting\n',
    );
  });

  test('of a key that may not read companies shows the rest', async () => {
    const words = ['keys', 'issue', '--org', 'Example', '--scopes', 'deals:read'];
    const env = { CRM_API_KEY: await sandbox.ok(words), NO_COLOR: '1', PAGER: '' };
    const { code, output } = await sandbox.onTerminal(['list', 'deals'], { columns: 200, env });
    expect(code).toBe(0);
    expect(output).toContain('ada@example.com');
    expect(output).not.toContain('Byron');
  });

  test('goes through the pager when it is longer than the screen', async () => {
    const rows = Array.from({ length: 60 }, (_, index) => `{"title":"Note ${index}"}`).join('\n');
    await sandbox.write('notes.ndjson', rows);
    await sandbox.ok(['import', 'notes', 'notes.ndjson', '--quiet']);
    const env = { PAGER: "sed 's/^/paged /'", NO_COLOR: '1' };
    const list = ['list', 'notes', '--all'];
    expect((await sandbox.onTerminal(list, { env })).output).toStartWith('paged TITLE');
    expect((await sandbox.onTerminal([...list, '--no-pager'], { env })).output).toStartWith('TITLE');
    expect((await sandbox.onTerminal(['list', 'deals'], { env })).output).toStartWith('NAME');
  });

  test.each([
    'search difference --types deals',
    'timeline deals ID',
    'history deals ID',
    'get deals ID',
    'report pipeline',
    'api deals',
    'audit list',
    'users list',
  ])('the output of crm %s goes through the pager too', async (words) => {
    const args = words.replace('ID', ids.engine ?? '').split(' ');
    const env = { PAGER: "sed 's/^/paged /'", NO_COLOR: '1' };
    const { code, output } = await sandbox.onTerminal(args, { rows: 1, env });
    expect([code, output]).toEqual([0, expect.stringMatching(/^paged /)]);
  });

  test('shows what came before an error, and then the error, once the pager is left', async () => {
    const pages = Bun.serve({
      port: 0,
      fetch: ({ url }) => {
        const isFirst = !new URL(url).searchParams.has('cursor');
        const data = Array.from({ length: 40 }, (_, index) => ({
          id: String(index),
          title: `Note ${index}`,
        }));
        const page_info = { has_next_page: true, end_cursor: 'next' };
        if (isFirst) return Response.json({ object: 'list', data, page_info, meta: {} });
        const error = { code: 'AUTH_INSUFFICIENT_SCOPE', message: 'No more.', details: null };
        return Response.json({ object: 'error', error, meta: {} }, { status: 403 });
      },
    });
    const env = { PAGER: 'cat; sleep 0.2; echo left', NO_COLOR: '1', CRM_URL: String(pages.url) };
    const { code, output } = await sandbox.onTerminal(['list', 'notes', '--all'], { env });
    expect(code).toBe(4);
    expect(output).toMatch(/\nNote 39 [\s\S]*\nleft\ncrm: No more\./);
    await pages.stop(true);
  });

  test('indents JSON, which a pipe does not', async () => {
    const list = ['list', 'deals', '--fields', 'name', '-o', 'json', '--limit', '1'];
    expect(await shown(list)).toStartWith('[\n  {\n    "name": "Difference engine"\n  }\n]\n');
    expect(await sandbox.ok(list)).toBe('[\n{"name":"Difference engine"}\n]');
    expect(await sandbox.ok(['list', 'deals', '--limit', '1', '-o', 'table'])).toStartWith('ID  ');
  });
});

test('list --watch draws the table again until Ctrl-C, and leaves the screen as it was', async () => {
  const { code, output } = await sandbox.onTerminal(['list', 'companies', '--watch', '30'], {
    when: 'Byron Mills International',
    answer: '\u0003',
    env: { NO_COLOR: '1' },
  });
  expect(code).toBe(130);
  expect(output).toContain('companies, every 30 s, at ');
  expect(output).toEndWith('\u001b[?1049l');
  const { code: piped, stderr } = await sandbox.crm(['list', 'companies', '--watch']);
  expect(piped).toBe(2);
  expect(stderr).toContain('crm watch');
});

test('get shows a card: values, links with short IDs, and what happened last', async () => {
  await sandbox.ok(['link', `deals/${ids.engine}/contacts`, 'ada@x.example']);
  const card = await shown(['get', 'deals', ids.engine ?? ''], 100);
  expect(card).toStartWith('Difference engine  deal · open\n');
  expect(card).toMatch(/\nestimated_value +48,000 GBP\n/);
  expect(card).toMatch(/\ncompany +Byron Mills International {2}[0-9a-z]{10}\n/);
  expect(card).toMatch(new RegExp(`\\nid +${ids.engine}\\n`));
  expect(card).toMatch(/\ncontacts +Ada Lovelace {2}[0-9a-z]{10}\n/);
  expect(card).toMatch(/\nLatest\n\d{4}-\d\d-\d\d\n│ • \d\d:\d\d {2}deal +Difference engine\n/);
  expect(card).not.toContain('closed_at');
});

describe('a short ID', () => {
  test('is taken by every command instead of the ID', async () => {
    const engine = await shortId('deals', 'Difference');
    const ada = await shortId('contacts', 'Ada');
    expect(JSON.parse(await sandbox.ok(['get', 'deals', engine])).id).toBe(ids.engine);
    expect(
      JSON.parse(await sandbox.ok(['update', 'deals', engine.toUpperCase(), 'currency=EUR'])).currency,
    ).toBe('EUR');
    await sandbox.ok(['update', 'deals', engine, `point_of_contact_id=${ada}`]);
    expect(ndjson(await sandbox.ok(['list', 'deals', '--filter', `contact_id=${ada}`]))).toHaveLength(1);
    await sandbox.ok(['link', `deals/${engine}/contacts`, ada]);
    expect(ndjson(await sandbox.ok(['list', `deals/${engine}/contacts`]))[0]?.id).toBe(ids.ada);
    await sandbox.ok(['unlink', `deals/${engine}/contacts`, ada]);
    expect(await sandbox.ok(['list', `deals/${engine}/contacts`])).toBe('');
    expect(ndjson(await sandbox.ok(['history', 'deals', engine]))[0]?.record_id).toBe(ids.engine);
    expect(ndjson(await sandbox.ok(['timeline', 'deals', engine])).at(-1)?.record_id).toBe(ids.engine);
    const raw = await sandbox.crm(['api', `deals/${engine}`]);
    expect(raw.stderr).toContain(`crm get deals ${engine} --fields id`);
  });

  test('is found for the rows of a file, and for a deleted record', async () => {
    await create('old', 'tasks', 'name=Old');
    await create('new', 'tasks', 'name=New');
    const [old, other] = [shortIdOf(ids.old ?? ''), shortIdOf(ids.new ?? '')];
    const [acme, nobody] = [shortIdOf(ids.acme ?? ''), shortIdOf(ids.loom ?? '')];
    const rows = [{ id: old, company_id: acme }, { id: ids.new, company_id: nobody }, { id: nobody }];
    await sandbox.write('rows.ndjson', rows.map((row) => JSON.stringify(row)).join('\n'));
    const run = await sandbox.crm(['update', 'tasks', '--from', 'rows.ndjson', 'done=true']);
    expect(run.code).toBe(3);
    const errors = ndjson(await sandbox.read('rows.ndjson.errors.ndjson'));
    expect(errors.map(({ _path, _message }) => [_path, _message])).toEqual([
      ['company_id', `no company has the ID "${nobody}"`],
      ['id', `no task has the ID "${nobody}"`],
    ]);
    await sandbox.write('ids.txt', `${other}\n${old.toUpperCase()}\n${ids.old?.slice(0, 24)}\n`);
    const read = ndjson(await sandbox.ok(['get', 'tasks', '--from', 'ids.txt', '--quiet']));
    expect(read.map(({ id }) => id)).toEqual([ids.new, ids.old, ids.old]);
    expect(read[1]).toMatchObject({ company_id: ids.acme, done: true });
    await sandbox.write('one.txt', `${old}\n`);
    await sandbox.ok(['delete', 'tasks', '--from', 'one.txt', '--yes', '--quiet']);
    const gone = await sandbox.crm(['get', 'tasks', old]);
    expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining(`crm undelete tasks ${old}`)]);
    expect(ndjson(await sandbox.ok(['history', 'tasks', old]))[0]).toMatchObject({ action: 'deleted' });
    expect(JSON.parse(await sandbox.ok(['undelete', 'tasks', old])).id).toBe(ids.old);
    const living = await sandbox.crm(['undelete', 'tasks', other]);
    expect([living.code, living.stderr]).toEqual([1, expect.stringContaining('No deleted task has the ID')]);
  });

  test('names a webhook', async () => {
    const fields = ['url=https://hooks.invalid/crm', 'events=deals.*'];
    const { id } = JSON.parse(await sandbox.ok(['webhooks', 'create', ...fields]));
    const short = shortIdOf(id);
    expect(await shown(['webhooks', 'list'])).toContain(short);
    expect(JSON.parse(await sandbox.ok(['webhooks', 'get', short])).id).toBe(id);
    await sandbox.ok(['webhooks', 'delete', short, '--yes']);
    expect((await sandbox.crm(['webhooks', 'get', short])).stderr).toContain('crm webhooks list');
  });

  test('stands in a history, beside how long ago each change was', async () => {
    await sandbox.ok(['update', 'deals', ids.loom ?? '', 'owner_id=']);
    const [line] = (await shown(['history', 'deals', ids.loom ?? ''])).split('\n');
    expect(line).toMatch(
      /^(?:now {8}|\d min ago {2}) {2}key …\w{6} {2}updated deal Loom: owner ada@example.com → \(none\) {2}\w{10}$/,
    );
    await sandbox.ok(['update', 'deals', ids.loom ?? '', `owner_id=${ids.user}`]);
  });

  test('can be the beginning of an ID; of several, each is named', async () => {
    const loom = ids.loom ?? '';
    expect(JSON.parse(await sandbox.ok(['get', 'deals', loom.slice(0, 26)])).id).toBe(loom);
    const { code, stderr } = await sandbox.crm(['get', 'deals', loom.slice(0, 4)]);
    expect(code).toBe(2);
    expect(stderr).toStartWith(`crm: The IDs of several deals begin with "${loom.slice(0, 4)}":\n`);
    expect(stderr).toMatch(new RegExp(`\\n {2}[0-9a-z]{10} {2}${ids.loom} {2}Loom\\n`));
    expect(stderr).toContain(`${ids.engine}  Difference engine`);
  });

  test('of nothing says how to find one', async () => {
    const { code, stderr } = await sandbox.crm(['get', 'deals', await shortId('contacts', 'Ada')]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^crm: There is no deal with the ID ".+"\.\nNext: crm list deals /);
  });
});

describe('a name', () => {
  test.each([
    ['company=BYRON.example', 2],
    ['company=byron mills international', 2],
    ['contact=ada@x.example', 1],
    ['owner=ada@example.com', 2],
    ['pipeline=sales', 2],
    ['stage=Proposal', 1],
    ['created_since=yesterday', 2],
    ['created_since=7d', 2],
    ['created_since=2026-01-01', 2],
    ['created_since=tomorrow', 0],
    ['status=Open', 2],
  ])('--filter %s', async (filter, count) => {
    expect(ndjson(await sandbox.ok(['list', 'deals', '--filter', filter]))).toHaveLength(count);
  });

  test.each([
    ['company=Acme', 2, ['several companies are named "Acme":', 'Acme\nNext: Use company=ID']],
    ['company=Nobody', 1, ['no company has the name or domain "Nobody"', 'crm list companies']],
    ['stage=Dreaming', 1, ['its stages are Prospecting']],
    ['owner=bob', 1, ['known: ada@example.com']],
    ['company_id=Acme', 2, ['"Acme" is not an ID', 'company=Acme']],
    ['compny=Acme', 2, ['Did you mean company?']],
  ])('%s is refused with what there is', async (pair, code, words) => {
    for (const command of [
      ['list', 'deals', '--filter', pair],
      ['create', 'deals', 'name=x', pair],
    ]) {
      const result = await sandbox.crm(command);
      expect(result.code).toBe(code);
      for (const word of words) expect(result.stderr).toContain(word);
    }
  });

  test.each([
    ["company = 'Byron Mills International' and stage = proposal", 1],
    ['pipeline = Sales and stage in (Proposal, Prospecting)', 2],
    ['owner = ada@example.com and contact is null', 1],
    ['company != byron.example', 0],
    ['created_at >= yesterday', 2],
    ['created_at < yesterday', 0],
    ['contacts has "Ada"', null],
  ])('--where %s', async (where, count) => {
    const { code, stdout, stderr } = await sandbox.crm(['count', 'deals', '--where', where]);
    expect([code, stdout]).toEqual(count === null ? [2, ''] : [0, `${count}\n`]);
    if (count === null) expect(stderr).toContain('expected the ID of a contact');
  });

  test('--where takes short IDs', async () => {
    const ada = await shortId('contacts', 'Ada');
    expect(await sandbox.ok(['count', 'deals', '--where', `point_of_contact_id = ${ada}`])).toBe('1');
  });

  describe('a stage with the same name in two pipelines', () => {
    let dealId = '';
    beforeAll(async () => {
      await create('dup', 'pipelines', 'name=Dup', 'stages=[{"name":"Proposal"},{"name":"Only"}]');
      const words = ['create', 'deals', 'name=Second', 'pipeline=Dup', 'stage=Proposal'];
      ({ id: dealId } = JSON.parse(await sandbox.ok(words)));
    });
    afterAll(async () => {
      await sandbox.ok(['delete', 'deals', dealId, '--yes']);
      await sandbox.ok(['delete', 'pipelines', ids.dup ?? '', '--yes']);
    });

    test.each([
      ['pipeline = Sales and stage = Proposal', 1],
      ['(pipeline = Sales and stage = Proposal) or (pipeline = Dup and stage = Proposal)', 2],
      ['(pipeline = Dup and stage = Proposal) or (pipeline = Sales and stage = Proposal)', 2],
      ['pipeline = Dup and (stage = Only or stage = Proposal)', 1],
      ['pipeline = Dup and not stage = Proposal', 0],
      ['pipeline = Sales or stage = Only', 2],
      ['stage = Proposal', 'several pipelines have a stage "Proposal"'],
      ['pipeline = Dup or stage = Proposal', 'several pipelines have a stage "Proposal"'],
      ['not pipeline = Dup and stage = Proposal', 'several pipelines have a stage "Proposal"'],
      ['stage = Nope', 'no pipeline has a stage "Nope"; the stages are Prospecting, '],
    ])('--where %s', async (where, expected) => {
      const { code, stdout, stderr } = await sandbox.crm(['count', 'deals', '--where', where]);
      if (typeof expected === 'number') expect([code, stdout]).toEqual([0, `${expected}\n`]);
      else expect([stdout, stderr]).toEqual(['', expect.stringContaining(expected)]);
    });
  });

  test('moves a deal by the name of its stage, and sets a day', async () => {
    const deal = JSON.parse(await sandbox.ok(['update', 'deals', ids.loom ?? '', 'stage=Closed Won']));
    expect(deal.status).toBe('won');
    const tomorrow = () => new Date(Date.now() + 86_400_000).toISOString().slice(0, 10);
    const before = tomorrow();
    const words = ['update', 'deals', ids.loom ?? '', 'estimated_close_date=tomorrow'];
    const day = JSON.parse(await sandbox.ok(words)).estimated_close_date;
    // Midnight may have come meanwhile.
    expect([before, tomorrow()]).toContain(day);
  });

  test('of a pipeline, a contact and an owner is taken where a record is created and changed', async () => {
    await create('partners', 'pipelines', 'name=Partners', 'stages=[{"name":"New"},{"name":"Signed"}]');
    const words = ['pipeline=partners', 'stage=Signed', 'contact=ada@x.example', 'owner=ada@example.com'];
    const deal = JSON.parse(await sandbox.ok(['create', 'deals', 'name=Named', ...words]));
    const named = { pipeline_id: ids.partners, point_of_contact_id: ids.ada, owner_id: ids.user };
    expect(deal).toMatchObject(named);
    const other = JSON.parse(await sandbox.ok(['create', 'deals', 'name=Other']));
    expect(JSON.parse(await sandbox.ok(['update', 'deals', other.id, ...words]))).toMatchObject({
      ...named,
      stage_id: deal.stage_id,
    });
    for (const { id } of [deal, other]) await sandbox.ok(['delete', 'deals', id, '--yes']);
    await sandbox.ok(['delete', 'pipelines', ids.partners ?? '', '--yes']);
  });
});

test('the help of a list names the filters of its resource', async () => {
  const help = await sandbox.ok(['list', 'deals', '--help']);
  expect(help).toMatch(/\nFilters of deals \(--filter NAME=VALUE\):\n {2}pipeline +name of a pipeline\n/);
  expect(help).toMatch(/\n {2}status +open, won, lost\n/);
  expect(await sandbox.ok(['list', '--help'])).not.toContain('Filters of');
});

/** A source that knows nothing but the pages that a search gives, by their cursors. */
const searching = (pages: (cursor?: string) => Awaited<ReturnType<NameSource['list']>>): NameSource => ({
  list: async (_, { cursor }) => pages(cursor),
  pipelines: async () => [],
  owners: async () => [],
  ownUserId: async () => null,
});
const lovelace = (id: string) => ({ record: { id, first_name: 'Ada', last_name: 'Lovelace' } });

test('a contact is found by name although the first page of the search is empty, as while much is indexed', async () => {
  const asked: (string | undefined)[] = [];
  const source = searching((cursor) => {
    asked.push(cursor);
    return cursor === 'further'
      ? { records: [lovelace('found')], nextCursor: null }
      : { records: [], nextCursor: 'further' };
  });
  expect(await contactNamed('ada lovelace', source)).toBe('found');
  expect(asked).toEqual([undefined, 'further']);
});

test('a contact of whose name there are several is none of them, on whatever page of the search', async () => {
  const source = searching((cursor) => ({
    records: [lovelace(cursor ?? 'first')],
    nextCursor: cursor === undefined ? 'second' : null,
  }));
  await expect(contactNamed('Ada Lovelace', source)).rejects.toThrow(
    'several contacts are named "Ada Lovelace"',
  );
  await expect(contactNamed('Ada', source)).rejects.toThrow('no contact has the name or email "Ada"');
});
