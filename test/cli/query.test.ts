// `--where` of crm list, crm export and crm count against a running server: pages, orders, formats, resuming, refusals.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ndjson, Sandbox } from '../support/command.ts';
import { ABSENT } from '../support/v2.ts';

// More than one request of a query looks at.
const NOTES = 10_100;
const sandbox = await Sandbox.withDatabase();
let firm: string;
beforeAll(async () => {
  await sandbox.serveOrganization();
  for (let start = 0; start < NOTES; start += 100)
    await send(
      '/notes/batch',
      Array.from({ length: 100 }, (_, index) => ({ title: `Note ${start + index}` })),
    );
  firm = await create('companies', 'name=Engines');
  const values: [string, string][] = [
    ['One', '100'],
    ['Two', '20'],
    ['Three', '3000'],
    ['None', ''],
  ];
  for (const [name, value] of values)
    await create(
      'deals',
      `name=${name}`,
      ...(value === '' ? [] : [`estimated_value=${value}`]),
      'custom.plan=gold',
    );
  const custom = { seats: 7, 'a b': "'x'" };
  await create('deals', '-d', JSON.stringify({ name: 'Firm deal', company_id: firm, custom }));
  // Not a number.
  await create('contacts', 'first_name=Text', 'custom.seats=7');
}, 300_000);
afterAll(() => sandbox[Symbol.asyncDispose]());

async function send(path: string, body: unknown): Promise<void> {
  const headers = { authorization: `Bearer ${sandbox.env.CRM_API_KEY}` };
  const url = `${sandbox.env.CRM_URL}/api/v2${path}`;
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(await response.text());
}

async function create(resource: string, ...pairs: string[]): Promise<string> {
  return JSON.parse(await sandbox.ok(['create', resource, ...pairs])).id;
}

const titlesIn = (text: string) => ndjson(text).map(({ title }) => title);
const namesIn = (text: string) => ndjson(text).map(({ name }) => name);

describe('list --where', () => {
  test('goes on over pages on which it finds nothing', async () => {
    const rare = ['list', 'notes', '--where', "title in ('Note 0', 'Note 10099')"];
    const envelope = JSON.parse(await sandbox.ok([...rare, '--envelope']));
    expect(envelope).toMatchObject({ data: [{ title: 'Note 10099' }], page_info: { has_next_page: true } });
    const { stdout, stderr } = await sandbox.crm([...rare, '--all']);
    expect([titlesIn(stdout), stderr]).toEqual([['Note 10099', 'Note 0'], '']);
    const first = await sandbox.crm([...rare, '--limit', '1']);
    expect(first.stderr).toMatch(/^For the next page, add --cursor \S+\n$/);
    const cursor = first.stderr.trim().split(' ').at(-1) ?? '';
    expect(titlesIn(await sandbox.ok([...rare, '--cursor', cursor]))).toEqual(['Note 0']);
  });

  test('counts --limit over pages, in either order', async () => {
    const many = ['list', 'notes', '--where', "title starts_with 'note 1'", '--limit', '401'];
    const titles = titlesIn(await sandbox.ok([...many, '--sort-direction', 'asc']));
    expect(titles).toHaveLength(401);
    expect(titles.slice(0, 3)).toEqual(['Note 1', 'Note 10', 'Note 11']);
  });

  test('finds by numbers, links, days, custom fields and their complements', async () => {
    const list = async (where: string) =>
      namesIn(await sandbox.ok(['list', 'deals', '--where', where, '--sort-direction', 'asc']));
    expect(await list('estimated_value >= 100')).toEqual(['One', 'Three']);
    expect(await list('not estimated_value >= 100 and companies is null')).toEqual(['Two', 'None']);
    expect(await list(`companies has ${firm} or name contains 'WO'`)).toEqual(['Two', 'Firm deal']);
    expect(await list('custom.seats between 5 and 7')).toEqual(['Firm deal']);
    const text = ['count', 'contacts', '--where'];
    expect(await sandbox.ok([...text, 'custom.seats = 7'])).toBe('0');
    expect(await sandbox.ok([...text, "custom.seats = '7'"])).toBe('1');
    expect(await list(`'custom.a b' = "'x'"`)).toEqual(['Firm deal']);
    expect(await list('created_at >= 1d and created_at < ahead 1d and custom.plan = GOLD')).toHaveLength(4);
    const today = new Date().toISOString().slice(0, 10);
    expect(await list(`created_at <= ${today} and estimated_close_date is null`)).toHaveLength(5);
    expect(await list(`created_at > ${today}`)).toEqual([]);
  });

  test('takes --fields, --include and every format', async () => {
    const list = ['list', 'deals', '--where', "name = 'firm deal'", '--fields', 'name,custom.seats'];
    expect(await sandbox.ok(list)).toBe('{"name":"Firm deal","custom.seats":7}');
    expect(await sandbox.ok([...list, '-o', 'csv'])).toBe('name,custom.seats\nFirm deal,7');
    expect(await sandbox.ok([...list, '--include', 'company', '-o', 'table'])).toBe(
      'NAME       CUSTOM.SEATS  COMPANY\nFirm deal  7             Engines',
    );
    expect(await sandbox.ok(['list', 'deals', '--where', 'name = nobody', '-o', 'json'])).toBe('[]');
  });

  test('sorts by more fields than lists do, with and without it', async () => {
    const sorted = ['list', 'deals', '--sort-by', 'estimated_value'];
    expect(namesIn(await sandbox.ok(sorted)).slice(0, 3)).toEqual(['Three', 'One', 'Two']);
    const some = [...sorted, '--sort-direction', 'asc', '--where', 'custom.plan = gold'];
    expect(namesIn(await sandbox.ok(some))).toEqual(['Two', 'One', 'Three', 'None']);
  });
});

