// `crm export`: formats, files that appear when whole, resuming, everything at once.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, readdirSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { Desk, ndjson, type RunningServer } from '../support/command.ts';

const desk = new Desk();
let server: RunningServer;
const COUNT = 450;

function company(index: number): Record<string, unknown> {
  const custom = index % 2 === 0 ? { region: `r, "${index}"`, rank: index } : {};
  return { name: index === 3 ? '=1+1' : `Company\n${index}`, domain: `c${index}.example`, custom };
}

beforeAll(async () => {
  server = await desk.serveOrganization();
  for (let start = 0; start < COUNT; start += 100) {
    const length = Math.min(100, COUNT - start);
    const body = JSON.stringify(Array.from({ length }, (_, index) => company(start + index)));
    const headers = { authorization: `Bearer ${desk.env.CRM_API_KEY}` };
    await fetch(`${server.url}/api/v2/companies/batch`, { method: 'POST', headers, body });
  }
});
afterAll(() => desk[Symbol.dispose]());

const domains = Array.from({ length: COUNT }, (_, index) => `c${index}.example`);
const leftovers = (): string[] => readdirSync(desk.folder).filter((name) => name.includes('crm-'));

describe('one resource', () => {
  test('goes to stdout as NDJSON, oldest first; everything else to stderr', async () => {
    const { code, stdout, stderr } = await desk.crm(['export', 'companies']);
    expect(code).toBe(0);
    expect(ndjson(stdout).map((record) => record.domain)).toEqual(domains);
    expect(stderr).toContain(`Exported ${COUNT} records.`);
  });

  test.each(['csv', 'ndjson', 'json'])('is the same on stdout and in a file: %s', async (format) => {
    const text = await desk.ok(['export', 'companies', '--format', format]);
    const { stdout } = await desk.crm(['export', 'companies', '--out', `same.${format}`]);
    expect(stdout).toBe('');
    expect((await desk.read(`same.${format}`)).trim()).toBe(text);
    expect(leftovers()).toEqual([]);
  });

  test('as JSON is one array, an empty one too', async () => {
    expect(JSON.parse(await desk.ok(['export', 'companies', '--format', 'json']))).toHaveLength(COUNT);
    expect(await desk.ok(['export', 'contacts', '--format', 'json'])).toBe('[]');
  });

  test('as CSV has a column for every custom key, wherever it first shows', async () => {
    const rows: Record<string, string>[] = parse(await desk.ok(['export', 'companies', '--format', 'csv']), {
      columns: true,
    });
    expect(rows.map((row) => row.domain)).toEqual(domains);
    expect(Object.keys(rows[0] ?? {})).toEqual(expect.arrayContaining(['custom.region', 'custom.rank']));
    expect(Object.keys(rows[0] ?? {})).not.toContain('custom');
    expect(rows[2]).toMatchObject({ name: 'Company\n2', 'custom.region': 'r, "2"', 'custom.rank': '2' });
    expect(rows[1]).toMatchObject({ 'custom.region': '', 'custom.rank': '' });
  });

  test('of no records as CSV is the header alone', async () => {
    expect(await desk.ok(['export', 'contacts', '--format', 'csv'])).toMatch(/^id,email,.*,updated_at$/);
  });

  test('takes --fields, --filter and --excel-safe', async () => {
    const words = ['export', 'companies', '--filter', 'domain=c3.example', '--fields', 'name,custom.rank'];
    expect(await desk.ok([...words, '--format', 'csv'])).toBe('name,custom.rank\n=1+1,');
    expect(await desk.ok([...words, '--format', 'csv', '--excel-safe'])).toBe("name,custom.rank\n'=1+1,");
    expect(await desk.ok(words)).toBe('{"name":"=1+1","custom.rank":null}');
  });

  test('ends quietly when its reader has seen enough', async () => {
    const { code, stderr } = await desk.piped(['export', 'companies'], 'head -n 1');
    expect(code).toBe(0);
    expect(stderr).not.toContain('rror');
  });

  test('reads v1 through its own lists', async () => {
    const key = await desk.ok(['keys', 'issue', '--org', 'Example', '--api', 'v1', '--all-scopes']);
    await desk.ok(['create', 'contacts', 'email=v1@example.com', 'first_name=Vi']);
    const text = await desk.ok(['export', 'people', '--api', 'v1', '--format', 'csv'], {
      env: { CRM_API_KEY: key },
    });
    const rows: Record<string, string>[] = parse(text, { columns: true });
    expect(rows).toEqual([
      expect.objectContaining({ email: 'v1@example.com', firstName: 'Vi', lastName: '' }),
    ]);
  });

  test.each([
    ['no-such-folder/x.csv', 'its folder does not exist.\nNext: Make the folder'],
    ['.', 'is a folder'],
  ])('to %s fails and says why', async (out, reason) => {
    const { code, stderr } = await desk.crm(['export', 'companies', '--out', out]);
    expect(code).toBeGreaterThan(0);
    expect(stderr).toContain(reason);
    expect(leftovers()).toEqual([]);
  });
});

