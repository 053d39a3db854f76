// Files that are made to cost time: whatever the command line reads, twice the size is at most twice the work.
import { describe, expect, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { CliError } from '../../cli/errors.ts';
import { Evidence } from '../../cli/import/plan/column-evidence.ts';
import { openSource } from '../../cli/import/plan/source.ts';
import { readValue } from '../../cli/import/plan/values.ts';
import { type Format, RowFault } from '../../cli/import/row.ts';
import { Findings } from '../../cli/ingest/entries.ts';
import type { IngestFormat } from '../../cli/ingest/source.ts';
import { readWebVtt } from '../../cli/ingest/web-vtt.ts';
import { addressesIn } from '../../cli/input/addresses.ts';
import { redact } from '../../cli/terminal/redact.ts';
import { neutralizeLine } from '../../cli/terminal/text.ts';
import { faultsOf } from '../../db/model/check.ts';
import type { Field } from '../../db/model/fields.ts';
import { RESOURCES } from '../../db/model/resources/registry.ts';
import { NOW } from '../fixtures/ingest/calendar.ts';
import { growthOf, type Work } from '../support/growth.ts';
import { type HostileText, hostileFiles, hostileTexts, unitsOf } from '../support/hostile.ts';
import {
  pieces,
  readBookings,
  readCalendar,
  readMeetings,
  readRecordings,
} from '../support/ingest-readers.ts';

const KIB = 1024;
const CHUNK_BYTES = 64 * KIB;
const exports = `${import.meta.dir}/../fixtures/import/exports`;
const sampleOf = (suffix: string): Promise<string> => {
  const name = readdirSync(exports).find((one) => one.endsWith(suffix)) ?? '';
  return Bun.file(`${exports}/${name}`).text();
};

/** Texts that grow by more than linear, with what they took. */
async function faultyAmong(
  texts: readonly HostileText[],
  work: (text: string) => unknown,
): Promise<string[]> {
  const faulty: string[] = [];
  for (const { name, make } of texts) {
    let made = { size: 0, text: '' };
    const run: Work = (size) => {
      if (made.size !== size) made = { size, text: make(size) };
      return work(made.text);
    };
    const { isTooMuch, costs } = await growthOf(run, { from: KIB, to: 16 * KIB });
    if (isTooMuch) faulty.push(`${name}: ${JSON.stringify(costs)}`);
  }
  return faulty;
}

// What a file, or a value in it, is refused for is no matter here.
async function unlessRefused(work: () => unknown): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof CliError || error instanceof RowFault)) throw error;
  }
}

async function readRows(text: string, format: Format): Promise<void> {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES);
  }
  const source = await openSource(chunks(), 'file', { format, encoding: null });
  const evidence = new Evidence();
  for await (const { entries } of source.rows)
    for (const [header, value] of entries) evidence.take(header, value);
}

const ENTRY = {
  ...{ external_id: 'a', title: 'T', start_time: 1, end_time: 2, status: 'confirmed', timezone: 'UTC' },
  attendees: [{ name: 'Ada', email: 'ada@x.test' }],
  segments: [{ speaker: { name: 'Ada', email: null }, start_time: 0, end_time: 1, speech: 'Hello' }],
};
const ARRAY = JSON.stringify([ENTRY], null, 1);
const LINES = `${JSON.stringify(ENTRY)}\n${JSON.stringify(ENTRY)}\n`;
const TRANSCRIPT =
  'WEBVTT\nLanguage: en\n\nNOTE x\n\n1\n00:00:01.000 --> 00:00:02.000 align:start\n<v.loud Ada>Hello &amp; <b>welcome</b></v> you: x\n';
// Each property that is read, once, in events with few instances.
const CALENDAR = `BEGIN:VCALENDAR
METHOD:PUBLISH
X-WR-TIMEZONE:Europe/Berlin
BEGIN:VTIMEZONE
TZID:Own
BEGIN:STANDARD
DTSTART:20251026T030000
RRULE:FREQ=YEARLY;UNTIL=20271026T030000Z
RDATE:20251027T030000
TZOFFSETFROM:+0200
TZOFFSETTO:+0100
END:STANDARD
END:VTIMEZONE
BEGIN:VEVENT
UID:a@x.test
SEQUENCE:2
DTSTAMP:20260101T000000Z
DTSTART;TZID=Own:20260302T090000
DURATION:PT1H
RRULE:FREQ=DAILY;COUNT=3
RDATE;VALUE=PERIOD:20260401T090000Z/PT1H
EXDATE;VALUE=DATE:20260303
STATUS:CONFIRMED
SUMMARY:Talk
ORGANIZER;CN="Ada":mailto:ada@x.test
ATTENDEE;CN=Bo;CUTYPE=INDIVIDUAL:mailto:bo@x.test
END:VEVENT
BEGIN:VEVENT
UID:a@x.test
RECURRENCE-ID;RANGE=THISANDFUTURE:20260303T080000Z
DTSTART:20260303T100000Z
END:VEVENT
END:VCALENDAR
`;

