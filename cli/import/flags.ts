// The flags of `crm import`, each said once: how it is written, what the request holds, and where it makes sense.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { usageError } from '../errors.ts';
import { isEncoding } from '../input/decode.ts';
import { collect, count } from '../settings/options.ts';
import { shellWord } from '../terminal/text.ts';

interface Flag<T> {
  readonly option: Option;
  /** What the request holds where the flag is not given. */
  readonly absent: T;
  /** Whether `import all` takes it too; of its files the folder says itself what they mean. */
  readonly isForAll: boolean;
  /** Whether rows are read by it, so that an errors file has to be imported with it again. */
  readonly isRepeated: boolean;
}

type Use = Pick<Flag<unknown>, 'isForAll' | 'isRepeated'>;

const MEANING: Use = { isForAll: false, isRepeated: true };
const ANY_MEANING: Use = { isForAll: true, isRepeated: true };
const RUN: Use = { isForAll: false, isRepeated: false };
const ANY_RUN: Use = { isForAll: true, isRepeated: false };

/** The flags by what the request calls them. */
export const IMPORT_FLAGS = {
  format: choice(
    '--format <format>',
    'format of the input (default: by its name, or its first character)',
    RUN,
    ['csv', 'json', 'ndjson', 'vcf'],
  ),
  // An errors file is UTF-8, whatever its input was.
  encoding: text(
    '--encoding <name>',
    'encoding of the input (default: by its byte order mark, else utf-8)',
    RUN,
    encodingNamed,
  ),
  map: list('--map <header=field>', 'what a column means; repeatable', MEANING),
  mapFile: text('--map-file <file>', 'JSON object of such mappings', MEANING),
  mapValue: list('--map-value <header:value=new>', 'replace a value of a column; repeatable', MEANING),
  set: list('--set <field=value>', 'a value for every row; repeatable', MEANING),
  custom: onOff('--custom', 'keep unknown columns as custom fields', MEANING),
  ignoreUnknown: onOff('--ignore-unknown', 'leave unknown columns out', MEANING),
  suggestMap: onOff('--suggest-map', 'print a map file for the columns, and stop', RUN),
  dateFormat: choice('--date-format <format>', 'how to read slashed dates and plain digits', MEANING, [
    'iso',
    'mdy',
    'dmy',
    'excel',
    'unix-s',
    'unix-ms',
  ]),
  decimalComma: onOff('--decimal-comma', 'numbers have a decimal comma: 1.200,50', MEANING),
  createMissing: onOff('--create-missing', 'create companies that do not exist', MEANING),
  onDuplicate: otherwise(
    'fail',
    choice('--on-duplicate <what>', 'what to do when an email or domain exists', ANY_MEANING, [
      'skip',
      'update',
      'fail',
    ]),
  ),
  isDryRun: onOff('--dry-run', 'check everything, write nothing', RUN),
  /** Null for the default, which a dry run does not write. */
  errors: text('--errors <file>', 'where rejected rows go (default: FILE.errors.csv or .ndjson)', RUN),
  stopAfter: number('--stop-after <n>', 'stop after this many rejected rows', RUN),
  batchSize: otherwise(100, number('--batch-size <n>', 'rows in a request', ANY_RUN, 100)),
  concurrency: otherwise(4, number('--concurrency <n>', 'requests at once', ANY_RUN, 32)),
  isResumeWanted: {
    ...onOff('--no-resume', 'send every row as if for the first time', ANY_RUN),
    absent: true,
  },
  isConfirmed: onOff(
    '--yes',
    'do not ask before sending rows again, or importing "all" beside other records',
    ANY_RUN,
  ),
  isQuiet: onOff('--quiet', 'print errors only', ANY_RUN),
};

/** What the flags say. */
export type ImportFlags = {
  [Name in keyof typeof IMPORT_FLAGS]: (typeof IMPORT_FLAGS)[Name]['absent'];
};

const FLAGS: readonly (readonly [name: string, flag: Flag<unknown>])[] = Object.entries(IMPORT_FLAGS);

