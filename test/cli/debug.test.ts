// `--debug`: requests and responses on stderr, above a progress bar, without any secret.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { type Result, Sandbox } from '../support/command.ts';
import { isPostgres } from '../support/fresh-databases.ts';
import { roundThat } from '../support/rounds.ts';
import { Screen } from '../support/screen.ts';

const LONG = 300_000;
const sandbox = await Sandbox.withDatabase();
let key = '';
let url = '';
beforeAll(async () => {
  const server = await sandbox.serveOrganization();
  ({ url } = server);
  key = sandbox.env.CRM_API_KEY ?? '';
  // It is made for the first who asks, which can take longer than doctor waits.
  await (await fetch(`${url}/docs/json`)).text();
}, LONG);
afterAll(() => sandbox[Symbol.asyncDispose]());

const told = ({ stderr }: Result): string[] =>
  stderr.split('\n').flatMap((line) => (line.startsWith('debug: ') ? [line.slice('debug: '.length)] : []));

describe('is printed', () => {
  test('where settings come from, the request, and the answer with its time', async () => {
    const made = await sandbox.crm(['create', 'contacts', 'first_name=Ada', '--debug', '-o', 'json']);
    const record = JSON.parse(made.stdout);
    const lines = told(made);
    expect(lines.slice(0, 5)).toEqual([
      expect.stringMatching(/^crm \d+\.\d+\.\d+ on \w+ \w+$/),
      expect.stringMatching(
        isPostgres ? /^db: postgres:.* \(from CRM_DB\)$/ : /^db: \.\/crm\.db \(default\)$/,
      ),
      `url: ${url} (from CRM_URL)`,
      'output: json (from --output)',
      'API key: (not shown) (from CRM_API_KEY)',
    ]);
    expect(lines).toContain(`1 > POST ${url}/api/v2/contacts`);
    expect(lines).toContain('1 > authorization: Bearer (not shown)');
    expect(lines).toContain('1 > idempotency-key: (not shown)');
    expect(lines).toContain('1 > {"first_name":"Ada"}');
    expect(lines).toContainEqual(expect.stringMatching(/^1 < 201 Created after \d+ ms$/));
    expect(lines).toContain(`1 < location: ${url}/api/v2/contacts/${record.id}`);
    expect(lines.at(-1)).toStartWith('1 < {"object":"success","data":{"id":');
    expect(lines.join('\n')).not.toContain('\u001b');
  });

  test('by CRM_DEBUG as well, unless that says no; without either nothing is', async () => {
    const list = ['list', 'contacts', '--limit', '1', '-o', 'json'];
    const plain = await sandbox.crm(list);
    expect(plain.stderr).toBe('');
    for (const CRM_DEBUG of ['', '0', 'false'])
      expect((await sandbox.crm(list, { env: { CRM_DEBUG } })).stderr).toBe('');
    const by = await sandbox.crm(list, { env: { CRM_DEBUG: '1' } });
    expect(told(by)).toContain(`1 > GET ${url}/api/v2/contacts?limit=1`);
    expect(by.stdout).toBe(plain.stdout);
    expect(told(await sandbox.crm(['--debug', ...list])).length).toBe(told(by).length);
  });

  test('what doctor and health ask too; of a long body the beginning', async () => {
    const doctor = told(await sandbox.crm(['doctor', '--debug']));
    for (const path of ['/healthz', '/readyz', '/docs/json', '/api/v2/contacts?limit=1'])
      expect(doctor).toContainEqual(
        expect.stringMatching(new RegExp(`^\\d+ > GET ${url}${path.replace('?', '\\?')}$`)),
      );
    expect(doctor).toContainEqual(expect.stringMatching(/^3 < … first part of \d{3},\d{3} characters$/));
    expect(doctor.join('\n').length).toBeLessThan(30_000);
    // It waits for three seconds alone.
    const health = await roundThat(
      ({ stderr }) => !stderr.includes('timed out'),
      () => sandbox.crm(['health', '--debug']),
    );
    expect([health.code, told(health).at(-1)]).toEqual([0, '1 < {"status":"ready"}']);
    // What is no address is nothing to ask.
    const nowhere = await sandbox.crm(['health', '--url', 'nonsense']);
    expect([nowhere.code, nowhere.stderr]).toEqual([2, expect.stringContaining('is not a valid server URL')]);
  });

  test(
    'what is waited for, what broke off, and that nobody answered',
    async () => {
      const list = '{"object":"list","data":[],"page_info":{"has_next_page":false,"end_cursor":null}}';
      const head = `HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: ${list.length}\r\n\r\n`;
      const refused = (status: string, header = '') =>
        `HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n${header}\r\n`;
      const answers = [
        refused('429 Too Many Requests', 'Retry-After: 1\r\n'),
        refused('503 Service Unavailable'),
        head + list.slice(0, 9),
        head + list,
      ];
      const server = Bun.listen({
        hostname: '127.0.0.1',
        port: 0,
        socket: { data: (socket) => void socket.end(answers.shift() ?? '') },
      });
      const command = ['list', 'contacts', '--debug', '-o', 'json'];
      const asked = await sandbox.crm([...command, '--url', `http://127.0.0.1:${server.port}`]);
      server.stop(true);
      expect([asked.code, asked.stdout]).toEqual([0, '[]\n']);
      const lines = told(asked);
      expect(lines.filter((line) => line.startsWith('1 > GET')).length).toBe(4);
      expect(lines).toContain('1 * waiting 1 s for the rate limit (Retry-After: 1), then retrying');
      expect(lines).toContainEqual(
        expect.stringMatching(/^1 \* waiting .* for the server to be ready, then /),
      );
      expect(lines).toContainEqual(expect.stringMatching(/^1 < … interrupted: \S/));
      expect(lines).toContainEqual(
        expect.stringMatching(/^1 \* waiting .* for the server to respond, then /),
      );
      const away = await sandbox.crm([...command, '--url', `http://127.0.0.1:${server.port}`]);
      expect(told(away)).toContainEqual(expect.stringMatching(/^1 < no response after \d+ ms: \S/));
    },
    LONG,
  );

  test('nothing of a usage error, which is none of a request', async () => {
    const wrong = await sandbox.crm(['list', 'contacts', '--nonsense', '--debug']);
    expect([wrong.code, told(wrong)]).toEqual([2, []]);
  });
});