describe('export --where', () => {
  test('writes what meets the condition, oldest first, in each format', async () => {
    const where = ['--where', 'custom.plan = gold and estimated_value is not null'];
    await sandbox.ok(['export', 'deals', ...where, '--fields', 'name,custom.plan', '--out', 'gold.csv']);
    expect(await sandbox.read('gold.csv')).toBe('name,custom.plan\nOne,gold\nTwo,gold\nThree,gold\n');
    await sandbox.ok(['export', 'deals', ...where, '--out', 'gold.ndjson']);
    expect(namesIn(await sandbox.read('gold.ndjson'))).toEqual(['One', 'Two', 'Three']);
    expect(JSON.parse(await sandbox.ok(['export', 'deals', ...where, '--format', 'json']))).toHaveLength(3);
    const whole = await sandbox.ok(['export', 'deals', '--where', "name = 'Firm deal'", '--format', 'csv']);
    expect(whole.split('\n')[0]).toEndWith(
      'custom.seats,custom.a b,stage_changed_at,closed_at,created_by,created_at,updated_at',
    );
  });

  test('continues after an interruption, but not with another condition', async () => {
    let queries = 0;
    using proxy = Bun.serve({
      port: 0,
      fetch(request) {
        const { pathname, search } = new URL(request.url);
        if (pathname.endsWith('/query')) queries += 1;
        if (queries === 3) {
          const error = { code: 'AUTH_INSUFFICIENT_SCOPE', message: 'Not now.', details: null };
          return Response.json({ object: 'error', error, meta: {} }, { status: 403 });
        }
        return fetch(`${sandbox.env.CRM_URL}${pathname}${search}`, request);
      },
    });
    const env = { CRM_URL: proxy.url.href };
    const exported = (where: string, ...flags: string[]) =>
      sandbox.crm(['export', 'notes', '--where', where, '--out', 'odd.ndjson', ...flags], { env });
    const where = "title contains '1'";
    expect(await exported(where)).toMatchObject({ code: 4, stderr: expect.stringContaining('--resume') });
    const before = queries;
    expect((await exported(where, '--resume')).code).toBe(0);
    const expected = Array.from({ length: NOTES }, (_, index) => `Note ${index}`).filter((title) =>
      title.includes('1'),
    );
    expect(titlesIn(await sandbox.read('odd.ndjson'))).toEqual(expected);
    const pages = Math.ceil(expected.length / 200);
    expect(queries - before).toBeLessThan(pages);
    queries = 0;
    await exported(where, '--force');
    const other = await exported("title contains '99'", '--force', '--resume');
    expect([other.code, titlesIn(await sandbox.read('odd.ndjson')).includes('Note 1')]).toEqual([0, false]);
  });
});