function text(
  flags: string,
  description: string,
  use: Use,
  parse?: (value: string) => string,
): Flag<string | null> {
  const option = new Option(flags, description);
  return { option: parse === undefined ? option : option.argParser(parse), absent: null, ...use };
}

function encodingNamed(value: string): string {
  if (isEncoding(value)) return value;
  throw new InvalidArgumentError('Give an encoding such as utf-8, utf-16le, windows-1252 or iso-8859-2.');
}

function list(flags: string, description: string, use: Use): Flag<readonly string[]> {
  return { option: new Option(flags, description).argParser(collect), absent: [], ...use };
}

function onOff(flags: string, description: string, use: Use): Flag<boolean> {
  return { option: new Option(flags, description), absent: false, ...use };
}

function choice<const T extends string>(
  flags: string,
  description: string,
  use: Use,
  choices: readonly T[],
): Flag<T | null> {
  return { option: new Option(flags, description).choices(choices), absent: null, ...use };
}

function number(
  flags: string,
  description: string,
  use: Use,
  maximum = Number.POSITIVE_INFINITY,
): Flag<number | null> {
  const parse = (value: string): number => {
    const given = count(value);
    if (given <= maximum) return given;
    throw new InvalidArgumentError(`Give a whole number from 1 to ${maximum}.`);
  };
  return { option: new Option(flags, description).argParser(parse), absent: null, ...use };
}

/** The flag with a value where it is not given. */
function otherwise<T>(absent: NoInfer<T>, flag: Flag<T | null>): Flag<T> {
  return { ...flag, option: flag.option.default(absent), absent };
}

/** Lets a command take the flags. */
export function addImportFlags(command: Command): void {
  for (const [, { option }] of FLAGS) command.addOption(option);
}

/** What commander made of the flags, by the request's names. */
export function readImportFlags(options: Readonly<Record<string, unknown>>): ImportFlags {
  const values = FLAGS.map(([name, { option, absent }]) => [name, options[option.attributeName()] ?? absent]);
  return Object.fromEntries(values) as ImportFlags;
}

/** Throws a usage error where two flags contradict each other. */
export function refuseContradictions({ custom, ignoreUnknown }: ImportFlags): void {
  if (!custom || !ignoreUnknown) return;
  throw usageError(
    'Both --custom and --ignore-unknown are given.',
    'say whether unknown columns are kept as custom fields or left out.',
  );
}

/** Throws a usage error where `import all` is given a flag that speaks of one file. */
export function refuseFlagsOfOneFile(values: ImportFlags): void {
  const refused = given(values).flatMap(({ option, isForAll }) => (isForAll ? [] : [option.long]));
  if (refused.length === 0) return;
  const taken = FLAGS.flatMap(([, { option, isForAll }]) => (isForAll ? [option.long] : []));
  throw usageError(
    `"crm import all" takes no ${refused.join(' and no ')}.`,
    `it takes ${taken.slice(0, -1).join(', ')} and ${taken.at(-1)}; for more, import the files one by one.`,
  );
}

/** The flags by which further rows are read as these have been. */
export function repeatedFlags(values: ImportFlags): Partial<ImportFlags> {
  return Object.fromEntries(
    given(values).flatMap(({ name, isRepeated, value }) => (isRepeated ? [[name, value]] : [])),
  );
}

/** The command line that these flags make. */
export function importCommand(values: ImportFlags & { resource: string; input: string }): string {
  const words = ['crm', 'import', values.resource, values.input, ...given(values).flatMap(wordsOf)];
  return words.map(shellWord).join(' ');
}

function wordsOf({ option, value }: Flag<unknown> & { value: unknown }): string[] {
  const flag = option.long ?? '';
  return typeof value === 'boolean' ? [flag] : [value].flat().flatMap((one) => [flag, String(one)]);
}

function given(values: ImportFlags): (Flag<unknown> & { name: string; value: unknown })[] {
  return FLAGS.flatMap(([name, flag]) => {
    const value = values[name as keyof ImportFlags];
    const isGiven = Array.isArray(value) ? value.length > 0 : value !== flag.absent;
    return isGiven ? [{ ...flag, name, value }] : [];
  });
}
