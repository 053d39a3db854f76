// Reading inputs: CSV, JSON and NDJSON in any pieces, bytes that are not UTF-8, dates and numbers.
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { csvRow } from '../cli/csv.ts';
import { CsvScanner, sniffDelimiter } from '../cli/import/csv.ts';
import { decideDates, readDay, readInstant, type SlashedEvidence, weighDate } from '../cli/import/dates.ts';
import { decodeUtf8 } from '../cli/import/decode.ts';
import type { SourceRow } from '../cli/import/row.ts';
import { openSource } from '../cli/import/source.ts';
import { readValue } from '../cli/import/values.ts';
import type { Field } from '../db/fields.ts';
import { companies } from '../db/resources/companies.ts';
import { deals } from '../db/resources/deals.ts';

async function* pieces(...parts: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield typeof part === 'string' ? Buffer.from(part) : part;
}

async function rowsOf(text: string | Uint8Array, format: 'csv' | 'json' | 'ndjson' | null = null) {
  const source = await openSource(pieces(text), 'input', format);
  const rows: SourceRow[] = [];
  for await (const row of source.rows) rows.push(row);
  return { ...source, rows };
}

async function messageOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'no error',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

describe('CSV', () => {
  test('any table comes back as it was written, however the text is cut into pieces', () => {
    const cell = fc.string({
      unit: fc.constantFrom('a', 'é', ',', '"', '\n', '\r', ' ', '\t', '😀'),
      maxLength: 6,
    });
    const table = fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(table, fc.array(fc.nat(40), { maxLength: 8 }), (rows, cuts) => {
        const text = rows.map((row) => csvRow(row)).join('');
        const scanner = new CsvScanner(',', 'input');
        const places = [
          0,
          ...cuts.filter((cut) => cut < text.length).sort((one, other) => one - other),
          text.length,
        ];
        const records = places.slice(1).flatMap((end, index) => scanner.push(text.slice(places[index], end)));
        records.push(...scanner.end());
        expect(records.map(({ cells }) => cells)).toEqual(rows);
        expect(records.every(({ fault }) => fault === null)).toBe(true);
        // The line of a record is one more than the line breaks before it.
        const before = (index: number): string =>
          rows
            .slice(0, index)
            .map((row) => csvRow(row))
            .join('');
        const lines = rows.map((_, index) => (before(index).match(/\r\n|\n|\r/g)?.length ?? 0) + 1);
        expect(records.map(({ line }) => line)).toEqual(lines);
      }),
      { numRuns: 300, seed: 7 },
    );
  });

  test('BOM, CRLF, quoted newlines and blank lines: values and first lines are exact', async () => {
    const { headers, rows } = await rowsOf('\ufeffname,note\r\nAda,"one\r\ntwo"\r\n\r\nBob,"say ""hi"""\r\n');
    expect(headers).toEqual(['name', 'note']);
    expect(rows.map(({ line, original }) => [line, original])).toEqual([
      [2, ['Ada', 'one\r\ntwo']],
      [5, ['Bob', 'say "hi"']],
    ]);
  });

  test.each([
    ['a,b', ','],
    ['a;b;"c,d,e"', ';'],
    ['a\tb', '\t'],
    ['a|b|c', '|'],
    ['only one', ','],
  ])('the delimiter of %j is %j', (header, delimiter) => {
    expect(sniffDelimiter(header)).toBe(delimiter);
  });

  test('a ragged row is a fault of that row, with both counts', async () => {
    const { rows } = await rowsOf('a,b,c\n1,2\n1,2,3,4\n1,2,3\n');
    expect(rows.map(({ fault }) => fault?.message ?? null)).toEqual([
      'the row has 2 columns, the header line has 3; a delimiter or a quote is missing',
      'the row has 4 columns, the header line has 3; a delimiter or a quote is too many',
      null,
    ]);
  });

  test('text after a closing quote is a fault of that row; a quote inside unquoted text is text', async () => {
    const { rows } = await rowsOf('a,b\n1,"x"y\n2,6" pipe\n');
    expect(rows[0]?.fault?.message).toContain('text follows a closing quote in column 2');
    expect(rows[1]?.original).toEqual(['2', '6" pipe']);
  });

  test('a quote that is never closed is told with the line where it opens', async () => {
    expect(await messageOf(rowsOf('a,b\n1,2\n3,"x\n4,5\n'))).toBe(
      'input: the quote that opens in line 3 is never closed.',
    );
  });

  test('doubled and missing headers are refused by name', async () => {
    expect(await messageOf(rowsOf('name,city,name\n1,2,3\n'))).toContain('twice: "name"');
    expect(await messageOf(rowsOf('name,,city\n1,2,3\n'))).toContain('Column 2 of input has no header');
  });

  test('an empty file and one without a header line are told', async () => {
    expect(await messageOf(rowsOf(''))).toBe('input is empty.');
    expect(await messageOf(rowsOf(' \n\n'))).toBe('input is empty.');
  });
});

