// `crm export`: formats, files that appear only when they are complete, resuming, and exporting everything.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, linkSync, mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { ndjson, type RunningServer, Sandbox } from '../support/command.ts';

const sandbox = await Sandbox.withDatabase();
let server: RunningServer;
const COUNT = 450;

function company(index: number): Record<string, unknown> {
  const custom = index % 2 === 0 ? { region: `r, "${index}"`, rank: index } : {};
  return { name: index === 3 ? '=1+1' : `Company\n${index}`, domain: `c${index}.example`, custom };
}

beforeAll(async () => {
  server = await sandbox.serveOrganization();
  for (let start = 0; start < COUNT; start += 100) {
    const length = Math.min(100, COUNT - start);
    const body = JSON.stringify(Array.from({ length }, (_, index) => company(start + index)));
    const headers = { authorization: `Bearer ${sandbox.env.CRM_API_KEY}` };
    await fetch(`${server.url}/api/v2/companies/batch`, { method: 'POST', headers, body });
  }
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const domains = Array.from({ length: COUNT }, (_, index) => `c${index}.example`);
const leftovers = (): string[] => readdirSync(sandbox.folder).filter((name) => name.includes('crm-'));

describe('one resource', () => {
  test('goes to stdout as NDJSON, oldest first; everything else to stderr', async () => {
    const { code, stdout, stderr } = await sandbox.crm(['export', 'companies']);
    expect(code).toBe(0);
    expect(ndjson(stdout).map((record) => record.domain)).toEqual(domains);
    expect(stderr).toContain(`Exported ${COUNT} records.`);
  });

  test.each(['csv', 'ndjson', 'json'])('is the same on stdout and in a file: %s', async (format) => {
    const text = await sandbox.ok(['export', 'companies', '--format', format]);
    const { stdout } = await sandbox.crm(['export', 'companies', '--out', `same.${format}`]);
    expect(stdout).toBe('');
    expect((await sandbox.read(`same.${format}`)).trim()).toBe(text);
    expect(leftovers()).toEqual([]);
  });

  test('as JSON is one array, an empty one too', async () => {
    expect(JSON.parse(await sandbox.ok(['export', 'companies', '--format', 'json']))).toHaveLength(COUNT);
    expect(await sandbox.ok(['export', 'contacts', '--format', 'json'])).toBe('[]');
  });

  test('as CSV has a column for every custom key, wherever it first shows', async () => {
    const rows: Record<string, string>[] = parse(
      await sandbox.ok(['export', 'companies', '--format', 'csv']),
      {
        columns: true,
      },
    );
    expect(rows.map((row) => row.domain)).toEqual(domains);
    expect(Object.keys(rows[0] ?? {})).toEqual(expect.arrayContaining(['custom.region', 'custom.rank']));
    expect(Object.keys(rows[0] ?? {})).not.toContain('custom');
    expect(rows[2]).toMatchObject({ name: 'Company\n2', 'custom.region': 'r, "2"', 'custom.rank': '2' });
    expect(rows[1]).toMatchObject({ 'custom.region': '', 'custom.rank': '' });
  });

  test('of no records as CSV is the header alone', async () => {
    expect(await sandbox.ok(['export', 'contacts', '--format', 'csv'])).toMatch(/^id,email,.*,updated_at$/);
  });

  test('takes --fields, --filter and --excel-safe', async () => {
    const words = ['export', 'companies', '--filter', 'domain=c3.example', '--fields', 'name,custom.rank'];
    expect(await sandbox.ok([...words, '--format', 'csv'])).toBe('name,custom.rank\n=1+1,');
    expect(await sandbox.ok([...words, '--format', 'csv', '--excel-safe'])).toBe("name,custom.rank\n'=1+1,");
    expect(await sandbox.ok(words)).toBe('{"name":"=1+1","custom.rank":null}');
  });

  test('to - goes to stdout, and no file needs a name', async () => {
    expect(await sandbox.ok(['export', 'companies', '--out', '-'])).toBe(
      await sandbox.ok(['export', 'companies']),
    );
    const document = JSON.parse(
      await sandbox.ok(['people', 'export', 'ada@example.com', '--org', 'Example', '--out', '-']),
    );
    expect(document.organization.name).toBe('Example');
    for (const [what, flag, message] of [
      ['companies', '--force', '--force needs an output file.'],
      ['all', '--resume', '"all" needs an output folder.'],
    ] as const) {
      const { code, stderr } = await sandbox.crm(['export', what, '--out', '-', flag]);
      expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    }
    expect(await sandbox.exists('-')).toBe(false);
  });

  test('ends quietly when its reader has seen enough', async () => {
    const { code, stderr } = await sandbox.piped(['export', 'companies'], 'head -n 1');
    expect(code).toBe(0);
    expect(stderr).not.toContain('rror');
  });

  test('reads v1 through its own lists', async () => {
    const key = await sandbox.ok(['keys', 'issue', '--org', 'Example', '--api', 'v1', '--all-scopes']);
    await sandbox.ok(['create', 'contacts', 'email=v1@example.com', 'first_name=Vi']);
    const text = await sandbox.ok(['export', 'people', '--api', 'v1', '--format', 'csv'], {
      env: { CRM_API_KEY: key },
    });
    const rows: Record<string, string>[] = parse(text, { columns: true });
    expect(rows).toEqual([
      expect.objectContaining({ email: 'v1@example.com', firstName: 'Vi', lastName: '' }),
    ]);
  });

  test.each([
    ['file/x.csv', 'Cannot create the folder file: a file with this name exists.'],
    ['.', 'is a folder.\nNext: Set --out to a file in it.'],
    [
      'x.xlsx',
      'crm does not write .xlsx files; its formats are csv, ndjson and json.\n' +
        'Next: Export CSV, which spreadsheets open: --excel-safe --out x.csv\n',
    ],
    ['x.xlsx --format csv', 'crm does not write .xlsx files'],
    ['my deals.ODS', "--out 'my deals.csv'"],
    ['x.ndjson --excel-safe', '--excel-safe works with CSV only.\nNext: Add --format csv'],
    ['x.parquet', 'Unknown file extension .parquet.\nNext: Add --format csv'],
    ['x.parquet', 'or use a known extension: --out x.csv\n'],
    ['x.csv.gz', 'or use a known extension: --out x.csv\n'],
    ['x.ndjson.gz', 'or use a known extension: --out x.ndjson\n'],
  ])('to %s fails and says why', async (out, reason) => {
    await sandbox.write('file', '');
    const [name = '', flags] = out.split(/ (?=--)/);
    const words = ['export', 'companies', '--out', name, ...(flags?.split(' ') ?? [])];
    const { code, stderr } = await sandbox.crm(words);
    expect(code).toBeGreaterThan(0);
    expect(stderr).toContain(reason);
    expect(await sandbox.exists(name)).toBe(false);
    expect(leftovers()).toEqual([]);
  });

  test('to a file of another name takes the format that is said', async () => {
    await sandbox.ok(['export', 'companies', '--out', 'said.txt', '--format', 'csv']);
    await sandbox.ok(['export', 'companies', '--out', 'wanted.txt', '-o', 'csv']);
    for (const name of ['said.txt', 'wanted.txt']) expect(await sandbox.read(name)).toStartWith('id,');
    await sandbox.ok(['export', 'companies', '--out', 'unnamed']);
    expect(ndjson(await sandbox.read('unnamed'))).toHaveLength(COUNT);
  });

  test('to folders that are not there makes them', async () => {
    await sandbox.ok(['export', 'companies', '--out', 'new/2026/companies.ndjson']);
    expect(ndjson(await sandbox.read('new/2026/companies.ndjson'))).toHaveLength(COUNT);
  });
});

describe('a file that is written', () => {
  test.each(['a file', 'a link', 'a link to nothing'])(
    'does not take the place of %s unless it is to',
    async (what) => {
      const out = `${what.replaceAll(' ', '-')}.ndjson`;
      await sandbox.write('mine', 'mine');
      if (what === 'a file') await sandbox.write(out, 'mine');
      else symlinkSync(sandbox.path(what === 'a link' ? 'mine' : 'nothing'), sandbox.path(out));
      const { code, stdout, stderr } = await sandbox.crm(['export', 'companies', '--out', out]);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toBe(
        `crm: The file ${out} already exists.\nNext: Choose another file with --out, or add --force to overwrite it.\n`,
      );
      if (what !== 'a link to nothing') expect(await sandbox.read(out)).toBe('mine');
      await sandbox.ok(['export', 'companies', '--out', out, '--force']);
      expect(ndjson(await sandbox.read(out))).toHaveLength(COUNT);
      expect(await sandbox.read('mine')).toBe('mine');
    },
  );

  test('is readable by its owner alone, as CSV and in a folder too', async () => {
    await sandbox.ok(['export', 'companies', '--out', 'mode.ndjson']);
    await sandbox.ok(['export', 'companies', '--out', 'mode.csv']);
    await sandbox.ok(['export', 'all', '--out', 'modes']);
    const modes = ['mode.ndjson', 'mode.csv', 'modes', 'modes/companies.ndjson', 'modes/export.json'];
    expect(modes.map((name) => statSync(sandbox.path(name)).mode & 0o777)).toEqual([
      ...[0o600, 0o600, 0o700, 0o600, 0o600],
    ]);
  });

  test.each(['crm-part', 'crm-part.json'])('does not go through a link at .%s', async (suffix) => {
    for (const [kind, link] of [
      ['symbolic', symlinkSync],
      ['hard', linkSync],
    ] as const) {
      for (const more of [[], ['--resume']]) {
        await sandbox.write('precious', 'precious');
        const out = `${kind}-${suffix.length}-${more.length}.ndjson`;
        link(sandbox.path('precious'), sandbox.path(`${out}.${suffix}`));
        await sandbox.ok(['export', 'companies', '--out', out, ...more]);
        expect(await sandbox.read('precious')).toBe('precious');
        expect(ndjson(await sandbox.read(out))).toHaveLength(COUNT);
      }
    }
  });

  test('takes the place of a link, not of what it leads to, and never of a device', async () => {
    await sandbox.write('precious', 'precious');
    symlinkSync(sandbox.path('precious'), sandbox.path('link.ndjson'));
    await sandbox.ok(['export', 'companies', '--out', 'link.ndjson', '--force']);
    expect(await sandbox.read('precious')).toBe('precious');
    expect(ndjson(await sandbox.read('link.ndjson'))).toHaveLength(COUNT);
    const { code, stderr } = await sandbox.crm(['export', 'companies', '--out', '/dev/null']);
    expect([code, stderr]).toEqual([2, expect.stringContaining('/dev/null is not a file')]);
  });
});

test('on a terminal nothing of a value is obeyed, whatever the format', async () => {
  await sandbox.ok(['create', 'segments', 'name=red \u001b[31m \u009b31m']);
  for (const format of ['csv', 'ndjson', 'json']) {
    const { output } = await sandbox.onTerminal(['export', 'segments', '--format', format]);
    expect(output).toContain('red ');
    expect(output).not.toContain('\u001b');
    expect(output).not.toContain('\u009b');
  }
  expect(await sandbox.ok(['export', 'segments', '--format', 'csv'])).toContain('red \u001b[31m \u009b31m');
});

describe('an export that breaks off', () => {
  // Stands between command and server, and lets only so many requests through.
  let allowed = Number.POSITIVE_INFINITY;
  let passed = 0;
  // Where set, the request after those is noted and never answered.
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
    return sandbox.crm(['export', ...words], { env });
  };

  test('leaves the old file as it was, and continues with --resume', async () => {
    await sandbox.write('part.csv', 'old');
    const words = ['companies', '--out', 'part.csv', '--force'];
    const broken = await through(3, ...words);
    expect(broken.code).toBe(4);
    expect(broken.stderr).toContain('--resume');
    expect(await sandbox.read('part.csv')).toBe('old');
    expect((await through(9, ...words, '--resume')).code).toBe(0);
    expect(passed).toBe(1);
    expect((await sandbox.read('part.csv')).trim()).toBe(
      await sandbox.ok(['export', 'companies', '--format', 'csv']),
    );
    expect(leftovers()).toEqual([]);
  });

  test('on Ctrl-C ends with 130, says how to continue, and continues with --resume', async () => {
    const held = Promise.withResolvers<void>();
    onHeld = held.resolve;
    [allowed, passed] = [2, 0];
    const words = ['export', 'companies', '--out', 'cut.ndjson'];
    const command = sandbox.start(words, { env });
    await held.promise;
    command.kill('SIGINT');
    const { code, stderr } = await command.result;
    onHeld = null;
    expect(code).toBe(130);
    expect(stderr).toMatch(/Interrupted after \d+ records\.\nNext: Add --resume to the same command/);
    expect(await sandbox.exists('cut.ndjson')).toBe(false);
    expect((await through(9, 'companies', '--out', 'cut.ndjson', '--resume')).code).toBe(0);
    expect(ndjson(await sandbox.read('cut.ndjson'))).toHaveLength(COUNT);
    expect(leftovers()).toEqual([]);
  });

  test('starts over without --resume, and for another export', async () => {
    await through(2, 'companies', '--out', 'again.ndjson');
    expect((await through(9, 'companies', '--out', 'again.ndjson')).code).toBe(0);
    // Three pages, and the newest record, which says how far there is to go.
    expect(passed).toBe(4);
    await through(2, 'companies', '--out', 'again.ndjson', '--force');
    const filter = ['--filter', 'domain=c1.example'];
    const other = ['companies', '--out', 'again.ndjson', ...filter, '--resume', '--force'];
    expect((await through(9, ...other)).code).toBe(0);
    expect(ndjson(await sandbox.read('again.ndjson')).map((record) => record.domain)).toEqual(['c1.example']);
  });

  test.each(['ndjson', 'csv'])(
    'of everything goes on in the folder beside, wherever it broke off: %s',
    async (format) => {
      for (const name of ['One', 'Two']) {
        const [deal, contact] = [
          JSON.parse(await sandbox.ok(['create', 'deals', `name=${name}`])),
          JSON.parse(await sandbox.ok(['create', 'contacts', `last_name=${name}`])),
        ];
        await sandbox.ok(['link', `deals/${deal.id}/contacts`, contact.id]);
      }
      const straight = `straight-${format}`;
      await sandbox.ok(['export', 'all', '--out', straight, '--format', format]);
      const files = readdirSync(sandbox.path(straight)).sort();
      for (const requests of [2, 4, 8, 14, 16]) {
        const out = `resumed-${format}-${requests}`;
        const words = ['all', '--out', out, '--format', format];
        const broken = await through(requests, ...words);
        expect([broken.code, broken.stderr]).toEqual([4, expect.stringContaining('Add --resume')]);
        expect([existsSync(sandbox.path(out)), existsSync(sandbox.path(`${out}.crm-part`))]).toEqual([
          false,
          true,
        ]);
        // Records by the time of the last one, links by their number.
        if (requests === 2) expect(broken.stderr).toMatch(/Exporting companies: 200 records \([1-9]\d?%\)/);
        if (requests === 16) expect(broken.stderr).toMatch(/Exporting links: [2-9] links/);
        expect((await through(99, ...words, '--resume')).code).toBe(0);
        expect(existsSync(sandbox.path(`${out}.crm-part`))).toBe(false);
        expect(readdirSync(sandbox.path(out)).sort()).toEqual(files);
        for (const file of files.filter((name) => name !== 'export.json')) {
          expect(await sandbox.read(`${out}/${file}`)).toBe(await sandbox.read(`${straight}/${file}`));
        }
      }
    },
    300_000,
  );

  test('of another key starts over, even with --resume', async () => {
    await through(2, 'companies', '--out', 'key.ndjson');
    const key = await sandbox.ok(['keys', 'issue', '--org', 'Example', '--all-scopes']);
    [allowed, passed] = [9, 0];
    const words = ['export', 'companies', '--out', 'key.ndjson', '--resume'];
    expect((await sandbox.crm(words, { env: { ...env, CRM_API_KEY: key } })).code).toBe(0);
    expect(passed).toBe(4);
  });
});

test.skipIf(!existsSync('/dev/full'))('a full disk behind stdout is reported as such', async () => {
  const full = await sandbox.into('/dev/full', ['export', 'companies']);
  expect(full.code).toBe(1);
  expect(full.stderr).toMatch(/Cannot write the output: the disk is full\.\nNext: Free up disk space/);
});

describe('export all', () => {
  test('writes a file for every resource, and the links', async () => {
    const contact = JSON.parse(await sandbox.ok(['create', 'contacts', 'email=all@example.com']));
    const deal = JSON.parse(await sandbox.ok(['create', 'deals', 'name=All']));
    const note = JSON.parse(await sandbox.ok(['create', 'notes', 'title=All']));
    const segment = JSON.parse(await sandbox.ok(['create', 'segments', 'name=All']));
    await sandbox.ok(['link', `deals/${deal.id}/contacts`, contact.id, `supervisor=${contact.id}`]);
    await sandbox.ok(['link', `notes/${note.id}/records`, deal.id, 'record_type=deal']);
    await sandbox.ok(['link', `segments/${segment.id}/members`, contact.id]);
    const { code, stdout } = await sandbox.crm(['export', 'all', '--out', 'all']);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(readdirSync(sandbox.path('all')).sort()).toEqual(
      'bookings companies contacts deals export interactions links meetings notes pipelines recordings segments tasks'
        .split(' ')
        .map((name) => (name === 'export' ? 'export.json' : `${name}.ndjson`)),
    );
    expect(ndjson(await sandbox.read('all/companies.ndjson'))).toHaveLength(COUNT);
    const lines = ndjson(await sandbox.read('all/links.ndjson'));
    const parents = [deal, note, segment].map(({ id }) => id);
    expect(lines.filter(({ id }) => parents.includes(id))).toEqual([
      { resource: 'deals', id: deal.id, link: 'contacts', record_id: contact.id, supervisor: contact.id },
      { resource: 'notes', id: note.id, link: 'records', record_id: deal.id, record_type: 'deal' },
      { resource: 'segments', id: segment.id, link: 'members', record_id: contact.id },
    ]);
  });

  test('says in export.json what it holds, when, and by which digests that is known', async () => {
    await sandbox.ok(['export', 'all', '--out', 'told']);
    const manifest = JSON.parse(await sandbox.read('told/export.json'));
    expect(manifest).toMatchObject({ crm_export: 1, server: server.url });
    expect(Date.parse(manifest.ended_at)).toBeGreaterThanOrEqual(Date.parse(manifest.began_at));
    for (const { name, records, sha256 } of manifest.files) {
      const text = await sandbox.read(`told/${name}`);
      expect([name, records]).toEqual([name, ndjson(text).length]);
      expect(sha256).toBe(new Bun.CryptoHasher('sha256').update(text).digest('hex'));
    }
    expect(manifest.files.length + 1).toBe(readdirSync(sandbox.path('told')).length);
  });

  test('takes no folder that has something in it, and leaves that alone', async () => {
    await sandbox.write('taken/mine.txt', 'mine');
    for (const more of [[], ['--resume']]) {
      const { code, stderr } = await sandbox.crm(['export', 'all', '--out', 'taken', ...more]);
      expect([code, stderr]).toEqual([2, expect.stringContaining('taken is not empty')]);
    }
    expect(readdirSync(sandbox.path('taken'))).toEqual(['mine.txt']);
    await sandbox.write('held.crm-part/my thesis.doc', 'mine');
    const { code, stderr } = await sandbox.crm(['export', 'all', '--out', 'held']);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining('my thesis.doc, which is not part of an export'),
    ]);
  });

  test('does not go through a link at .crm-part', async () => {
    mkdirSync(sandbox.path('theirs'));
    for (const more of [[], ['--resume']]) {
      const out = `linked-${more.length}`;
      symlinkSync(sandbox.path('theirs'), sandbox.path(`${out}.crm-part`));
      const { code, stderr } = await sandbox.crm(['export', 'all', '--out', out, ...more]);
      expect([code, stderr]).toEqual([1, expect.stringContaining(`${out}.crm-part`)]);
      expect(readdirSync(sandbox.path('theirs'))).toEqual([]);
    }
  });

  test('takes the place of an empty folder, also by another name for it', async () => {
    mkdirSync(sandbox.path('empty'));
    symlinkSync(sandbox.path('empty'), sandbox.path('alias'));
    await sandbox.ok(['export', 'all', '--out', 'alias/']);
    expect(await sandbox.exists('empty/export.json')).toBe(true);
    expect((await sandbox.crm(['export', 'all', '--out', '.'])).code).toBe(2);
  });

  test('writes CSV too', async () => {
    await sandbox.ok(['export', 'all', '--out', 'all-csv', '--format', 'csv']);
    const rows: unknown[] = parse(await sandbox.read('all-csv/companies.csv'), { columns: true });
    expect(rows).toHaveLength(COUNT);
  });
});
