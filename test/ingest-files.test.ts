// JSON and WebVTT files: what they give, and what is told of bad ones.
import { describe, expect, test } from 'bun:test';
import { parseBookings } from '../cli/ingest/bookings-json.ts';
import { parseMeetings } from '../cli/ingest/meetings-json.ts';
import { parseRecordings } from '../cli/ingest/recordings-json.ts';
import { parseWebVtt } from '../cli/ingest/web-vtt.ts';
import type { Data } from '../db/fields.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const told = ({ faults }: { faults: { line: number; message: string }[] }): string[] =>
  faults.map(({ line, message }) => `${line}: ${message}`);

function meetings(text: string | Uint8Array): { data: Data[]; faults: string[] } {
  const parsed = parseMeetings(typeof text === 'string' ? bytes(text) : text, 'test.json');
  return {
    data: parsed.entries.flatMap(({ entries }) => entries.map(({ data }) => data)),
    faults: told(parsed),
  };
}

function recordings(...items: unknown[]): { data: Data[]; faults: string[] } {
  const parsed = parseRecordings(bytes(items.map((item) => JSON.stringify(item)).join('\n')), 'test.json');
  return { data: parsed.entries.map(({ data }) => data), faults: told(parsed) };
}

function bookings(...items: unknown[]) {
  const parsed = parseBookings(bytes(items.map((item) => JSON.stringify(item)).join('\n')), 'test.json');
  return { ...parsed, faults: told(parsed) };
}

