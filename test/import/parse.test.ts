// Reading inputs: CSV, JSON, NDJSON and vCards in any pieces.
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { openSource } from '../../cli/import/plan/source.ts';
import type { SourceRow } from '../../cli/import/row.ts';
import { CsvScanner, sniffDelimiter } from '../../cli/input/csv-reader.ts';
import { csvRow } from '../../cli/terminal/csv.ts';

async function* pieces(...parts: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield typeof part === 'string' ? Buffer.from(part) : part;
}

async function rowsOf(text: string | Uint8Array, format: 'csv' | 'json' | 'ndjson' | null = null) {
  const source = await openSource(pieces(text), 'input', { format, encoding: null });
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

  test.each([
    ['sep=;\nname;city\nAda;London, UK\n', ';'],
    ['\ufeffsep=,\r\nname,city\r\nAda,"London, UK"\r\n', ','],
    ['"sep=|"\nname|city\nAda|London, UK\n', '|'],
    ['SEP=~\nname~city\nAda~London, UK\n', '~'],
  ])("Excel's line %j names the delimiter and is no row", async (text) => {
    const { headers, rows } = await rowsOf(text);
    expect(headers).toEqual(['name', 'city']);
    expect(rows.map(({ line, original }) => [line, original])).toEqual([[3, ['Ada', 'London, UK']]]);
  });

  test('the delimiter is that of the whole header line, however long it is and wherever it is cut', async () => {
    const titles = [
      'one, two, three '.repeat(200).trim(),
      ...Array.from({ length: 700 }, (_, at) => `${at}`),
    ];
    const bytes = Buffer.from(`${titles.join(';')}\n${titles.map(() => 'x').join(';')}\n`);
    const parts = Array.from({ length: 10 }, (_, at) => bytes.subarray(at * 1_000, (at + 1) * 1_000));
    const source = await openSource(pieces(...parts), 'input', { format: null, encoding: null });
    expect(source.headers).toEqual(titles);
    expect((await Array.fromAsync(source.rows)).map(({ fault }) => fault)).toEqual([null]);
  });

  test('a ragged row is a fault of that row, with both counts', async () => {
    const { rows } = await rowsOf('a,b,c\n1,2\n1,2,3,4\n1,2,3\n');
    expect(rows.map(({ fault }) => fault?.message ?? null)).toEqual([
      'the row has 2 columns but the header line has 3: a delimiter or a quote is missing',
      'the row has 4 columns but the header line has 3: there is an extra delimiter or quote',
      null,
    ]);
  });

  test('text after a closing quote is a fault of that row; a quote inside unquoted text is text', async () => {
    const { rows } = await rowsOf('a,b\n1,"x"y\n2,6" pipe\n');
    expect(rows[0]?.fault?.message).toContain('text follows a closing quote in column 2');
    expect(rows[1]?.original).toEqual(['2', '6" pipe']);
  });

  test('a quote that is never closed is reported with the line where it opens', async () => {
    expect(await messageOf(rowsOf('a,b\n1,2\n3,"x\n4,5\n'))).toBe(
      'input: the quote that opens in line 3 is never closed.',
    );
  });

  test('a row that is too long is said to be that, unless a quote is open', async () => {
    const long = 'x'.repeat(16 * 1024 * 1024);
    expect(await messageOf(rowsOf(`a,b\n1,2\n3,${long}y\n`))).toBe(
      'input: the row that starts in line 3 is longer than 16 Mi characters.',
    );
    expect(await messageOf(rowsOf(`a,b\n1,2\n3,"${long}y\n`))).toBe(
      'input: the quote that opens in line 3 is never closed.',
    );
  });

  test('a title above the header line is refused with the line where the header is', async () => {
    const monday = 'My board\n,,\nGroup\nName,Owner,Due\na,b,c\nd,e,f\n';
    expect(await messageOf(rowsOf(monday))).toBe(
      'input has one column in its header line, line 1, but 3 in line 4.',
    );
    const { rows } = await rowsOf('name\nAcme, Inc., London\nEngines\nSmith\n');
    expect(rows.map(({ fault }) => fault !== null)).toEqual([true, false, false]);
  });

  test('a header that stands twice gets a number', async () => {
    const { headers, rows } = await rowsOf('City,name,City,City (2),City\na,b,c,d,e\n');
    expect(headers).toEqual(['City', 'name', 'City (3)', 'City (2)', 'City (4)']);
    expect(rows[0]?.entries[2]).toEqual(['City (3)', 'c']);
  });

  test('empty columns without a header, and rows of delimiters alone, are not there', async () => {
    const table =
      ';;;;;\n Name;;Email; ;;\nAda;;a@x.test;;;\n;;;;;\n"";"";"";;;\nBob; ;b@x.test\nCy;;;\n;;;;;;;;\n';
    const { headers, rows, unnamed } = await rowsOf(table);
    expect(headers).toEqual(['Name', 'Email']);
    expect(rows.map(({ line, original, fault }) => [line, original, fault])).toEqual([
      [3, ['Ada', 'a@x.test'], null],
      [6, ['Bob', 'b@x.test'], null],
      [7, ['Cy', ''], null],
    ]);
    expect(unnamed?.size).toBe(0);
  });

  test('a value in a column without a header, or beyond the header line, is a fault', async () => {
    const { rows, unnamed } = await rowsOf('name,,city,\n1,2,3,\n1,,3,4\n1,,3,,5\n1,,3\n1,,\n1,\n');
    expect(rows.map(({ fault }) => fault?.message ?? null)).toEqual([
      'column 2 has a value but no header',
      'column 4 has a value but no header',
      'the row has 5 columns but the header line has 3: there is an extra delimiter or quote',
      null,
      null,
      'the row has 2 columns but the header line has 3: a delimiter or a quote is missing',
    ]);
    expect([...(unnamed ?? [])]).toEqual([2, 4]);
  });

  test('the footer of a Salesforce report is no row; other lines of one cell are faults', async () => {
    const footer =
      '\n"Contacts of EMEA"\n\n"Copyright (c) 2000-2026 salesforce.com, inc. All rights reserved."\n' +
      '"Confidential Information - Do Not Distribute"\n"Generated By:  Ada Lovelace  11/21/2026 9:30 AM"\n"Engines Ltd"\n';
    const table = '"First Name","Last Name"\n"Ada","Lovelace"\n';
    expect((await rowsOf(table + footer)).rows.map(({ line }) => line)).toEqual([2]);
    expect((await rowsOf(`${table}"alone"\n"Bob","Bo"\n${footer}`)).rows.map(({ line }) => line)).toEqual([
      2, 3, 4,
    ]);
    expect((await rowsOf(`${table}alone\n`)).rows[1]?.fault?.message).toContain('the row has 1 column');
    const note = 'Copyright (c) 2000-2026 salesforce.com, inc.';
    expect((await rowsOf(`Note\n"${note}"\n`)).rows.map(({ original }) => original)).toEqual([[note]]);
  });

  test('an empty file and one without a header line are reported', async () => {
    expect(await messageOf(rowsOf(''))).toBe('input is empty.');
    expect(await messageOf(rowsOf(' \n\n'))).toBe('input is empty.');
  });
});