describe('nothing secret is printed by', () => {
  const secrets: string[] = [];
  const run = async (args: string[], env: Record<string, string> = {}): Promise<Result> => {
    const result = await sandbox.crm([...args, '--debug'], { env });
    expect(told(result).length).toBeGreaterThan(0);
    return result;
  };
  const randomOf = (text: string) => text.trim().replace(/^service_[a-z]+_/, '');
  const expectNone = (stderr: string) => {
    for (const secret of [randomOf(key), ...secrets]) {
      expect(secret.length).toBeGreaterThan(12);
      expect(stderr).not.toContain(secret.slice(0, 12));
      expect(stderr).not.toContain(secret.slice(-12));
    }
  };

  test(
    'commands that make keys, which are on stdout alone',
    async () => {
      const made = await run(['init', '--org', 'Debugged']);
      const issued = await run(['keys', 'issue', '--org', 'Debugged', '--all-scopes']);
      const { id } = JSON.parse(
        (await run(['keys', 'issue', '--org', 'Debugged', '--scopes', 'contacts:read', '-o', 'json'])).stdout,
      );
      const rotated = await run(['keys', 'rotate', id]);
      for (const { code, stdout, stderr } of [made, issued, rotated]) {
        expect([code, stdout]).toEqual([0, expect.stringMatching(/^service_live_\w{49}\n$/)]);
        secrets.push(randomOf(stdout));
        expectNone(stderr);
      }
      const rotation = await run(['secrets', 'rotate']);
      expect(rotation.code).toBe(0);
      expectNone(rotation.stderr);
    },
    LONG,
  );

  test('an import, and a key that is typed where none belongs', async () => {
    await sandbox.write('rows.csv', `first_name,remarks\nAda,${key}\nBob,none\n`);
    const imported = await run(['import', 'contacts', 'rows.csv']);
    expect(imported.code).toBe(0);
    expect(told(imported)).toContainEqual(expect.stringContaining('"remarks":"service_live_(not shown)"'));
    expectNone(imported.stderr);
    const listed = await run(['list', 'contacts', '--filter', `email=${key}`]);
    expectNone(listed.stderr);
  });

  test('a key from a file, and addresses with a password', async () => {
    await sandbox.write('key', key);
    const password = 'Tr0ub4dor-and-3-x';
    secrets.push(password);
    const address = `postgres://ada:${password}@127.0.0.1:1/crm`;
    const given = { CRM_API_KEY: '', CRM_DB: address };
    const listed = await run(['list', 'contacts', '--api-key-file', sandbox.path('key')], given);
    expect(told(listed)).toContain('db: postgres://ada@127.0.0.1:1/crm (from CRM_DB)');
    expectNone(listed.stderr);
    expectNone((await run(['orgs', 'list'], given)).stderr);
    const proxied = url.replace('http://', `http://ada:${password}@`);
    expectNone((await run(['health'], { CRM_URL: proxied })).stderr);
  });

  test('the link to a transcript', async () => {
    const segments = [
      { speaker: { name: 'Ada', email: null }, start_time: 0, end_time: 1, speech: 'Hello.' },
    ];
    await sandbox.write('meeting.json', '[{"external_id":"m","title":"Kick-off"}]');
    const recording = { external_id: 'r', meeting_external_id: 'm', title: 'Kick-off', segments };
    await sandbox.write('recording.json', JSON.stringify([recording]));
    await sandbox.ok(['ingest', 'meetings', 'meeting.json', '--org', 'Example']);
    await sandbox.ok(['ingest', 'recordings', 'recording.json', '--org', 'Example']);
    const [{ id }] = JSON.parse(await sandbox.ok(['list', 'recordings', '-o', 'json']));
    const { stdout, stderr } = await run(['get', 'recordings', id, '-o', 'json']);
    secrets.push(new URL(JSON.parse(stdout).transcript_url).searchParams.get('token') ?? '');
    expect(stderr).toContain('/api/v2/transcripts/download?token=(not shown)"');
    expectNone(stderr);
  });
});