describe('JSON', () => {
  const ids = (text: string) => meetings(text).data.map(({ external_id }) => external_id);

  test.each([
    ['an array', '[{"external_id":"a"},\n {"external_id":"b"}]'],
    [
      'an array over many lines',
      '[\n  {\n    "external_id": "a"\n  },\n  {\n    "external_id": "b"\n  }\n]\n',
    ],
    ['NDJSON', '{"external_id":"a"}\n\n{"external_id":"b"}\n'],
    ['NDJSON with CRLF and a byte order mark', '\ufeff{"external_id":"a"}\r\n{"external_id":"b"}\r\n'],
  ])('is read from %s', (_, text) => {
    expect(ids(text)).toEqual(['a', 'b']);
  });

  test('is read from one object over many lines', () => {
    expect(ids('{\n  "external_id": "a"\n}\n')).toEqual(['a']);
  });

  test('every field is taken as declared, and what the service makes itself is left out', () => {
    const given = {
      external_id: 'a',
      title: 'Kick-off',
      start_time: 1_767_225_600_000,
      end_time: '2026-01-01T01:00:00Z',
      status: 'tentative',
      organizer: { email: 'alice@acme.test' },
      attendees: [{ name: 'Ada', email: 'ada@x.test', contact_id: 'whoever' }],
      id: '019b76da-a800-7000-8000-000000000001',
      recording_ids: ['1'],
      created_at: '2026-01-01T00:00:00.000Z',
    };
    expect(meetings(JSON.stringify(given)).data).toEqual([
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
    ['{"external_id":""}', '1: external_id is required'],
    ['{"external_id":7}', '1: external_id must be string'],
    ['{"external_id":"a","start_time":"tomorrow"}', '1: start_time must be integer'],
    ['{"external_id":"a","start_time":1.5}', '1: start_time must be integer'],
    ['{"external_id":"a","start_time":"2026-02-30T09:00:00Z"}', '1: start_time must be integer'],
    ['{"external_id":"a","start_time":2,"end_time":1}', '1: end_time is before start_time'],
    ['{"external_id":"a","status":"maybe"}', '1: status must be one of confirmed, tentative, cancelled'],
    ['{"external_id":"a","status":null}', '1: status must be'],
    [
      '{"external_id":"a","colour":"red"}',
      '1: colour is no field of a meeting; there are external_id, title',
    ],
    ['{"external_id":"a","sequence":1}', '1: sequence is no field of a meeting'],
    ['{"external_id":"a","__proto__":{}}', '1: __proto__ is no field of a meeting'],
    ['{"external_id":"a","attendees":[{"mail":"x"}]}', '1: attendees.0 has unknown fields: mail'],
    ['{"external_id":"a","attendees":[{"email":5}]}', '1: attendees.0.email must be text or null'],
    ['{"external_id":"a","title":"\\u0000"}', '1: title has characters that cannot be stored'],
    [
      `{"external_id":"a","title":"${'x'.repeat(1_001)}"}`,
      '1: title must not have more than 1000 characters',
    ],
    ['{"external_id":"a","external_id":"b"}', '1: the entry names "external_id" twice'],
    ['{"external_id":"a"', '1: the entry is no JSON'],
    ['{"external_id":"ok"}\n[1]', '2: the entry is no JSON object'],
    ['[{"external_id":"ok"},\n{"external_id":"a"', '2: test.json is no JSON array of objects'],
  ])('%s is a fault', (text, expected) => {
    const { faults, data } = meetings(text);
    expect(faults.map((fault) => fault.slice(0, expected.length))).toContain(expected);
    expect(data.filter(({ external_id }) => external_id !== 'ok')).toEqual([]);
  });

  test('every fault of a file is told with its line, and the good entries stay', () => {
    const { faults, data } = meetings(
      '[{"external_id":"a"},\n{"title":5},\n{"external_id":"b",\n"status":"maybe"},\n{"external_id":"c"}]',
    );
    expect(faults).toEqual([
      '2: title must be string',
      '2: external_id is required: the id in the system that the entry comes from',
      '3: status must be one of confirmed, tentative, cancelled',
    ]);
    expect(data.map(({ external_id }) => external_id)).toEqual(['a', 'c']);
  });

  test('a line in Latin-1 is told and harms only its entry', () => {
    const { faults, data } = meetings(
      Buffer.from('{"external_id":"a","title":"Café"}\n{"external_id":"b"}', 'latin1'),
    );
    expect(faults).toEqual([expect.stringContaining('1: is not UTF-8 text')]);
    expect(data).toEqual([{ external_id: 'b' }]);
  });

  test.each([
    ['', 'is empty'],
    ['BEGIN:VCALENDAR', 'begins with neither'],
  ])('%p is refused whole', (text, message) => {
    expect(() => meetings(text)).toThrow(message);
  });
});

describe('recordings', () => {
  test('have a meeting by either id, and segments whose speaker may be half known', () => {
    const { data, faults } = recordings({
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

  test('tell transcription in progress from no audio', () => {
    const { data } = recordings(
      { external_id: 'a', segments: null },
      { external_id: 'b', segments: [] },
      { external_id: 'c' },
    );
    expect(data.map(({ segments }) => segments)).toEqual([null, [], undefined]);
  });

  const segment = { speaker: { name: null, email: null }, start_time: 2, end_time: 3, speech: 'x' };
  test.each([
    [{ segments: [{ ...segment, end_time: 1 }] }, 'segments.0 ends before it starts'],
    [{ segments: [{ ...segment, start_time: '2' }] }, 'segments.0.start_time must be number'],
    [{ segments: [{ ...segment, volume: 3 }] }, 'segments.0 has unknown fields: volume'],
    [{ segments: [{ start_time: 1, end_time: 2 }] }, 'segments.0 needs speech'],
    [{ segments: 'later' }, 'segments must be array'],
    [{ duration_seconds: -1 }, 'duration_seconds must be >= 0'],
    [
      { meeting_id: '1', meeting_external_id: '2' },
      'meeting_id and meeting_external_id are both given: give one',
    ],
  ])('%j is a fault', (fields, message) => {
    const { data, faults } = recordings({ external_id: 'r', ...fields });
    expect(faults).toEqual([`1: ${message}`]);
    expect(data).toEqual([]);
  });
});

describe('WebVTT', () => {
  const vtt = (text: string) => {
    const { segments, faults, ...rest } = parseWebVtt(bytes(text), 'test.vtt');
    const lines = segments.map(
      ({ speaker, start_time, end_time, speech }) => `${start_time}-${end_time} ${speaker.name}: ${speech}`,
    );
    return { ...rest, lines, faults: told({ faults }) };
  };

  test('cues become segments; notes, styles and regions do not', () => {
    const text = `WEBVTT - Kick-off
Kind: captions
Language: en

NOTE made by hand
in two lines

STYLE
::cue { color: red }

REGION
id:r

1
00:00:01.000 --> 00:00:02.500 align:start position:0%
<v Ada Lovelace>Good morning,
everyone &amp; <i>welcome</i>.</v>

01:00:00.000 --> 01:00:01.040
<v.loud Charles>Thank you</v> <v Ada>You&nbsp;are &lt;here&gt; &#x2713;</v>

00:03.000 --> 00:04.000
nobody's
`;
    expect(vtt(text)).toEqual({
      language: 'en',
      lines: [
        '1-2.5 Ada Lovelace: Good morning, everyone & welcome.',
        '3600-3601.04 Charles: Thank you',
        '3600-3601.04 Ada: You are <here> ✓',
        "3-4 null: nobody's",
      ],
      faults: [],
    });
    expect(vtt(`\ufeff${text.replaceAll('\n', '\r\n')}`).lines.length).toBe(4);
  });

  test('names before a colon are speakers where most cues have them and none has a voice', () => {
    const zoom =
      'WEBVTT\n\n1\n00:01.000 --> 00:02.000\nAda Lovelace: Note: this\n\n2\n00:02.000 --> 00:03.000\nCharles: yes\n\n3\n00:03.000 --> 00:04.000\nand on\n';
    expect(vtt(zoom).lines).toEqual(['1-2 Ada Lovelace: Note: this', '2-3 Charles: yes', '3-4 null: and on']);
    const plain = 'WEBVTT\n\n00:01.000 --> 00:02.000\nNote: this\n\n00:02.000 --> 00:03.000\nyes\n';
    expect(vtt(plain).lines).toEqual(['1-2 null: Note: this', '2-3 null: yes']);
  });

  test('malformed cues are told with their line, and the good ones stay', () => {
    const text =
      'WEBVTT\n\nno timing\nat all\n\n00:00:61.000 --> 00:02.000\nx\n\nid\n00:05.000 --> 00:04.000\nx\n\n00:05,000 --> 00:06,000\nx\n\n00:07.000 --> 00:08.000\ngood\n';
    expect(vtt(text)).toMatchObject({
      lines: ['7-8 null: good'],
      faults: [
        '3: the cue has no timing line, 00:00:01.000 --> 00:00:02.000',
        '6: the cue\'s timing cannot be read: "00:00:61.000 --> 00:02.000"',
        '10: the cue ends before it starts',
        '13: the cue\'s timing cannot be read: "00:05,000 --> 00:06,000"',
      ],
    });
  });

  test.each(['', 'WEBVTTX\n', '1\n00:00:01,000 --> 00:00:02,000\nan SRT file\n'])(
    '%p is refused whole',
    (text) => {
      expect(() => vtt(text)).toThrow('is not WebVTT');
    },
  );
});

describe('bookings', () => {
  const calCom = (triggerEvent: string, payload: Data, createdAt = '2026-01-01T00:00:00.000Z') => ({
    triggerEvent,
    createdAt,
    payload: {
      title: 'Strategy between Alice and Ada',
      startTime: '2026-01-10T14:30:00Z',
      endTime: '2026-01-10T14:45:00Z',
      organizer: { id: 1, name: 'Alice', email: 'alice@acme.test', timeZone: 'UTC' },
      attendees: [
        { name: 'Ada', email: 'ada@x.test', timeZone: 'Europe/London' },
        { name: 'Guest', email: 'guest@x.test', timeZone: 'UTC' },
      ],
      ...payload,
    },
  });
  const calendly = (event: string, payload: Data, created_at = '2026-01-01T00:00:00.000000Z') => ({
    event,
    created_at,
    payload: {
      uri: 'https://api.calendly.com/scheduled_events/E/invitees/I',
      email: 'ada@x.test',
      name: 'Ada',
      timezone: 'America/New_York',
      old_invitee: null,
      new_invitee: null,
      rescheduled: false,
      questions_and_answers: [{ question: 'About?', answer: 'Engines', position: 0 }],
      scheduled_event: {
        name: '15 minutes',
        start_time: '2026-01-10T14:30:00.000000Z',
        end_time: '2026-01-10T14:45:00.000000Z',
        event_memberships: [{ user: 'u', user_email: 'alice@acme.test', user_name: 'Alice' }],
        event_guests: [{ email: 'guest@x.test' }],
      },
      ...payload,
    },
  });
  const people = {
    organizer: { name: 'Alice', email: 'alice@acme.test' },
    attendee: { name: 'Ada', email: 'ada@x.test' },
    guests: ['guest@x.test'],
  };
  const times = {
    start_time: Date.parse('2026-01-10T14:30:00Z'),
    end_time: Date.parse('2026-01-10T14:45:00Z'),
  };

  test('are read as Cal.com sends them', () => {
    const { entries, faults } = bookings(calCom('BOOKING_CREATED', { uid: 'A', iCalUID: 'A@cal.com' }));
    expect(faults).toEqual([]);
    expect(entries).toEqual([
      {
        line: 1,
        data: {
          external_id: 'A',
          title: 'Strategy between Alice and Ada',
          timezone: 'Europe/London',
          status: 'booked',
          ...people,
          ...times,
        },
        event: 'created',
        at: Date.parse('2026-01-01T00:00:00Z'),
        replaces: null,
        meetingExternalId: 'A@cal.com',
      },
    ]);
  });

  test('are moved by Cal.com to a new booking, or within the same', () => {
    const moved = {
      uid: 'B',
      rescheduleUid: 'A',
      rescheduleStartTime: '2026-01-09T14:30:00Z',
      rescheduleEndTime: '2026-01-09T14:45:00Z',
    };
    const { entries } = bookings(
      calCom('BOOKING_RESCHEDULED', moved),
      calCom('BOOKING_RESCHEDULED', { uid: 'C' }),
    );
    expect(entries[0]).toMatchObject({
      event: 'rescheduled',
      data: { external_id: 'B', status: 'booked' },
      replaces: { external_id: 'A', status: 'rescheduled', start_time: Date.parse('2026-01-09T14:30:00Z') },
    });
    expect(entries[1]).toMatchObject({ data: { external_id: 'C', status: 'rescheduled' }, replaces: null });
  });

  test('are cancelled by Cal.com with the reason', () => {
    const { entries } = bookings(calCom('BOOKING_CANCELLED', { uid: 'A', cancellationReason: 'Travelling' }));
    expect(entries[0]).toMatchObject({
      event: 'cancelled',
      data: { status: 'cancelled', cancellation_reason: 'Travelling' },
    });
  });

  test('are read as Calendly sends them', () => {
    const { entries, faults } = bookings(calendly('invitee.created', {}));
    expect(faults).toEqual([]);
    expect(entries[0]).toMatchObject({
      event: 'created',
      data: {
        external_id: 'https://api.calendly.com/scheduled_events/E/invitees/I',
        title: '15 minutes',
        description: 'About?: Engines',
        timezone: 'America/New_York',
        status: 'booked',
        ...people,
        ...times,
      },
    });
  });

  test('are cancelled or moved by Calendly', () => {
    const { entries } = bookings(
      calendly('invitee.canceled', { cancellation: { reason: 'Travelling' } }),
      calendly('invitee.canceled', { rescheduled: true, cancellation: { reason: 'Later' } }),
      calendly('invitee.created', { uri: 'new', old_invitee: 'old' }),
    );
    expect(entries.map(({ event, data }) => [event, data.status, data.cancellation_reason])).toEqual([
      ['cancelled', 'cancelled', 'Travelling'],
      ['rescheduled', 'rescheduled', undefined],
      ['rescheduled', 'booked', undefined],
    ]);
    expect(entries[2]?.replaces).toMatchObject({ external_id: 'old', status: 'rescheduled' });
  });

  test('come in the order in which things happened', () => {
    const { entries } = bookings(
      calCom('BOOKING_CANCELLED', { uid: 'A' }, '2026-01-03T00:00:00Z'),
      { external_id: 'state' },
      calCom('BOOKING_CREATED', { uid: 'A' }, '2026-01-01T00:00:00Z'),
      calCom('BOOKING_RESCHEDULED', { uid: 'A' }, '2026-01-02T00:00:00Z'),
    );
    expect(entries.map(({ line }) => line)).toEqual([3, 4, 1, 2]);
  });

  test('events of another kind are counted', () => {
    expect(bookings(calCom('MEETING_ENDED', { uid: 'A' }), calendly('invitee_no_show.created', {}))).toEqual({
      entries: [],
      faults: [],
      ignored: 2,
    });
  });

  test.each([
    [calCom('BOOKING_CREATED', {}), ['1: payload.uid is required']],
    [
      calCom('BOOKING_CREATED', { uid: 'A', startTime: 'soon' }, 'later'),
      [
        '1: payload.startTime must be a time such as 2026-01-31T09:30:00Z',
        '1: createdAt must be a time such as 2026-01-31T09:30:00Z',
      ],
    ],
    [calendly('invitee.created', { uri: null }), ['1: payload.uri is required']],
    [{ external_id: 'a', status: 'confirmed' }, ['1: status must be one of booked, rescheduled, cancelled']],
    [{ external_id: 'a', guests: [5] }, ['1: guests.0 must be string']],
  ])('faults are told: %#', (item, expected) => {
    expect(bookings(item)).toEqual({ entries: [], faults: expected, ignored: 0 });
  });
});
