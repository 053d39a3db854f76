// `crm ingest` as its users run it: streams, summary, exit codes, and a server running beside it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { shortIdOf } from '../../cli/input/short-id.ts';
import { tableOf } from '../../db/engine/schema.ts';
import { getResource } from '../../db/model/resources/registry.ts';
import { openStore } from '../../db/store.ts';
import { ndjson, type Result, Sandbox } from '../support/command.ts';
import { isPostgres } from '../support/fresh-databases.ts';

const sandbox = await Sandbox.withDatabase();
afterAll(() => sandbox[Symbol.asyncDispose]());

const DAY_MS = 86_400_000;
const stamp = (days: number): string =>
  new Date(Date.now() + days * DAY_MS).toISOString().replace(/[-:]|\.\d{3}/g, '');

const CALENDAR = [
  'BEGIN:VCALENDAR',
  'BEGIN:VEVENT',
  'UID:kickoff@x',
  `DTSTART:${stamp(-2)}`,
  'DURATION:PT1H',
  'SUMMARY:Kick-off',
  'ORGANIZER:mailto:alice@acme.test',
  'ATTENDEE;CN=Ada:mailto:ada@x.test',
  'END:VEVENT',
  'BEGIN:VEVENT',
  'UID:standup@x',
  `DTSTART:${stamp(1)}`,
  'RRULE:FREQ=DAILY',
  'END:VEVENT',
  'END:VCALENDAR',
  '',
].join('\r\n');

function ingest(resource: string, ...args: string[]): Promise<Result> {
  return sandbox.crm(['ingest', resource, ...args, '--org', 'Acme']);
}

beforeAll(async () => {
  await sandbox.ok(['init', '--org', 'Acme', '--user', 'alice@acme.test']);
  await sandbox.write('calendar.ics', CALENDAR);
});