test(
  'on a terminal it stands above the bar, which stays whole',
  async () => {
    const rows = Array.from({ length: 400 }, (_, index) => `Row ${index}\n`).join('');
    await sandbox.write('many.csv', `first_name\n${rows}`);
    const args = ['import', 'contacts', 'many.csv', '--batch-size', '2', '--yes', '--debug'];
    const columns = 1_500;
    const { code, output } = await sandbox.onTerminal(args, { columns });
    expect(code).toBe(0);
    expect(output).toContain('rows/s');
    const lines = new Screen().write(output).lines();
    const own = lines.filter((line) => line.startsWith('debug: '));
    expect(own.filter((line) => / > POST /.test(line)).length).toBe(200);
    expect(own.filter((line) => / < 200 OK after /.test(line)).length).toBeGreaterThanOrEqual(200);
    const others = lines.filter((line) => line !== '' && !line.startsWith('debug: '));
    expect(others).toEqual([
      expect.stringContaining('Importing contacts from many.csv'),
      expect.stringContaining('first_name'),
      expect.stringMatching(/^Imported 400 contacts: 400 created/),
    ]);
  },
  LONG,
);

describe('an unexpected error', () => {
  const program = JSON.stringify(join(import.meta.dir, '../../cli/program.ts'));
  const streams = JSON.stringify(join(import.meta.dir, '../../cli/terminal/streams.ts'));
  // The output fails as no output does.
  const script = `
    (await import(${streams})).stdout.write = () => { throw new TypeError('It broke at https://ada:pa55word@host/x.'); };
    process.exit(await (await import(${program})).run(process.argv.slice(1)));`;
  const fail = async (...args: string[]) => {
    const child = Bun.spawn([process.execPath, '-e', script, ...args], { stdout: 'ignore', stderr: 'pipe' });
    return { code: await child.exited, stderr: await child.stderr.text() };
  };

  test('is reported in a word, with how to see more', async () => {
    const { code, stderr } = await fail('version');
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(
        /^crm: unexpected error: It broke at https:..ada:\(not shown\)@host.x\.\nNext: .*--debug .*\n$/,
      ),
    ]);
  });

  test('is reported with its stack, which has no secret either', async () => {
    const { code, stderr } = await fail('version', '--debug');
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^debug: +at /m)]);
    expect(stderr).toContain('debug: TypeError: It broke at https://ada:(not shown)@host/x.');
  });
});
