// Every flag of `crm import`: shown in the help, refused or taken by `import all`, and repeated for the errors file or not.
import { describe, expect, test } from 'bun:test';
import { Command } from 'commander';
import { CliError } from '../../cli/errors.ts';
import {
  addImportFlags,
  IMPORT_FLAGS,
  type ImportFlags,
  importCommand,
  readImportFlags,
  refuseFlagsOfOneFile,
  repeatedFlags,
} from '../../cli/import/flags.ts';

const NONE = readImportFlags({});
/** Flags of a run, which say nothing of how a row is read. */
const NOT_REPEATED = [
  'format',
  'encoding',
  'suggestMap',
  'isDryRun',
  'errors',
  'stopAfter',
  'batchSize',
  'concurrency',
  'isResumeWanted',
  'isConfirmed',
  'isQuiet',
];
const FOR_ALL = ['onDuplicate', 'batchSize', 'concurrency', 'isResumeWanted', 'isConfirmed', 'isQuiet'];

function parse(words: readonly string[]): ImportFlags {
  const command = new Command().exitOverride().configureOutput({ writeErr: () => {} });
  addImportFlags(command);
  return readImportFlags(command.parse([...words], { from: 'user' }).opts());
}

const cases = Object.entries(IMPORT_FLAGS).map(([name, { option }]) => {
  const long = option.long ?? '';
  const text = name === 'encoding' ? 'utf-16le' : 'a=b';
  const isNumber = option.parseArg && !name.startsWith('map') && name !== 'encoding';
  const value = option.argChoices?.[0] ?? (isNumber ? '7' : text);
  return { name, long, words: option.isBoolean() || option.negate ? [long] : [long, value] };
});

describe.each(cases)('$long', ({ name, long, words }) => {
  const given = parse(words);

  test('is in the help, with what it is for', () => {
    const command = new Command();
    addImportFlags(command);
    const line = command.helpInformation().match(new RegExp(`^ +${long}\\b.*`, 'm'))?.[0] ?? '';
    expect(line).toMatch(/ {2,}\w.*\w/);
  });

  test('says something to the request', () => {
    const other = Object.entries(given).filter(([key, value]) => !Bun.deepEquals(value, NONE[key as never]));
    expect(other.map(([key]) => key)).toEqual([name]);
  });

  test('stands in the command for the errors file unless it is of the run', () => {
    expect({ ...NONE, ...repeatedFlags(given) }).toEqual(NOT_REPEATED.includes(name) ? NONE : given);
    const words = importCommand({ ...given, resource: 'tasks', input: 'x' })
      .split(' ')
      .slice(4);
    expect(parse(words)).toEqual(given);
  });

  test('is taken or refused by import all, which names those it takes', () => {
    const refusal = (): CliError | null => {
      try {
        refuseFlagsOfOneFile(given);
        return null;
      } catch (error) {
        if (error instanceof CliError) return error;
        throw error;
      }
    };
    const error = refusal();
    if (FOR_ALL.includes(name)) return expect(error).toBeNull();
    expect([error?.exitCode, error?.message]).toEqual([2, `"crm import all" does not work with ${long}.`]);
    for (const one of FOR_ALL) {
      expect(error?.nextSteps.join()).toContain(String(IMPORT_FLAGS[one as keyof ImportFlags].option.long));
    }
  });
});

test('flags of one name follow each other, and several that are refused are named at once', () => {
  const given = parse(['--map', 'A=b', '--map', 'C=d', '--custom', '--on-duplicate', 'update', '--quiet']);
  const again = { ...NONE, ...repeatedFlags(given), resource: 'tasks', input: 'x.csv' };
  const words = '--map A=b --map C=d --custom --on-duplicate update';
  expect(importCommand(again)).toBe(`crm import tasks x.csv ${words}`);
  expect(() => refuseFlagsOfOneFile(given)).toThrow('does not work with --map or --custom.');
});

test('a number beyond its bounds is refused', () => {
  for (const words of [
    ['--batch-size', '101'],
    ['--concurrency', '33'],
    ['--stop-after', '0'],
  ]) {
    expect(() => parse(words)).toThrow('Use a whole number');
  }
});
