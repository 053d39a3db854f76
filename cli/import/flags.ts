// The flags of `crm import`, each declared once: its form, its default, and where it applies.
import { type Command, InvalidArgumentError, Option } from 'commander';
import { usageError } from '../errors.ts';
import { isEncoding } from '../input/decode.ts';
import { collect, count } from '../settings/options.ts';
import { shellWord } from '../terminal/text.ts';

interface Flag<T> {
  readonly option: Option;
  /** The value if the flag is not given. */
  readonly absent: T;
  /** Whether `import all` accepts it too; its files need no mapping. */
  readonly isForAll: boolean;
  /** Whether it affects how rows are read, so that an errors file needs it again. */
  readonly isRepeated: boolean;
}

type Use = Pick<Flag<unknown>, 'isForAll' | 'isRepeated'>;

const MEANING: Use = { isForAll: false, isRepeated: true };
const ANY_MEANING: Use = { isForAll: true, isRepeated: true };
const RUN: Use = { isForAll: false, isRepeated: false };
const ANY_RUN: Use = { isForAll: true, isRepeated: false };

/** The flags, by their name in the request. */
export const IMPORT_FLAGS = {
  format: choice(
    '--format <format>',
    'Format of the input (default: from its name or first character)',
    RUN,
    ['csv', 'json', 'ndjson', 'vcf'],
  ),
  // An errors file is always UTF-8, so it does not need --encoding again.
  encoding: text(
    '--encoding <name>',
    'Encoding of the input (default: from its byte order mark, otherwise utf-8)',
    RUN,
    encodingNamed,
  ),
  map: list('--map <header=field>', 'Map a column to a field; repeatable', MEANING),
  mapFile: text('--map-file <file>', 'JSON file with mappings', MEANING),
  mapValue: list('--map-value <header:value=new>', 'Replace a value of a column; repeatable', MEANING),
  set: list('--set <field=value>', 'Set a value in every row; repeatable', MEANING),
  custom: onOff('--custom', 'Keep unknown columns as custom fields', MEANING),
  ignoreUnknown: onOff('--ignore-unknown', 'Leave unknown columns out', MEANING),
  suggestMap: onOff('--suggest-map', 'Print a mapping of the columns for --map-file, and exit', RUN),
  dateFormat: choice('--date-format <format>', 'How to read dates with slashes, and plain digits', MEANING, [
    'iso',
    'mdy',
    'dmy',
    'excel',
    'unix-s',
    'unix-ms',
  ]),
  decimalComma: onOff('--decimal-comma', 'Numbers have a decimal comma: 1.200,50', MEANING),
  createMissing: onOff('--create-missing', 'Create companies that do not exist', MEANING),
  createStages: onOff('--create-stages', 'Create stages that their pipeline does not have', MEANING),
  /** Null for the default, which depends on the next three. */
  onDuplicate: choice(
    '--on-duplicate <what>',
    'What to do with a row whose record exists (default: fail, or update if rows are matched)',
    ANY_MEANING,
    ['update', 'fill', 'skip', 'fail'],
  ),
  externalId: text('--external-id <header>', 'Column with the IDs of the records in another system', MEANING),
  source: text('--source <name>', 'Name of the system that --external-id is from, such as hubspot', MEANING),
  matchOn: oneOf('--match-on <what>', 'Change the record with the same value; repeatable', MEANING, [
    'external_id',
    'email',
    'domain',
  ]),
  isDryRun: onOff('--dry-run', 'Check everything and write nothing', RUN),
  /** Null for the default file, which a dry run does not write. */
  errors: text('--errors <file>', 'File for rejected rows (default: FILE.errors.csv or .ndjson)', RUN),
  stopAfter: number('--stop-after <n>', 'Stop after this many rejected rows', RUN),
  batchSize: otherwise(100, number('--batch-size <n>', 'Rows per request', ANY_RUN, 100)),
  concurrency: otherwise(4, number('--concurrency <n>', 'Requests at the same time', ANY_RUN, 32)),
  isResumeWanted: {
    ...onOff('--no-resume', 'Send every row as if for the first time', ANY_RUN),
    absent: true,
  },
  isConfirmed: onOff(
    '--yes',
    'Do not ask before sending rows again, or importing "all" despite existing records',
    ANY_RUN,
  ),
  isQuiet: onOff('--quiet', 'Print errors only', ANY_RUN),
};

/** The values of the flags. */
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
  throw new InvalidArgumentError('Use an encoding such as utf-8, utf-16le, windows-1252 or iso-8859-2.');
}

function list(flags: string, description: string, use: Use): Flag<readonly string[]> {
  return { option: new Option(flags, description).argParser(collect), absent: [], ...use };
}

/** A list of some of the choices. */
function oneOf(
  flags: string,
  description: string,
  use: Use,
  choices: readonly string[],
): Flag<readonly string[]> {
  const option = new Option(flags, description).choices(choices);
  const check = (value: string, previous?: string[]): string[] => {
    if (choices.includes(value)) return collect(value, previous);
    throw new InvalidArgumentError(`Allowed choices are ${choices.join(', ')}.`);
  };
  return { option: option.argParser(check), absent: [], ...use };
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
    throw new InvalidArgumentError(`Use a whole number from 1 to ${maximum}.`);
  };
  return { option: new Option(flags, description).argParser(parse), absent: null, ...use };
}

/** The flag with a default value. */
function otherwise<T>(absent: NoInfer<T>, flag: Flag<T | null>): Flag<T> {
  return { ...flag, option: flag.option.default(absent), absent };
}

/** Adds the flags to a command. */
export function addImportFlags(command: Command): void {
  for (const [, { option }] of FLAGS) command.addOption(option);
}

/** The flags parsed by commander, by their names in the request. */
export function readImportFlags(options: Readonly<Record<string, unknown>>): ImportFlags {
  const values = FLAGS.map(([name, { option, absent }]) => [name, options[option.attributeName()] ?? absent]);
  return Object.fromEntries(values) as ImportFlags;
}

/** Throws a usage error if two flags contradict each other. */
export function refuseContradictions({ custom, ignoreUnknown }: ImportFlags): void {
  if (!custom || !ignoreUnknown) return;
  throw usageError(
    'Use either --custom or --ignore-unknown, not both.',
    'choose whether to keep unknown columns as custom fields or leave them out.',
  );
}

/** Throws a usage error if `import all` gets a flag that works with a single file only. */
export function refuseFlagsOfOneFile(values: ImportFlags): void {
  const refused = given(values).flatMap(({ option, isForAll }) => (isForAll ? [] : [option.long]));
  if (refused.length === 0) return;
  const taken = FLAGS.flatMap(([, { option, isForAll }]) => (isForAll ? [option.long] : []));
  throw usageError(
    `"crm import all" does not work with ${refused.join(' or ')}.`,
    `use ${taken.slice(0, -1).join(', ')} or ${taken.at(-1)}, or import the files one by one.`,
  );
}

/** The flags needed to read more rows in the same way. */
export function repeatedFlags(values: ImportFlags): Partial<ImportFlags> {
  return Object.fromEntries(
    given(values).flatMap(({ name, isRepeated, value }) => (isRepeated ? [[name, value]] : [])),
  );
}

/** The command line with these flags. */
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