describe('JSON and NDJSON', () => {
  test('the format is told by the first character', async () => {
    expect((await rowsOf(' [{"a":1}]')).format).toBe('json');
    expect((await rowsOf('\n{"a":1}\n')).format).toBe('ndjson');
    expect((await rowsOf('a,b\n')).format).toBe('csv');
  });

  test('an array is read element by element, however the text is cut into pieces', async () => {
    const text = '[\n {"a": "x]},{\\"", "b": [1, {"c": 2}]},\n{"a":"é😀"} ]\n';
    const bytes = Buffer.from(text);
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const source = await openSource(pieces(bytes.subarray(0, cut), bytes.subarray(cut)), 'input', 'json');
      const rows: SourceRow[] = [];
      for await (const row of source.rows) rows.push(row);
      expect(rows.map(({ line, original }) => [line, original])).toEqual([
        [2, { a: 'x]},{"', b: [1, { c: 2 }] }],
        [3, { a: 'é😀' }],
      ]);
    }
  });

  test.each([
    ['{"a":1}', 'begins with "{"'],
    ['[{"a":1}', 'ends in line 1, before its array does'],
    ['[{"a":1}] x', 'text follows the array'],
    ['[{"a":1},]', 'an element is missing'],
  ])('%s is refused as an array', async (text, why) => {
    expect(await messageOf(rowsOf(text, 'json'))).toContain(why);
  });

  test('a bad line or element is a fault of its row only', async () => {
    const { rows } = await rowsOf(
      '{"a":1}\n{"a":\n\n[1]\n{"a":1,"a":2}\n{"a":{"b":1,"b":2}}\n{"a":2}',
      'ndjson',
    );
    expect(rows.map(({ line, fault }) => [line, fault?.message.split(':')[0] ?? null])).toEqual([
      [1, null],
      [2, 'the object is no JSON'],
      [4, 'the line is no JSON object'],
      [5, 'the object names "a" twice'],
      [6, 'the object names "b" twice'],
      [7, null],
    ]);
  });

  test('a line that was kept as text in an errors file counts once it is corrected', async () => {
    const { rows } = await rowsOf(
      '{"_text":"{\\"a\\":1}","_line":4,"_code":"x","_path":"","_message":"y"}',
      'ndjson',
    );
    expect(rows[0]?.entries).toEqual([['a', 1]]);
  });
});

describe('bytes', () => {
  const decoded = async (...parts: Uint8Array[]): Promise<string> => {
    let text = '';
    for await (const piece of decodeUtf8(pieces(...parts), 'people.csv')) text += piece;
    return text;
  };

  test('UTF-8 is decoded whole, however it is cut', async () => {
    const bytes = Buffer.from('\ufeffé😀€\ufeff!');
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      expect(await decoded(bytes.subarray(0, cut), bytes.subarray(cut))).toBe('é😀€\ufeff!');
    }
  });

  test.each([
    [[0xff, 0xfe, 0x61, 0x00], 'is UTF-16 text (its byte order mark says so)'],
    [[0xfe, 0xff, 0x00, 0x61], 'is UTF-16 text (its byte order mark says so)'],
    [[0x61, 0x00, 0x62, 0x00], 'is UTF-16 text, not UTF-8'],
  ])('UTF-16 (%p) is named', async (bytes, message) => {
    expect(await messageOf(decoded(new Uint8Array(bytes)))).toContain(message);
  });

  test('a Latin-1 byte is told with its line, its place and what it would be', async () => {
    const bytes = Buffer.concat([Buffer.from('name\nAda\nJos'), Buffer.from([0xe9]), Buffer.from(',x\n')]);
    for (const cut of [3, 12, 13, 14]) {
      expect(await messageOf(decoded(bytes.subarray(0, cut), bytes.subarray(cut)))).toBe(
        'people.csv is not UTF-8: line 3, byte 13 of the file is 0xE9 ("é" in Latin-1).',
      );
    }
  });

  test('a character that is cut off at the end is told too', async () => {
    expect(await messageOf(decoded(Buffer.from('abc'), new Uint8Array([0xe2, 0x82])))).toContain(
      'byte 4 of the file is 0xE2',
    );
  });
});

