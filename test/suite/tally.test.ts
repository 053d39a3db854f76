// What the runs of the suite add up to: nothing that went wrong may be lost on the way.
import { describe, expect, test } from 'bun:test';
import { addUp, closing, Listener } from './tally.ts';

function hear(text: string, code: number | null) {
  const listener = new Listener();
  const shown = text
    .trim()
    .split('\n')
    .map((line) => listener.hear(line))
    .filter((line) => line !== null);
  return { shown, tally: listener.tally(code), failedFiles: listener.failedFiles() };
}

const GREEN = `
bun test v1.4.5 (a7733435c) 2x PARALLEL

 2094 pass
 3 skip
 1 todo
 0 fail
 15463 expect() calls
Ran 2098 tests across 25 files. [88.68s]`;

const RED = `
bun test v1.4.5 (a7733435c)

test/v1/people.test.ts:
error: expect(received).toBe(expected)
(fail) people > are found [1.02ms]

 11 pass
 1 fail
 40 expect() calls
Ran 12 tests across 1 file. [1.00s]`;

describe('a run', () => {
  test('counts what passed and what was skipped', () => {
    const { shown, tally } = hear(GREEN, 0);
    expect(tally).toEqual({ passed: 2094, failed: 0, skipped: 4 });
    expect(shown.join('')).toBe('');
  });

  test('counts what failed, and shows it', () => {
    const { shown, tally } = hear(RED, 1);
    expect(tally).toEqual({ passed: 11, failed: 1, skipped: 0 });
    expect(shown.filter((line) => line !== '')).toEqual([
      'test/v1/people.test.ts:',
      'error: expect(received).toBe(expected)',
      '(fail) people > are found [1.02ms]',
    ]);
  });

  test.each<[string, string, string[] | null]>([
    ['the files of what failed', RED, ['test/v1/people.test.ts']],
    ['no files if nothing failed', GREEN, null],
    ['no files if an error belongs to no test', RED.replace(' 1 fail', ' 1 fail\n 1 error'), null],
    ['no files if it never came to its end', RED.slice(0, RED.indexOf('Ran')), null],
  ])('tells %s', (_, text, files) => {
    expect(hear(text, 1).failedFiles).toEqual(files);
  });

  test('has failed by an error outside the tests', () => {
    const text = GREEN.replace(' 0 fail', ' 0 fail\n 2 errors');
    expect(hear(text, 1).tally).toEqual({ passed: 2094, failed: 2, skipped: 4 });
  });

  test.each([
    ['ended with another code', GREEN, 1],
    ['was killed at its end', GREEN, null],
    ['never came to its end', GREEN.slice(0, GREEN.indexOf('Ran')), 0],
    ['said nothing', '', 0],
  ])('has failed if it %s', (_, text, code) => {
    expect(hear(text, code).tally.failed).toBe(1);
  });

  test('goes by its last words, not by what a test prints', () => {
    expect(hear(`7 fail\n 7 pass\n${GREEN}`, 0).tally).toEqual({ passed: 2094, failed: 0, skipped: 4 });
  });
});

test('several are added up, and closed as one', () => {
  const parts = [hear(GREEN, 0), hear(RED, 1), hear('', 143)].map(({ tally }) => tally);
  const total = addUp(parts);
  expect(total).toEqual({ passed: 2105, failed: 2, skipped: 4 });
  expect(closing(total).split('\n')).toEqual([' 2105 pass', ' 4 skip', ' 2 fail']);
  expect(addUp([])).toEqual({ passed: 0, failed: 0, skipped: 0 });
});
