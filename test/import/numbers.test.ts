// Reading numbers: currency signs, separators of thousands, and a decimal mark that the column decides.
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { messageOf } from '../../cli/errors.ts';
import { Evidence } from '../../cli/import/plan/column-evidence.ts';
import { decideNumbers } from '../../cli/import/plan/numbers.ts';
import { readValue } from '../../cli/import/plan/values.ts';
import { companies } from '../../db/model/resources/companies.ts';

describe('numbers', () => {
  /** What a column of these cells is read as, where a cell is no number its fault. */
  function column(cells: string[], { isInteger = false, decimalComma = false } = {}): (number | string)[] {
    const evidence = new Evidence();
    for (const cell of cells) evidence.take('x', cell);
    const numbers = decideNumbers(evidence.numbers, [{ header: 'x', isInteger }], { decimalComma });
    const field = isInteger ? companies.fields.employee_count : companies.fields.estimated_revenue;
    if (field === undefined) throw new Error('no such field');
    const rules = { header: 'x', dates: { format: null, orders: new Map() }, numbers };
    return cells.map((cell) => {
      try {
        return Number(readValue(field, cell, rules));
      } catch (error) {
        return messageOf(error);
      }
    });
  }
  const rejected = (why: string) => expect.stringContaining(why);

  test.each<[string[], (number | string)[]]>([
    [['$350,000,000'], [350_000_000]],
    [
      ['12 000,50', '1 200', '1.200'],
      [12_000.5, 1200, 1200],
    ],
    [
      ['€ 1.200,50', '-€5', '1.200'],
      [1200.5, -5, 1200],
    ],
    [
      ['-$1,200.00', '$-1,200.00', 'US$1,200'],
      [-1200, -1200, 1200],
    ],
    [
      ["1'200.50", '1\u202f200.5', '1\u00a0200.25'],
      [1200.5, 1200.5, 1200.25],
    ],
    [
      ['1.200.300', '1.200'],
      [1_200_300, 1200],
    ],
    [
      ['0,500', '1234,5'],
      [0.5, 1234.5],
    ],
    [
      ['1,200', '1,200.50'],
      [1200, 1200.5],
    ],
    [['1.200'], [1.2]],
    [['1.000'], [1]],
    [
      ['USD 48,000.00', '1,200 EUR', '- CHF 8', 'JPY-9', '$7 USD', 'EUR10'],
      [48_000, 1200, -8, -9, 7, 10],
    ],
    [
      ['1.200,50 EUR', 'EUR 1.300'],
      [1200.5, 1300],
    ],
    [['XYZ 5', 'USD 5 EUR', '5 EUR (net)'], Array(3).fill('must be a number or null')],
    [
      ['+5', '.5', '5.', '1e3', '48000.5'],
      [5, 0.5, 5, 1000, 48000.5],
    ],
  ])('%j are %j', (cells, numbers) => {
    expect(column(cells)).toEqual(numbers);
  });

  test('where nothing decides, 1,200 is refused and names --decimal-comma, which decides', () => {
    expect(column(['1,200', '5'])).toEqual([rejected('may be 1.2 or 1200; use --decimal-comma'), 5]);
    expect(column(['1,200', '1.200'], { decimalComma: true })).toEqual([1.2, 1200]);
    expect(column(['1.5'], { decimalComma: true })).toEqual([rejected('with a decimal comma')]);
  });

  test('whole numbers decide what a separator is, unless nothing but zeros follow a point', () => {
    expect(column(['1,200', '1,000'], { isInteger: true })).toEqual([1200, 1000]);
    expect(column(['1.250', '1.000'], { isInteger: true })).toEqual([1250, 1000]);
    expect(column(['1.000'], { isInteger: true })).toEqual([rejected('may be 1 or 1000')]);
    expect(column(['250.0', '1.000'], { isInteger: true })).toEqual([250, 1]);
  });

  test('a column with decimal points and decimal commas is read by its points, and what is not one is refused', () => {
    const [comma, point, either, plain] = column(['1.234,50', '1,234.50', '1,200', '5']);
    expect([comma, either]).toEqual([
      rejected('points and decimal commas'),
      rejected('points and decimal commas'),
    ]);
    expect([point, plain]).toEqual([1234.5, 5]);
  });

  test('a count of things has no currency', () => {
    expect(column(['USD 5'], { isInteger: true })).toEqual([rejected('must be an integer')]);
  });

  test('groups that are not of three are no number', () => {
    expect(column(['1,23,456', '12,34.5'])).toEqual([
      rejected('write it as 1234.5'),
      rejected('write it as 1234.5'),
    ]);
    expect(column(['1.2.3', '1.200.30', '7'])).toEqual([
      rejected('write it as 1234.5'),
      rejected('write it as 1234.5'),
      7,
    ]);
  });

  test('every number comes back as it was, in either way of writing it', () => {
    const cents = fc.integer({ min: -99_999_999_999, max: 99_999_999_999 });
    fc.assert(
      fc.property(
        fc.array(cents, { minLength: 1, maxLength: 5 }),
        fc.constantFrom('en', 'de', 'fr', 'de-CH'),
        (list, locale) => {
          const values = list.map((one) => one / 100);
          const format = new Intl.NumberFormat(locale, { minimumFractionDigits: 2 });
          expect(column(values.map((value) => format.format(value)))).toEqual(
            values.map((value) => value || 0),
          );
        },
      ),
      { numRuns: 300, seed: 7 },
    );
  });
});
