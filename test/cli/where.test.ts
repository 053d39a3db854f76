// The language of --where: what texts mean, what is wrong with others and where, and that nothing else can happen.
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { resourceNamed } from '../../cli/api/target.ts';
import { CliError, describeError, EXIT } from '../../cli/errors.ts';
import { filterOfWhere } from '../../cli/where/filter.ts';
import { readFilter } from '../../db/model/query/filter.ts';
import { anyCharacter } from '../support/any-character.ts';
import { DAYS, FAULTS, MEANINGS } from './where-cases.ts';
import { written } from './where-texts.ts';

const RUNS = 500;
const filterOf = (resource: string, text: string) => filterOfWhere(resourceNamed(resource), text);

function errorOf(resource: string, text: string): string {
  try {
    filterOf(resource, text);
  } catch (error) {
    expect(error).toBeInstanceOf(CliError);
    expect((error as CliError).exitCode).toBe(EXIT.usage);
    return describeError(error);
  }
  return '';
}

/** Checks the form of an error, and resolves with the line of the text and the column of the caret. */
function placeIn(error: string): { line: string; column: number } {
  const [first = '', line = '', caret = '', next = ''] = error.split('\n');
  expect(first).toStartWith('crm: --where: expected ');
  expect(caret).toMatch(/^ {2} *\^$/);
  expect(next).toStartWith('Next: ');
  const column = caret.length - 1;
  expect(column).toBeLessThanOrEqual(Math.max(2, Bun.stringWidth(line)));
  expect(Bun.stringWidth(line)).toBeLessThanOrEqual(100);
  return { line, column };
}

describe('means', () => {
  for (const [resource, text, filter] of MEANINGS)
    test(`${resource} where ${text}`, () => {
      expect<unknown>(filterOf(resource, text)).toEqual(filter);
      expect(readFilter(resourceNamed(resource), filterOf(resource, text), Date.now()).faults).toEqual([]);
    });

  for (const [text, filter] of DAYS)
    test(`a whole day: ${text}`, () => {
      const given = filterOf('deals', `created_at ${text}`);
      expect<unknown>(given).toEqual(filter);
      expect(readFilter(resourceNamed('deals'), given, Date.now()).faults).toEqual([]);
    });

  test('what was written, for any filter', () => {
    fc.assert(
      fc.property(written(), ({ resource, text, filter }) => {
        expect<unknown>(filterOf(resource, text)).toEqual(filter);
        expect(readFilter(resourceNamed(resource), filterOf(resource, text), Date.now()).faults).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  }, 300_000);
});

describe('is refused', () => {
  for (const [resource, marked, said] of FAULTS)
    test(`${resource} where ${marked.length > 80 ? `… ${marked.slice(-40)}` : marked}`, () => {
      const at = marked.indexOf('^');
      const text = marked.replace('^', '');
      const error = errorOf(resource, text);
      expect(error).toContain(said);
      const { line, column } = placeIn(error);
      // A long text is shown in part.
      const after = line.slice(column);
      expect(after === '' || text.slice(at).startsWith(after.replace(/…$/, ''))).toBeTrue();
      if (text.length < 90) expect([line, column]).toEqual([`  ${text}`, at + 2]);
    });

  test('whatever else is written, with a caret in the text', () => {
    const words = [
      ...[
        'name',
        'status',
        'created_at',
        'contacts',
        'custom.x',
        'a',
        '7d',
        '2026-11-21',
        'open',
        '-1',
        'x y',
      ],
      ...['=', '!=', '<', '<=', '>', '>=', '(', ')', ',', "'", '"', 'and', 'or', 'not', 'in', 'is', 'null'],
      ...[
        'contains',
        'starts_with',
        'has',
        'between',
        'ahead',
        'AND',
        '\u001b[31m',
        '\n',
        '\t',
        '日本',
        '👩‍💻',
        '\ud800',
      ],
    ];
    const soup = fc.array(fc.constantFrom(...words), { maxLength: 30 }).map((some) => some.join(' '));
    fc.assert(
      fc.property(
        fc.oneof(soup, fc.string({ unit: anyCharacter }), fc.string({ maxLength: 300 })),
        (text) => {
          const error = errorOf('deals', text);
          if (error !== '') placeIn(error);
        },
      ),
      { numRuns: RUNS },
    );
  }, 300_000);

  test('however long it is', () => {
    for (const piece of ['(', ')', 'not ', "'", '" ', 'name = a and ', 'name in (', 'x', 'é', ', ', '= '])
      placeIn(errorOf('deals', piece.repeat(100_000)));
  });
});
