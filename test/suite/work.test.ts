// The order of a run's work: every file once on each of its engines, the longest first, and little left for the end.
import { expect, test } from 'bun:test';
import { LONGEST } from './files.ts';
import { tasksOf } from './work.ts';

const LINES = 4;
const [first = '', second = ''] = LONGEST;
const numbered = (name: string, count: number) =>
  Array.from({ length: count }, (_, index) => `test/${name}/${index}.test.ts`);
const sqlite = [...numbered('v2', 200), second, first];
const postgres = [first, ...numbered('v2', 90)];

const tasks = [
  ...tasksOf(
    [
      { engine: 'sqlite', files: sqlite },
      { engine: 'postgresql', files: postgres },
    ],
    LINES,
  ),
];

test('every file runs once on each of its engines', () => {
  const runOn = (name: string) => tasks.filter(({ engine }) => engine === name).flatMap(({ files }) => files);
  expect(runOn('sqlite').toSorted()).toEqual(sqlite.toSorted());
  expect(runOn('postgresql').toSorted()).toEqual(postgres.toSorted());
});

test('the longest come first, each by itself, with many others after each', () => {
  const begun = tasks
    .slice(0, 6)
    .map(({ engine, files }) => (files.length === 1 ? [engine, files[0]] : 'many'));
  expect(begun).toEqual([
    ['sqlite', first],
    'many',
    ['postgresql', first],
    'many',
    ['sqlite', second],
    'many',
  ]);
});

test('the others come many at a time, and few at the end', () => {
  const sizes = tasks
    .filter(({ files: [path = ''] }) => !LONGEST.includes(path))
    .map(({ files }) => files.length);
  expect(sizes.length).toBeLessThan(40);
  expect(sizes[0]).toBe(Math.ceil(290 / (2 * LINES)));
  expect(Math.max(...sizes.slice(-LINES))).toBe(4);
});
