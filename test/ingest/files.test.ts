// JSON files of meetings and recordings: what they give, and what is reported of bad ones.
import { describe, expect, test } from 'bun:test';
import type { Data } from '../../db/model/json.ts';
import { readMeetings, readRecordings, told } from '../support/ingest-readers.ts';

async function meetings(
  text: string | Uint8Array,
  chunkBytes?: number,
): Promise<{ data: Data[]; faults: string[] }> {
  const file = await readMeetings(text, chunkBytes);
  return { data: file.entries.flatMap(({ entries }) => entries.map(({ data }) => data)), faults: told(file) };
}

async function recordings(...items: unknown[]): Promise<{ data: Data[]; faults: string[] }> {
  const file = await readRecordings(items.map((item) => JSON.stringify(item)).join('\n'));
  return { data: file.entries.map(({ data }) => data), faults: told(file) };
}

describe('JSON', () => {
  const ids = async (text: string) => (await meetings(text)).data.map(({ external_id }) => external_id);

  test.each([
    ['an array', '[{"external_id":"a"},\n {"external_id":"b"}]'],
    [
      'an array over many lines',
      '[\n  {\n    "external_id": "a"\n  },\n  {\n    "external_id": "b"\n  }\n]\n',
    ],
    ['NDJSON', '{"external_id":"a"}\n\n{"external_id":"b"}\n'],
    ['NDJSON with CRLF and a byte order mark', '\ufeff{"external_id":"a"}\r\n{"external_id":"b"}\r\n'],
  ])('is read from %s', async (_, text) => {
    expect(await ids(text)).toEqual(['a', 'b']);
  });

  test('is read from one object over many lines', async () => {
    expect(await ids('{\n  "external_id": "a"\n}\n')).toEqual(['a']);
  });

  test('every field is taken as declared, and what the service makes itself is left out', async () => {
    const given = {
      external_id: 'a',
      title: 'Kick-off',
      start_time: 1_767_225_600_000,
      end_time: '2026-01-01T01:00:00Z',
      status: 'tentative',
      organizer: { email: 'alice@acme.test' },
      attendees: [{ name: 'Ada', email: 'ada@x.test', contact_id: 'anybody' }],
      id: '019b76da-a800-7000-8000-000000000001',
      recording_ids: ['1'],
      created_at: '2026-01-01T00:00:00.000Z',
    };
    expect((await meetings(JSON.stringify(given))).data).toEqual([
      {
        external_id: 'a',
        title: 'Kick-off',
        start_time: 1_767_225_600_000,
        end_time: 1_767_229_200_000,
        status: 'tentative',
        organizer: { name: null, email: 'alice@acme.test' },
        attendees: [{ name: 'Ada', email: 'ada@x.test' }],
      },
    ]);
  });

  test.each([
    ['{"title":"x"}', '1: external_id is required'],
    ['{"external_id":""}', '1: external_id must contain at least one character other than white space'],
    ['{"external_id":7}', '1: external_id must be a string'],
    ['{"external_id":"a","start_time":"tomorrow"}', '1: start_time must be a date and time, such as 2026-01'],
    ['{"external_id":"a","start_time":1.5}', '1: start_time must be an integer or null'],
    ['{"external_id":"a","start_time":"2026-02-30T09:00:00Z"}', '1: start_time must be a date and time'],
    ['{"external_id":"a","start_time":2,"end_time":1}', '1: end_time must not be before start_time'],
    ['{"external_id":"a","status":"maybe"}', '1: status must be one of: confirmed, tentative, cancelled'],
    ['{"external_id":"a","status":null}', '1: status must be one of: confirmed, tentative, cancelled'],
    [
      '{"external_id":"a","colour":"red"}',
      '1: colour is not allowed here; allowed: external_id, title, description',
    ],
    ['{"external_id":"a","sequence":1}', '1: sequence is not allowed here'],
    ['{"external_id":"a","__proto__":{}}', '1: __proto__ is not allowed as a key'],
    [
      '{"external_id":"a","attendees":[{"mail":"x"}]}',
      '1: attendees.0.mail is not allowed here; allowed: name, email',
    ],
    ['{"external_id":"a","attendees":[{"email":5}]}', '1: attendees.0.email must be a string or null'],
    ['{"external_id":"a","title":"\\u0000"}', '1: title must not contain NUL characters'],
    [`{"external_id":"a","title":"${'x'.repeat(1_001)}"}`, '1: title must have at most 1000 characters'],
    ['{"external_id":"a","external_id":"b"}', '1: the entry has the key "external_id" twice'],
    ['{"external_id":"a"', '1: the entry is not valid JSON'],
    ['{"external_id":"ok"}\n[1]', '2: the entry is not a JSON object'],
    ['[{"external_id":"ok"},\n{"external_id":"a"', '2: test.json is not a JSON array of objects'],
  ])('%s is a fault', async (text, expected) => {
    const { faults, data } = await meetings(text);
    expect(faults.map((fault) => fault.slice(0, expected.length))).toContain(expected);
    expect(data.filter(({ external_id }) => external_id !== 'ok')).toEqual([]);
  });

  test('every fault of a file is reported with its line, and the good entries stay', async () => {
    const { faults, data } = await meetings(
      '[{"external_id":"a"},\n{"title":5},\n{"external_id":"b",\n"status":"maybe"},\n{"external_id":"c"}]',
    );
    expect(faults).toEqual([
      '2: external_id is required',
      '2: title must be a string or null',
      '3: status must be one of: confirmed, tentative, cancelled',
    ]);
    expect(data.map(({ external_id }) => external_id)).toEqual(['a', 'c']);
  });

  test('a line in Latin-1 is reported and harms only its entry', async () => {
    const { faults, data } = await meetings(
      Buffer.from('{"external_id":"a","title":"Café"}\n{"external_id":"b"}', 'latin1'),
    );
    expect(faults).toEqual([expect.stringContaining('1: is not UTF-8 text')]);
    expect(data).toEqual([{ external_id: 'b' }]);
  });

  test.each([
    ['', 'is empty'],
    ['BEGIN:VCALENDAR', 'does not start with [ or {'],
  ])('%p is refused whole', async (text, message) => {
    await expect(meetings(text)).rejects.toThrow(message);
  });
});