describe('meetings', () => {
  test('are reported on stderr, counted, and unchanged the second time', async () => {
    const first = await ingest('meetings', 'calendar.ics');
    expect([first.code, first.stdout]).toEqual([0, '']);
    expect(first.stderr).toContain('meetings: 401 created, 0 updated, 0 unchanged.');
    const again = await ingest('meetings', 'calendar.ics', '-o', 'json');
    expect(again.code).toBe(0);
    expect(JSON.parse(again.stdout)).toEqual({
      resource: 'meetings',
      created: 0,
      updated: 0,
      unchanged: 401,
      cancelled: 0,
      ignored: 0,
      faults: [],
      notices: [],
    });
  });

  test('that no user owns are the work of the organization, by its id', async () => {
    const [org] = ndjson(await sandbox.ok(['orgs', 'list']));
    const store = await openStore(sandbox.database);
    const makers = await store.read
      .selectFrom(tableOf(getResource('meetings')))
      .select('created_by')
      .distinct()
      .where(sql<string>`external_id`, 'like', 'standup@x%')
      .execute();
    await store.close();
    expect(makers).toEqual([{ created_by: String(org?.id) }]);
  });

  test('an ingest that is interrupted says how to go on, and doubles nothing', async () => {
    const count = isPostgres ? 1_000 : 10_000;
    const meetings = Array.from({ length: count }, (_, index) => ({
      external_id: `many-${index}`,
      title: 'Many',
      start_time: 1_767_225_600_000 + index,
      end_time: 1_767_229_200_000 + index,
    }));
    const text = JSON.stringify(meetings);
    await sandbox.write('many.json', text);
    await sandbox.write('half.json', text.slice(0, text.length / 2));
    const store = await openStore(sandbox.database);
    const stored = async () => {
      const rows = store.read.selectFrom(tableOf(getResource('meetings'))).select('id');
      return (await rows.where(sql<string>`title`, '=', 'Many').execute()).length;
    };
    Bun.spawnSync(['mkfifo', sandbox.path('some.json')]);
    // The other half does not come before it is interrupted.
    const halved = ['sh', '-c', 'exec > some.json; cat half.json; exec sleep 600'];
    const writer = Bun.spawn(halved, { cwd: sandbox.folder });
    const command = sandbox.start(['ingest', 'meetings', 'some.json', '--org', 'Acme']);
    while ((await stored()) === 0) await Bun.sleep(2);
    command.kill('SIGINT');
    const { code, stderr } = await command.result;
    writer.kill();
    expect(await stored()).toBeLessThan(count);
    expect(code).toBe(130);
    expect(stderr).toMatch(/Interrupted.*\nNext: Run the same command again\. No duplicates are created\./);
    expect((await ingest('meetings', 'many.json')).code).toBe(0);
    expect(await stored()).toBe(count);
    await store.close();
  }, 300_000);

  test('come from standard input too', async () => {
    const options = { stdin: CALENDAR };
    const { code, stderr } = await sandbox.crm(
      ['ingest', 'meetings', '-', '--org', 'Acme', '--quiet'],
      options,
    );
    expect([code, stderr]).toEqual([0, '']);
    const faulty = await sandbox.crm(['ingest', 'meetings', '-', '--org', 'Acme'], {
      stdin: '[{"title":"x"}]',
    });
    expect(faulty.code).toBe(3);
    expect(faulty.stderr).toContain('standard input:1: external_id is required');
  });

  test('come through a pipe with a name, whose length nobody knows', async () => {
    const entry = { external_id: 'pipe@x', title: 'Pipe', start_time: '2026-01-01T09:00:00Z' };
    await sandbox.write('pipe.json', JSON.stringify([entry]));
    const args = ['ingest', 'meetings', '--org', 'Acme', '--format', 'json'];
    const { code, stderr } = await sandbox.shell('"$@" <(cat pipe.json)', args);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^Ingesting meetings: 1 meetings?, .* meetings\/s, 1 ok$/m);
  });

  test('with faults: each with its line, the others stored, exit 3', async () => {
    await sandbox.write(
      'bad.ics',
      CALENDAR.replace('DURATION:PT1H', 'DURATION:an hour').replaceAll('@x\r', '@y\r'),
    );
    const { code, stdout, stderr } = await ingest('meetings', 'bad.ics', '-o', 'ndjson');
    expect(code).toBe(3);
    expect(JSON.parse(stdout)).toMatchObject({ created: 400, faults: [{ line: 5 }] });
    expect(stderr).toMatch(/^Ingesting meetings: 400 meetings \(100%\), .* meetings\/s, 400 ok, 1 failed$/m);
    expect(stderr).toContain('bad.ics:5: DURATION must be like PT1H30M, not "an hour"\n');
    expect(stderr).toContain('meetings: 400 created, 0 updated, 0 unchanged, 1 error.');
    expect(stderr).toContain('Next: ');
  });

  test('can be read while a server runs beside', async () => {
    const server = await sandbox.serve();
    await sandbox.write(
      'more.json',
      '[{"external_id":"beside","title":"Beside","start_time":"2026-01-01T09:00:00Z"}]',
    );
    expect((await ingest('meetings', 'more.json', '--owner', 'alice@acme.test')).code).toBe(0);
    const key = await sandbox.ok(['keys', 'issue', '--org', 'Acme', '--scopes', 'meetings:read']);
    const env = { CRM_API_KEY: key, CRM_URL: server.url };
    const list = ['list', 'meetings', '--filter', 'start_before=2026-01-01T09:00:01Z', '-o', 'json'];
    const found = JSON.parse(await sandbox.ok(list, { env }));
    await server.stop();
    expect(found.find((one: { external_id: string }) => one.external_id === 'beside')).toMatchObject({
      title: 'Beside',
      start_time: Date.parse('2026-01-01T09:00:00Z'),
      owner_id: expect.any(String),
    });
  });
});

describe('recordings', () => {
  const VTT = 'WEBVTT\n\n00:01.000 --> 00:02.500\n<v Ada>Hello\n';

  test('from WebVTT belong to the meeting named, and are updated by the same file', async () => {
    await sandbox.write('kick-off.vtt', VTT);
    const first = await ingest('recordings', 'kick-off.vtt', '--meeting', 'kickoff@x', '-o', 'json');
    expect([first.code, JSON.parse(first.stdout).created]).toEqual([0, 1]);
    await sandbox.write('kick-off.vtt', VTT.replace('Hello', 'Good morning'));
    const again = await ingest('recordings', 'kick-off.vtt', '--meeting', 'kickoff@x', '-o', 'json');
    expect(JSON.parse(again.stdout)).toMatchObject({ created: 0, updated: 1 });
  });

  test('take the short ID of their meeting, as tables show it', async () => {
    const store = await openStore(sandbox.database);
    const rows = store.read.selectFrom(tableOf(getResource('meetings'))).select('id');
    const [meeting] = await rows.where(sql<string>`external_id`, '=', 'kickoff@x').execute();
    await sandbox.write('short.vtt', VTT);
    const short = shortIdOf(String(meeting?.id));
    expect((await ingest('recordings', 'short.vtt', '--meeting', short)).code).toBe(0);
    const recordings = store.read.selectFrom(tableOf(getResource('recordings'))).select('id');
    const ofMeeting = recordings.where(sql<string>`external_id`, '=', 'kickoff@x/short.vtt');
    expect(await ofMeeting.execute()).toHaveLength(1);
    await store.close();
  });

  test('without a readable cue change nothing', async () => {
    await sandbox.write('kick-off.vtt', 'WEBVTT\n\n00:01,000 --> 00:02,500\nHello\n');
    const { code, stdout } = await ingest(
      'recordings',
      'kick-off.vtt',
      '--meeting',
      'kickoff@x',
      '-o',
      'json',
    );
    expect([code, JSON.parse(stdout)]).toMatchObject([3, { updated: 0, faults: [{ line: 3 }] }]);
  });

  test('from JSON may have their meeting named for all of them', async () => {
    await sandbox.write(
      'calls.json',
      '{"external_id":"call-1"}\n{"external_id":"call-2","meeting_id":null}\n',
    );
    const { code, stdout } = await ingest('recordings', 'calls.json', '--meeting', 'kickoff@x', '-o', 'json');
    expect([code, JSON.parse(stdout).created]).toEqual([0, 2]);
  });
});