describe('an export that breaks off', () => {
  // Stands between command and server, and lets only so many requests through.
  let allowed = Number.POSITIVE_INFINITY;
  let passed = 0;
  // Where set, the request after those is told of and never answered.
  let onHeld: (() => void) | null = null;
  const gate = Bun.serve({
    port: 0,
    idleTimeout: 0,
    fetch: (request) => {
      if (allowed === 0 && onHeld !== null) {
        onHeld();
        return new Promise<never>(() => {});
      }
      if (allowed === 0)
        return Response.json({ object: 'error', error: { code: 'X', message: 'shut' } }, { status: 403 });
      allowed -= 1;
      passed += 1;
      const { pathname, search } = new URL(request.url);
      return fetch(`${server.url}${pathname}${search}`, { headers: request.headers });
    },
  });
  afterAll(() => gate.stop(true));
  const env = { CRM_URL: `http://127.0.0.1:${gate.port}` };
  const through = (requests: number, ...words: string[]) => {
    allowed = requests;
    passed = 0;
    return desk.crm(['export', ...words], { env });
  };

  test('leaves the old file as it was, and goes on with --resume', async () => {
    await desk.write('part.csv', 'old');
    const words = ['companies', '--out', 'part.csv'];
    const broken = await through(2, ...words);
    expect(broken.code).toBe(4);
    expect(broken.stderr).toContain('--resume');
    expect(await desk.read('part.csv')).toBe('old');
    expect((await through(9, ...words, '--resume')).code).toBe(0);
    expect(passed).toBe(1);
    expect((await desk.read('part.csv')).trim()).toBe(
      await desk.ok(['export', 'companies', '--format', 'csv']),
    );
    expect(leftovers()).toEqual([]);
  });

  test('on Ctrl-C ends with 130, says how to go on, and goes on with --resume', async () => {
    const held = Promise.withResolvers<void>();
    onHeld = held.resolve;
    [allowed, passed] = [2, 0];
    const words = ['export', 'companies', '--out', 'cut.ndjson'];
    const command = desk.start(words, { env });
    await held.promise;
    command.kill('SIGINT');
    const { code, stderr } = await command.result;
    onHeld = null;
    expect(code).toBe(130);
    expect(stderr).toMatch(/Interrupted after \d+ records\.\nNext: Add --resume to the same command/);
    expect(await desk.exists('cut.ndjson')).toBe(false);
    expect((await through(9, 'companies', '--out', 'cut.ndjson', '--resume')).code).toBe(0);
    expect(ndjson(await desk.read('cut.ndjson'))).toHaveLength(COUNT);
    expect(leftovers()).toEqual([]);
  });

  test('is started afresh without --resume, and for another export', async () => {
    await through(2, 'companies', '--out', 'again.ndjson');
    expect((await through(9, 'companies', '--out', 'again.ndjson')).code).toBe(0);
    expect(passed).toBe(3);
    await through(2, 'companies', '--out', 'again.ndjson');
    const other = ['companies', '--out', 'again.ndjson', '--filter', 'domain=c1.example', '--resume'];
    expect((await through(9, ...other)).code).toBe(0);
    expect(ndjson(await desk.read('again.ndjson')).map((record) => record.domain)).toEqual(['c1.example']);
  });

  test('of everything keeps the files that are whole', async () => {
    const words = ['all', '--out', 'resumed'];
    expect((await through(4, ...words)).code).toBe(4);
    expect(await desk.exists('resumed/companies.ndjson')).toBe(true);
    expect(await desk.exists('resumed/links.ndjson')).toBe(false);
    expect((await through(99, ...words, '--resume')).code).toBe(0);
    await desk.ok(['export', 'all', '--out', 'straight']);
    const files = readdirSync(desk.path('straight')).sort();
    expect(readdirSync(desk.path('resumed')).sort()).toEqual(files);
    for (const file of files) {
      expect(await desk.read(`resumed/${file}`)).toBe(await desk.read(`straight/${file}`));
    }
  });
});

test.skipIf(!existsSync('/dev/full'))('a full disk behind stdout is told as such', async () => {
  const full = await desk.into('/dev/full', ['export', 'companies']);
  expect(full.code).toBe(1);
  expect(full.stderr).toMatch(/cannot be written: its disk is full\.\nNext: Free some space/);
});

describe('export all', () => {
  test('writes a file for every resource, and the links', async () => {
    const contact = JSON.parse(await desk.ok(['create', 'contacts', 'email=all@example.com']));
    const deal = JSON.parse(await desk.ok(['create', 'deals', 'name=All']));
    const note = JSON.parse(await desk.ok(['create', 'notes', 'title=All']));
    const segment = JSON.parse(await desk.ok(['create', 'segments', 'name=All']));
    await desk.ok(['link', `deals/${deal.id}/contacts`, contact.id, `supervisor=${contact.id}`]);
    await desk.ok(['link', `notes/${note.id}/records`, deal.id, 'record_type=deal']);
    await desk.ok(['link', `segments/${segment.id}/members`, contact.id]);
    const { code, stdout } = await desk.crm(['export', 'all', '--out', 'all']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(readdirSync(desk.path('all')).sort()).toEqual(
      'bookings companies contacts deals interactions links meetings notes pipelines recordings segments tasks'
        .split(' ')
        .map((name) => `${name}.ndjson`),
    );
    expect(ndjson(await desk.read('all/companies.ndjson'))).toHaveLength(COUNT);
    expect(ndjson(await desk.read('all/links.ndjson'))).toEqual([
      { resource: 'deals', id: deal.id, link: 'contacts', record_id: contact.id, supervisor: contact.id },
      { resource: 'notes', id: note.id, link: 'records', record_id: deal.id, record_type: 'deal' },
      { resource: 'segments', id: segment.id, link: 'members', record_id: contact.id },
    ]);
  });

  test('writes CSV too', async () => {
    await desk.ok(['export', 'all', '--out', 'all-csv', '--format', 'csv']);
    const rows: unknown[] = parse(await desk.read('all-csv/companies.csv'), { columns: true });
    expect(rows).toHaveLength(COUNT);
  });
});