interface Reader {
  samples: string[];
  read: (text: string) => unknown;
}
const rows = (format: Format, ...samples: string[]): Reader => ({
  samples,
  read: (text) => readRows(text, format),
});

// Every format that an import or an ingest takes: a new one is missing here until it has a sample.
const IMPORTS: Record<Format, Reader> = {
  csv: rows('csv', await sampleOf('outlook-com-contacts.csv'), 'name,notes\n"A ""B""\nc",d\n'),
  json: rows('json', ARRAY),
  ndjson: rows('ndjson', LINES),
  lines: rows('lines', `${LINES}\n019b76da-a800-7000-8000-000000000001\n`),
  vcf: rows('vcf', await sampleOf('android.vcf'), await sampleOf('apple.vcf')),
};
const INGESTS: Record<IngestFormat, Reader> = {
  ics: { samples: [CALENDAR], read: (text) => readCalendar(text, NOW, CHUNK_BYTES) },
  vtt: { samples: [TRANSCRIPT], read: (text) => readWebVtt(pieces(text), 'file', new Findings()) },
  json: {
    samples: [ARRAY, LINES],
    read: async (text) => {
      for (const read of [readMeetings, readBookings, readRecordings])
        await unlessRefused(() => read(text, CHUNK_BYTES));
    },
  },
};

// Tokens that stand in such files, beside all signs.
const TOKENS =
  '\r\n|\n |\n\n|","|<v |</v>|&a|->|-->|=C3|=\n|BEGIN:VEVENT\n|BEGIN:VCARD\n|END:X\n|1\n-->\n|{"a":|[]|20260101,|MO,|P1D|://';

for (const [name, readers] of Object.entries({ import: IMPORTS, ingest: INGESTS })) {
  describe(name, () => {
    for (const [format, { samples, read }] of Object.entries(readers)) {
      test(`${format} grows by no more than linear`, async () => {
        const units = [...unitsOf(''), ...TOKENS.split('|')];
        const files = samples.flatMap((sample) => hostileFiles(sample, units));
        expect(await faultyAmong(files, (text) => unlessRefused(() => read(text)))).toEqual([]);
      }, 300_000);
    }
  });
}

test.each([
  [
    'short rows below a wide header',
    (size: number) => `${'h,'.repeat(size / 4)}h\n${'x\n'.repeat(size / 16)}`,
  ],
  [
    'full rows below a header with a gap',
    (size: number) => `h,,${'h,'.repeat(size / 4)}h\nx,,${'x,'.repeat(size / 4)}x\n`,
  ],
])(
  '%s are read in linear time',
  async (_, make) => {
    const made = new Map<number, string>();
    const read = (size: number) => {
      const text = made.get(size) ?? make(size);
      made.set(size, text);
      return unlessRefused(() => readRows(text, 'csv'));
    };
    expect(await growthOf(read, { from: 4 * KIB, to: 64 * KIB })).toMatchObject({ isTooMuch: false });
  },
  300_000,
);

describe('cells grow by no more than linear', () => {
  const kinds = new Map<string, { name: string; field: Field }>();
  for (const { name: resource, fields } of RESOURCES)
    for (const [name, field] of Object.entries(fields))
      if (field.access !== 'internal') {
        const { type, format, pattern } = field.schema as Record<string, unknown>;
        const kind = JSON.stringify([field.kind, type, format, pattern, field.key?.name]);
        if (!kinds.has(kind)) kinds.set(kind, { name: `${resource}.${name}`, field });
      }

  test.each([...kinds.values()].map(({ name, field }) => [name, field] as const))(
    '%s',
    async (_, field) => {
      const context = { header: 'x', dates: { format: null, orders: new Map() }, numbers: new Map() };
      const work = async (text: string) => {
        new Evidence().take('x', text);
        await unlessRefused(() => {
          const value = readValue(field, text, context);
          faultsOf(value, { schema: field.schema });
        });
        await unlessRefused(() => readValue(field, text, { ...context, factor: '1000.5' }));
      };
      const examples = [typeof field.example === 'string' ? field.example : JSON.stringify(field.example)];
      if (['date', 'instant'].includes(field.kind))
        examples.push('2026-01-31 09:30:00', '1/2/2026', '31.1.2026 9:30 am');
      if (['number', 'integer'].includes(field.kind)) examples.push('1,234.5', "$ 1'000", '1e5');
      expect(
        await faultyAmong(
          examples.flatMap((one) => hostileTexts(one)),
          work,
        ),
      ).toEqual([]);
    },
    300_000,
  );
});

test.each([
  ['addresses in a cell', 'Ada <ada@x.test>, mailto:b@x.test', '(', addressesIn],
  ['secrets in what is printed', 'https://a:b@x.test/?token=c&d="api_key": "e" Bearer f', '!', redact],
  ['what a terminal would obey', 'a\u001b[1m\r\n', '!', neutralizeLine],
])(
  '%s are found in linear time',
  async (_, example, fails, work) => {
    expect(await faultyAmong(hostileTexts(example, fails), work)).toEqual([]);
  },
  300_000,
);