describe('dates', () => {
  const none = { format: null, orders: new Map() };
  const evidenceOf = (values: Record<string, string[]>) => {
    const found = new Map<string, SlashedEvidence>();
    for (const [header, list] of Object.entries(values))
      for (const value of list) weighDate(found, header, value);
    return found;
  };
  const decide = (values: Record<string, string[]>) =>
    decideDates(evidenceOf(values), Object.keys(values), null, false);

  test('one unambiguous date decides its column, and columns that do not tell', () => {
    expect([...decide({ a: ['3/1/2017', '12/31/2016'], b: ['1/2/2017'] }).orders]).toEqual([
      ['a', 'mdy'],
      ['b', 'mdy'],
    ]);
    expect([...decide({ a: ['31/12/2016'] }).orders]).toEqual([['a', 'dmy']]);
  });

  test.each([
    [{ a: ['1/2/2017'] }],
    [{ a: ['31/1/2017', '1/31/2017'] }],
    [{ a: ['31/1/2017'], b: ['1/31/2017'], c: ['1/2/2017'] }],
  ])('what does not tell is refused: %j', (values) => {
    expect(() => decide(values)).toThrow('Is it month/day/year or day/month/year?');
  });

  test('from a stream slashed dates need --date-format', () => {
    const found = evidenceOf({ a: ['12/31/2016'] });
    expect(() => decideDates(found, ['a'], null, true)).toThrow('read only once');
    expect([...decideDates(found, ['a'], 'mdy', true).orders]).toEqual([['a', 'mdy']]);
  });

  test.each([
    ['2017-03-01', '2017-03-01'],
    ['2017/3/1', '2017-03-01'],
    ['2017-03-01T23:30:00+02:00', '2017-03-01'],
    ['1488326400000', '2017-03-01'],
    ['-1', '1969-12-31'],
  ])('%s is the day %s', (text, day) => {
    expect(readDay(text, none, 'a')).toBe(day);
  });

  test.each([
    ['2017-03-01', 1488326400000],
    ['2017-03-01T00:00:00.5Z', 1488326400500],
    ['2017-03-01 02:00', 1488333600000],
    ['2017-03-01T02:00:00+02:00', 1488326400000],
    ['2017-03-01 12:05 AM', 1488326700000],
    ['1488326400000', 1488326400000],
    ['0', 0],
  ])('%s is the instant %d', (text, ms) => {
    expect(readInstant(text, none, 'a')).toBe(ms);
  });

  test.each([
    ['2017-02-30', 'no day of the calendar'],
    ['yesterday', 'is no date'],
    ['20170301', 'may be a day (YYYYMMDD) or Unix milliseconds'],
    ['3/1/2017', 'say --date-format mdy or --date-format dmy'],
    ['2017-03-01 25:00', 'no time of day'],
    ['1/1/17', 'is no date'],
  ])('%s is refused: %s', (text, why) => {
    expect(() => readDay(text, none, 'a')).toThrow(why);
    expect(() => readInstant(text, none, 'a')).toThrow(why);
  });

  test('--date-format decides what plain digits are', () => {
    expect(readDay('20170301', { format: 'iso', orders: new Map() }, 'a')).toBe('2017-03-01');
    expect(readDay('20170301', { format: 'unix-ms', orders: new Map() }, 'a')).toBe('1970-01-01');
  });

  test('every instant that an export writes is read as itself', () => {
    fc.assert(
      fc.property(
        fc.date({
          noInvalidDate: true,
          min: new Date('0001-01-01T00:00:00Z'),
          max: new Date('9999-12-31T00:00:00Z'),
        }),
        (date) => {
          expect(readInstant(date.toISOString(), none, 'a')).toBe(date.getTime());
        },
      ),
      { numRuns: 200, seed: 7, examples: [[new Date(0)]] },
    );
  });
});

describe('values', () => {
  const dates = { format: null, orders: new Map() };
  const read = (field: Field | undefined, text: string, factor?: string) => {
    if (field === undefined) throw new Error('no such field');
    return readValue(field, text, { header: 'x', dates, factor });
  };

  test('a factor multiplies decimals exactly', () => {
    const { estimated_revenue: revenue, employee_count: employees } = companies.fields;
    expect(read(revenue, '1100.04', '1000000')).toBe(1_100_040_000);
    expect(read(revenue, '4.54', '1000000')).toBe(4_540_000);
    expect(read(revenue, '-.5', '0.1')).toBe(-0.05);
    expect(read(employees, '2.5', '2')).toBe(5);
    expect(() => read(employees, '2.5')).toThrow('no whole number');
  });

  test.each(['1,234', '1 234.5', '€5', '12a', '0x10', '1e999'])('%s is no number', (text) => {
    expect(() => read(deals.fields.estimated_value, text)).toThrow();
  });

  test('separators of thousands are refused with a word on how to write it', () => {
    expect(() => read(deals.fields.estimated_value, '1,234')).toThrow('leave out separators of thousands');
  });
});
