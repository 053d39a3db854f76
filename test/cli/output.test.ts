// How CSV and tables are written, whatever the data.
import { describe, expect, test } from 'bun:test';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { csvRow } from '../../cli/terminal/csv.ts';
import { renderRecord, Table, valueAt } from '../../cli/terminal/table.ts';
import { neutralize, neutralizeLine, shellWord } from '../../cli/terminal/text.ts';
import { anyCharacter } from '../support/any-character.ts';

describe('csvRow', () => {
  test('reads back as what was written', () => {
    const cell = fc.oneof(fc.string({ unit: 'grapheme' }), fc.stringMatching(/^[",\r\n; a]*$/));
    fc.assert(
      fc.property(fc.array(cell, { minLength: 1 }), (cells) => {
        expect(parse(csvRow(cells), { record_delimiter: '\n' })).toEqual([cells]);
      }),
    );
  });

  test('writes null as nothing, nested values as JSON, numbers plainly', () => {
    expect(csvRow([null, undefined, '', 0, false, ['a'], { b: 1 }])).toBe(
      ',,"",0,false,"[""a""]","{""b"":1}"\n',
    );
    expect(csvRow([null])).toBe('""\n');
  });

  test('escapes formulas only when asked, and never a number', () => {
    const cells = ['=1+1', '+1', '-1', '@x', '\tx', '\rx', '\n=1', '＝1+1', '＋1', '－1', '＠x', 'a=1', -1];
    expect(parse(csvRow(cells), { record_delimiter: '\n' })[0]).toEqual(cells.map(String));
    expect(parse(csvRow(cells, { isExcelSafe: true }), { record_delimiter: '\n' })[0]).toEqual([
      "'=1+1",
      "'+1",
      "'-1",
      "'@x",
      "'\tx",
      "'\rx",
      "'\n=1",
      "'＝1+1",
      "'＋1",
      "'－1",
      "'＠x",
      'a=1',
      '-1',
    ]);
  });
});

describe('Table', () => {
  const widthsOf = (text: string): number[] => text.split('\n').map((line) => Bun.stringWidth(line));

  test('never exceeds the width, and shows no control character', () => {
    const value = fc.oneof(fc.string({ unit: anyCharacter }), fc.integer(), fc.constant(null));
    const record = fc.record({ id: fc.uuid(), a: value, b: value, c: value });
    fc.assert(
      fc.property(fc.array(record), fc.integer({ min: 40, max: 200 }), (records, width) => {
        const table = new Table({ columns: ['id', 'a', 'b', 'c'], width, isColored: false });
        const text = table.render(records);
        for (const one of widthsOf(text)) expect(one).toBeLessThanOrEqual(width);
        expect(text).not.toMatch(/(?!\n)\p{Cc}/u);
        expect(text.split('\n')).toHaveLength(records.length + 2);
      }),
    );
  });

  test('leaves the last columns out before it cuts an id', () => {
    const id = '019b76da-a800-7000-8000-000000000001';
    const table = new Table({ columns: ['id', 'name', 'city'], width: 52, isColored: false });
    expect(table.render([{ id, name: 'A very long name indeed', city: 'Some long city' }])).toBe(
      `ID${' '.repeat(36)}NAME\n${id}  A very long…\n`,
    );
  });

  test('aligns wide characters and keeps its columns from page to page', () => {
    const table = new Table({ columns: ['a', 'b'], width: 40, isColored: false });
    expect(table.render([{ a: '東京', b: 1 }])).toBe('A     B\n東京  1\n');
    expect(table.render([{ a: 'x', b: 2 }])).toBe('x     2\n');
  });

  test('shows instants as dates, lists in words, and nested values as JSON', () => {
    const table = new Table({
      columns: ['t', 'l', 'o', 'n'],
      instants: new Set(['t']),
      width: 100,
      isColored: false,
    });
    const record = { t: 0, l: ['a', 'b'], o: { k: 'v', m: null }, n: [{ x: 1 }] };
    expect(table.render([record]).split('\n')[1]).toBe('1970-01-01 00:00  a, b  k: v, m:   [{"x":1}]');
  });
});

test('a record has a field a line, further lines indented', () => {
  const text = renderRecord({ id: '1', note: 'a\nb\u001b[2J' }, { fields: ['id', 'note'], isColored: false });
  expect(text).toBe('id    1\nnote  a\n      b␛[2J\n');
});

test('valueAt finds fields and keys of custom, and nothing that was not written', () => {
  const record = { custom: { 'a.b': 1, c: null }, list: ['x'] };
  expect(valueAt(record, 'custom.a.b')).toBe(1);
  expect(valueAt(record, 'custom.c')).toBeNull();
  for (const name of ['custom.d', 'custom.toString', 'toString', 'list.length', 'x.y']) {
    expect(valueAt(record, name)).toBeUndefined();
  }
});

test('text for a terminal shows what it would obey', () => {
  expect(neutralize('\u0007\u001b]0;x\u009b31m\u007f\u202ea\r\nb\tc')).toBe('␇␛]0;x�31m␡�a␍\nb\tc');
  expect(neutralizeLine('a\r\nb\nc\td')).toBe('a⏎b⏎c d');
});

test('words for a shell are quoted where they must be', () => {
  expect(['a-b.c', 'my db', "it's", '$(x)', ''].map(shellWord)).toEqual([
    'a-b.c',
    "'my db'",
    `'it'\\''s'`,
    "'$(x)'",
    "''",
  ]);
});