describe('recordings', () => {
  test('have a meeting by either id, and segments whose speaker may be half known', async () => {
    const { data, faults } = await recordings({
      external_id: 'r',
      meeting_external_id: 'm',
      started_at: '2026-01-01T00:00:00Z',
      duration_seconds: 90.5,
      language: 'en',
      segments: [
        { speaker: { name: 'Ada' }, start_time: 0, end_time: 1.5, speech: 'Hello' },
        { start_time: 1.5, end_time: 2, speech: 'Hello' },
      ],
    });
    expect(faults).toEqual([]);
    expect(data[0]).toMatchObject({
      meeting_external_id: 'm',
      started_at: 1_767_225_600_000,
      segments: [{ speaker: { name: 'Ada', email: null } }, { speaker: { name: null, email: null } }],
    });
  });

  test('tell transcription in progress from no audio', async () => {
    const { data } = await recordings(
      { external_id: 'a', segments: null },
      { external_id: 'b', segments: [] },
      { external_id: 'c' },
    );
    expect(data.map(({ segments }) => segments)).toEqual([null, [], undefined]);
  });

  const segment = { speaker: { name: null, email: null }, start_time: 2, end_time: 3, speech: 'x' };
  test.each([
    [{ segments: [{ ...segment, end_time: 1 }] }, 'segments.0.end_time must not be before start_time'],
    [{ segments: [{ ...segment, start_time: '2' }] }, 'segments.0.start_time must be a number'],
    [
      { segments: [{ ...segment, volume: 3 }] },
      'segments.0.volume is not allowed here; allowed: speaker, start_time, end_time, speech',
    ],
    [{ segments: [{ start_time: 1, end_time: 2 }] }, 'segments.0.speech is required'],
    [{ segments: 'later' }, 'segments must be an array or null'],
    [{ duration_seconds: -1 }, 'duration_seconds must be at least 0'],
    [
      { meeting_id: '1', meeting_external_id: '2' },
      'meeting_external_id must not be used together with meeting_id',
    ],
  ])('%j is a fault', async (fields, message) => {
    const { data, faults } = await recordings({ external_id: 'r', ...fields });
    expect(faults).toEqual([`1: ${message}`]);
    expect(data).toEqual([]);
  });
});