describe('bookings', () => {
  test('are stored, and webhooks of other events are counted', async () => {
    const lines = [
      {
        triggerEvent: 'BOOKING_CREATED',
        createdAt: '2026-01-01T00:00:00Z',
        payload: { uid: 'A', title: 'Call' },
      },
      { triggerEvent: 'MEETING_ENDED', payload: {} },
      { triggerEvent: 'BOOKING_CREATED', payload: {} },
      { foo: 1 },
    ];
    await sandbox.write('hooks.ndjson', lines.map((line) => JSON.stringify(line)).join('\n'));
    const { code, stderr } = await ingest('bookings', 'hooks.ndjson');
    expect(code).toBe(3);
    expect(stderr).toContain('1 ok, 2 failed');
    expect(stderr).toContain('hooks.ndjson:3: payload.uid is required');
    expect(stderr).toContain('bookings: 1 created, 0 updated, 0 unchanged, 1 other event skipped, 3 errors.');
  });
});

describe('refused, with the next step to take', () => {
  test.each([
    ['a file that is not there', ['meetings', 'none.ics'], 1, 'Cannot read none.ics: no such file.'],
    ['a folder', ['meetings', '.'], 1, 'Cannot read .'],
    ['a file that is no calendar', ['meetings', 'text.ics'], 1, 'text.ics is not an iCalendar file'],
    ['a file that is no JSON', ['meetings', 'text.json'], 1, 'text.json is not valid JSON'],
    ['a format that does not fit', ['bookings', 'calendar.ics'], 2, 'calendar.ics is ics'],
    ['a format that is not clear', ['meetings', 'text'], 2, 'Unknown format of text'],
    ['a transcript without a meeting', ['recordings', 'text.vtt'], 2, 'does not contain its meeting'],
    ['a meeting that is not there', ['recordings', 'good.vtt', '--meeting', 'z'], 1, 'Meeting "z" not found'],
    [
      'an owner who is no user',
      ['meetings', 'calendar.ics', '--owner', 'eve@x.test'],
      1,
      'no user "eve@x.test"',
    ],
    ['another resource', ['contacts', 'text.json'], 2, 'contacts'],
  ])('%s', async (_, args, code, message) => {
    for (const name of ['text.ics', 'text.json', 'text', 'text.vtt'])
      await sandbox.write(name, 'Dear all,\n');
    await sandbox.write('good.vtt', 'WEBVTT\n');
    const result = await sandbox.crm(['ingest', ...args, '--org', 'Acme']);
    expect(result.stderr).toContain(message);
    expect(result.stderr).toContain('Next: ');
    expect([result.code, result.stdout]).toEqual([code, '']);
  });

  test('an organization that is not there, or none named where there are two', async () => {
    const unknown = await sandbox.crm(['ingest', 'meetings', 'calendar.ics', '--org', 'Nowhere']);
    expect([unknown.code, unknown.stderr]).toEqual([
      1,
      expect.stringContaining('Organization "Nowhere" not found'),
    ]);
    await sandbox.ok(['orgs', 'create', 'Another']);
    expect((await sandbox.crm(['ingest', 'meetings', 'calendar.ics'])).code).toBe(2);
  });

  test('a database that is not there is not made', async () => {
    const { code, stderr } = await ingest('meetings', 'calendar.ics', '--db', 'other.db');
    expect([code, stderr]).toEqual([1, expect.stringContaining('There is no database at other.db')]);
    expect(await sandbox.exists('other.db')).toBe(false);
  });
});