describe('JSON and NDJSON', () => {
  test('the format is recognized by the first character', async () => {
    expect((await rowsOf(' [{"a":1}]')).format).toBe('json');
    expect((await rowsOf('\n{"a":1}\n')).format).toBe('ndjson');
    expect((await rowsOf('a,b\n')).format).toBe('csv');
  });

  test('an array is read element by element, however the text is cut into pieces', async () => {
    const text = '[\n {"a": "x]},{\\"", "b": [1, {"c": 2}]},\n{"a":"é😀"} ]\n';
    const bytes = Buffer.from(text);
    for (let cut = 0; cut <= bytes.length; cut += 1) {
      const form = { format: 'json', encoding: null } as const;
      const source = await openSource(pieces(bytes.subarray(0, cut), bytes.subarray(cut)), 'input', form);
      const rows: SourceRow[] = [];
      for await (const row of source.rows) rows.push(row);
      expect(rows.map(({ line, original }) => [line, original])).toEqual([
        [2, { a: 'x]},{"', b: [1, { c: 2 }] }],
        [3, { a: 'é😀' }],
      ]);
    }
  });

  test.each([
    ['{"a":1}', 'starts with "{"'],
    ['[{"a":1}', 'the array is not closed at the end of the file (line 1)'],
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
      [2, 'the object is not valid JSON'],
      [4, 'the line is not a JSON object'],
      [5, 'the object has the key "a" twice'],
      [6, 'the object has the key "b" twice'],
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
