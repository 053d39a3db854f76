// `crm api`: what its words mean, and what it prints of responses, pages and refusals.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type ApiFlags, rawRequest } from '../../cli/raw/request.ts';
import { ndjson, Sandbox } from '../support/command.ts';

const URL_ = 'http://127.0.0.1:4000';

describe('the words', () => {
  const meant = async (words: [string, string?], flags: ApiFlags = {}) => {
    const { method, path, options } = await rawRequest(words[0], words[1], flags, URL_);
    return [method, path, ...(options.rawBody === undefined ? [] : [options.rawBody])];
  };

  test.each<[string, string]>([
    ['contacts', '/api/v2/contacts'],
    ['/contacts?limit=1', '/api/v2/contacts?limit=1'],
    ['v1/people/query', '/api/v1/people/query'],
    ['/api/v1/people/query', '/api/v1/people/query'],
    ['api/v2/deals/1/contacts', '/api/v2/deals/1/contacts'],
    [`${URL_}/api/v2/deals`, '/api/v2/deals'],
    ['/healthz', '/healthz'],
    ['docs/json', '/docs/json'],
  ])('the path %s is %s', async (given, path) => {
    expect(await meant([given])).toEqual(['GET', path]);
  });

  test('fields are a query or a body, by the method; text stays text, -F has types', async () => {
    const flags = { rawField: ['a=1', 'custom[b]=x=y', 'list[]=p', 'list[]=q'], field: ['n=1.5', 't=true'] };
    const body = { a: '1', custom: { b: 'x=y' }, list: ['p', 'q'], n: 1.5, t: true };
    expect(await meant(['contacts'], flags)).toEqual(['POST', '/api/v2/contacts', JSON.stringify(body)]);
    const [, , changed = ''] = await meant(['patch', 'x/1'], {
      field: ['a=null', 'b=007', 'c=12345678901234567890', 'd[e][f]=-2', 'g='],
    });
    expect(JSON.parse(changed)).toEqual({
      ...{ a: null, b: '007', c: '12345678901234567890', d: { e: { f: -2 } }, g: '' },
    });
    expect(await meant(['GET', 'contacts?limit=1'], { rawField: ['phone=+1 2', 'include=deals'] })).toEqual([
      'GET',
      '/api/v2/contacts?limit=1&phone=%2B1%202&include=deals',
    ]);
    expect(await meant(['POST', 'x'], { data: '{"a":1,"a":2}' })).toEqual([
      'POST',
      '/api/v2/x',
      '{"a":1,"a":2}',
    ]);
  });

  test.each<[[string, string?], ApiFlags, string]>([
    [['FETCH', 'contacts'], {}, '"FETCH" is not a method.'],
    [['https://other.example/api/v2/contacts'], {}, 'is not on the server'],
    [['http://127.0.0.1:40001/api/v2/contacts'], {}, 'is not on the server'],
    [['GET', 'contacts'], { data: '{}' }, 'A GET request has no body.'],
    [['POST', 'contacts'], { data: '{}', rawField: ['a=1'] }, 'either -d or fields'],
    [['POST', 'contacts'], { rawField: ['a'] }, 'key=value'],
    [['POST', 'contacts'], { rawField: ['a=1', 'a=2'] }, '"a" is given twice.'],
    [['POST', 'contacts'], { rawField: ['a[=1'] }, 'is not the name of a field'],
    [['POST', 'contacts'], { rawField: ['a=1', 'a[b]=2'] }, '"a[b]" is given twice.'],
    [['GET', 'contacts'], { header: ['Authorization: Bearer x'] }, 'cannot be set'],
    [['GET', 'contacts'], { header: ['nothing'] }, '"Name: value"'],
    [['GET', 'contacts'], { header: ['A: b\r\nC: d'] }, '"Name: value"'],
  ])('%p with %p is refused', async (words, flags, reason) => {
    await expect(rawRequest(words[0], words[1], flags, URL_)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining(reason),
    });
  });
});

describe('on a server', () => {
  const sandbox = new Sandbox();
  beforeAll(async () => {
    await sandbox.serveOrganization();
  });
  afterAll(() => sandbox[Symbol.dispose]());
  const api = (...words: string[]) => sandbox.crm(['api', ...words]);

  test('creates, reads and deletes, printing what the server sends', async () => {
    const made = await api('contacts', '-f', 'email=ada@example.com', '-f', 'custom[plan]=navy');
    expect(made.stderr).toBe('');
    const { data } = JSON.parse(made.stdout);
    expect(data).toMatchObject({ email: 'ada@example.com', custom: { plan: 'navy' } });
    expect(made.stdout.split('\n')).toHaveLength(2);
    const read = await api('get', `contacts/${data.id}`, '--include', '-o', 'json');
    const [head = '', body = ''] = read.stdout.split('\n\n');
    expect(head).toStartWith('HTTP/1.1 200 OK\n');
    expect(head).toMatch(/^x-ratelimit-limit: \d+$/m);
    expect(body).toStartWith('{\n  "object": "success",\n');
    const etag = /^etag: (.*)$/m.exec(head)?.[1] ?? '';
    const same = await api(`contacts/${data.id}`, '-i', '-H', `If-None-Match: ${etag}`);
    expect([same.code, same.stdout.split('\n')[0]]).toEqual([0, 'HTTP/1.1 304 Not Modified']);
    expect(await api('DELETE', `contacts/${data.id}`)).toMatchObject({ code: 0, stdout: '' });
    expect((await api('/healthz')).stdout).toBe('{"status":"ok"}\n');
    const { code, stderr } = await api('nope');
    expect([code, stderr]).toEqual([1, expect.stringContaining('Next: To list all paths, run: crm openapi')]);
  });

  test('pages of a list come one after the other, by GET and by query', async () => {
    const names = ['a', 'b', 'c', 'd', 'e'];
    await api('POST', 'companies/batch', '-d', JSON.stringify(names.map((name) => ({ name }))));
    const pages = ndjson((await api('companies?limit=2', '--paginate')).stdout) as { data: unknown[] }[];
    expect(pages.map(({ data }) => data.length)).toEqual([2, 2, 1]);
    await sandbox.write('query.json', '{"limit":3,"fields":["name"]}');
    const found = await api('POST', 'companies/query', '-d', '@query.json', '--paginate');
    const records = ndjson(found.stdout).flatMap(({ data }) => data as { name: string }[]);
    expect(records.map(({ name }) => name).toSorted()).toEqual(names);
    expect((await api('POST', 'companies', '-f', 'name=f', '--paginate')).code).toBe(2);
  });

  test('a refusal is printed as it came, and told as of every command', async () => {
    const refused = await api('POST', 'contacts', '-f', 'email=ada@');
    expect(refused.code).toBe(1);
    expect(JSON.parse(refused.stdout).error.code).toBe('VALIDATION_INVALID_FORMAT');
    expect(refused.stderr).toMatch(
      /^crm: .*\(422 VALIDATION_INVALID_FORMAT, POST \/api\/v2\/contacts\)\nRequest ID: req_/,
    );
    expect(refused.stderr).toContain('\nNext: ');
    const env = { CRM_API_KEY: 'service_live_x' };
    const unknown = await sandbox.crm(['api', 'contacts'], { env });
    expect([unknown.code, unknown.stderr]).toEqual([4, expect.stringContaining('Next: ')]);
  });
});