describe('count', () => {
  test('prints the number alone in a pipe, an object if asked, and words on a terminal', async () => {
    expect(await sandbox.ok(['count', 'notes'])).toBe(String(NOTES));
    const count = ['count', 'deals', '--where', 'name = one'];
    expect(await sandbox.ok(count)).toBe('1');
    expect(await sandbox.ok([...count, '-o', 'ndjson'])).toBe('{"count":1,"is_exact":true}');
    expect(JSON.parse(await sandbox.ok([...count, '-o', 'json']))).toEqual({ count: 1, is_exact: true });
    expect(await sandbox.ok([...count, '-o', 'csv'])).toBe('count,is_exact\n1,true');
    expect((await sandbox.onTerminal(count)).output).toBe('1 deal\n');
    expect((await sandbox.onTerminal(['count', 'notes'])).output).toBe('10,100 notes\n');
    expect((await sandbox.onTerminal(['count', 'companies', '--where', 'name = x'])).output).toBe(
      '0 companies\n',
    );
  });

  test('says so where the server stopped counting', async () => {
    using server = Bun.serve({
      port: 0,
      fetch: () => Response.json({ object: 'success', data: { count: 99_000, is_exact: false }, meta: {} }),
    });
    const env = { CRM_URL: server.url.href };
    const { stdout, stderr } = await sandbox.crm(['count', 'notes'], { env });
    expect([stdout, stderr]).toEqual(['99000\n', expect.stringContaining('at least')]);
    expect((await sandbox.onTerminal(['count', 'notes'], { env })).output).toBe('at least 99,000 notes\n');
  });
});

describe('a server of an older crm', () => {
  const refusal = (status: number) => {
    const error = { code: 'X', message: 'It is not so.', details: null };
    return Response.json({ object: 'error', error, meta: {} }, { status });
  };

  test('has no queries, and is said to be too old', async () => {
    using server = Bun.serve({ port: 0, fetch: () => refusal(405) });
    const env = { CRM_URL: server.url.href };
    for (const args of [
      ['list', 'notes', '--where', 'title = x'],
      ['count', 'notes'],
    ]) {
      const { code, stderr } = await sandbox.crm(args, { env });
      expect([code, stderr]).toEqual([1, expect.stringContaining('This server is too old to')]);
    }
  });

  test('sends all fields, and those of --fields are printed', async () => {
    const asked: string[] = [];
    using server = Bun.serve({
      port: 0,
      fetch(request) {
        const { search, searchParams } = new URL(request.url);
        asked.push(search);
        if (searchParams.has('fields')) return refusal(422);
        const page_info = { has_next_page: !searchParams.has('cursor'), end_cursor: 'c' };
        return Response.json({
          object: 'list',
          data: [{ id: '1', title: 'A', content: 'B' }],
          page_info,
          meta: {},
        });
      },
    });
    const list = await sandbox.crm(['list', 'notes', '--fields', 'title'], {
      env: { CRM_URL: server.url.href },
    });
    expect([list.code, list.stdout]).toEqual([0, '{"title":"A"}\n{"title":"A"}\n']);
    expect(asked).toEqual(['?fields=title&limit=20', '?limit=20', '?limit=19&cursor=c']);
  });
});

test('what is wrong is refused before a key is looked for', async () => {
  const where = ['--where', 'name = a'];
  for (const [args, said] of [
    [['list', 'deals', '--where', 'name = '], '  name = \n         ^'],
    [['export', 'deals', '--where', 'nmae = a'], 'Did you mean name?'],
    [['count', 'deals', '--where', 'status = opn'], 'Did you mean open?'],
    [['list', 'deals', ...where, ...where], 'Join the conditions with and'],
    [['list', 'deals', ...where, '--filter', 'status=open'], 'Use either --where or --filter, not both.'],
    [
      ['list', 'deals', '--sort-by', 'estimated_value', '--filter', 'status=open'],
      'does not work with --filter',
    ],
    [['list', 'deals', ...where, '--sort-by', 'estimatd_value'], 'Did you mean estimated_value?'],
    [['list', 'deals', ...where, '--fields', 'nmae'], 'Did you mean name?'],
    [['list', 'deals', ...where, '--api', 'v1'], 'API v1 has no --where.'],
    [['export', 'contacts', '--where', 'email = a', '--api', 'v1'], 'API v1 has no --where.'],
    [['export', 'all', ...where, '--out', 'all'], '"all" does not work with'],
    [['list', `deals/${ABSENT}/contacts`, ...where], `contacts --where 'deals has ${ABSENT} and (name = a)'`],
    [['count', `deals/${ABSENT}/contacts`], `contacts --where 'deals has ${ABSENT}'`],
    [['count', 'deal'], 'Did you mean deals?'],
    [['count', 'deals', '--api', 'v1'], '--api'],
  ] as const) {
    const { code, stdout, stderr } = await sandbox.crm(args, { env: { CRM_API_KEY: '' } });
    expect([code, stdout, stderr]).toEqual([2, '', expect.stringContaining(said)]);
    expect(stderr).toContain('\nNext: ');
  }
});
