// Data on stdout in the format that was asked for: table, json, ndjson or csv.
import type { Field } from '../../db/model/fields.ts';
import type { Data } from '../../db/model/json.ts';
import { usageError } from '../errors.ts';
import { didYouMean } from '../nearest.ts';
import { csvRow } from './csv.ts';
import { writeOut, writeValues } from './streams.ts';
import { renderRecord, Table, type TableLayout, valueAt } from './table.ts';
import { terminalWidth } from './wrap.ts';

export const OUTPUT_FORMATS = ['table', 'json', 'ndjson', 'csv'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** How output was asked for; part of every command's settings. */
export interface OutputSettings {
  readonly output: OutputFormat;
  /** Whether the output format was asked for by flag, environment or profile. */
  readonly isOutputGiven: boolean;
  readonly isColored: boolean;
}

/** How the records of a command look. */
export interface ColumnLayout extends TableLayout {
  /** Fields that a table shows. */
  columns: readonly string[];
  /** Fields that CSV has; those of the first record where they are not known before. */
  allFields: readonly string[];
  /** `--fields`: only these, in this order, in every format. */
  fields?: readonly string[] | undefined;
  /** CSV cells that a spreadsheet would run are escaped. */
  isExcelSafe?: boolean;
}

/** Writes a sequence of records to stdout, as they come. */
export interface Printer {
  print(records: readonly Data[]): Promise<void>;
  /** Completes the output; every sequence needs it, an empty one too. */
  end(): Promise<void>;
}

/** Turns records into text, page by page. */
export interface Encoder {
  page(records: readonly Data[], isFirst: boolean): string;
  end(isEmpty: boolean): string;
}

/** A printer in the configured format. */
export function createPrinter(
  config: Pick<OutputSettings, 'output' | 'isColored'>,
  look: ColumnLayout,
): Printer {
  const encoder = createEncoder(config.output, look, config.isColored);
  // A table has escapes of its own, and none of a value's.
  const write = config.output === 'table' ? writeOut : writeValues;
  let isFirst = true;
  const print = async (records: readonly Data[]): Promise<void> => {
    if (records.length === 0) return;
    await write(encoder.page(records, isFirst));
    isFirst = false;
  };
  return {
    print,
    end: async () => {
      const text = encoder.end(isFirst);
      if (text !== '') await write(text);
    },
  };
}

/** Prints one record: a field a line as a table, one object as JSON. */
export async function printRecord(
  config: Pick<OutputSettings, 'output' | 'isColored'>,
  record: Data,
  look: ColumnLayout,
): Promise<void> {
  if (config.output === 'table') {
    const fields = look.fields ?? Object.keys(record);
    const columns = terminalWidth(process.stdout);
    await writeOut(renderRecord(record, { ...look, fields, columns, isColored: config.isColored }));
  } else if (config.output === 'json') {
    await writeOut(`${jsonText(pick(record, look.fields), 2)}\n`);
  } else {
    const printer = createPrinter(config, look);
    await printer.print([record]);
    await printer.end();
  }
}

/** Prints what a command did as one object, where JSON was asked for; its words for people are on stderr. */
export async function printSummaryJson(
  config: Pick<OutputSettings, 'output' | 'isOutputGiven'>,
  figures: object,
): Promise<void> {
  if (!config.isOutputGiven || (config.output !== 'json' && config.output !== 'ndjson')) return;
  await writeOut(`${jsonText(figures, config.output === 'json' ? 2 : undefined)}\n`);
}

/** The encoder of a format. */
export function createEncoder(format: OutputFormat, look: ColumnLayout, isColored = false): Encoder {
  switch (format) {
    case 'table':
      return tableEncoder(look, isColored);
    case 'csv':
      return csvEncoder(look);
    case 'json':
      return {
        page: (records, isFirst) =>
          (isFirst ? '[\n' : ',\n') +
          records.map((record) => jsonText(pick(record, look.fields))).join(',\n'),
        end: (isEmpty) => (isEmpty ? '[]\n' : '\n]\n'),
      };
    case 'ndjson':
      return {
        page: (records) => records.map((record) => `${jsonText(pick(record, look.fields))}\n`).join(''),
        end: () => '',
      };
  }
}

function tableEncoder(look: ColumnLayout, isColored: boolean): Encoder {
  const table = new Table({
    columns: look.fields ?? look.columns,
    ...(look.instants !== undefined && { instants: look.instants }),
    ...(look.sizes !== undefined && { sizes: look.sizes }),
    width: terminalWidth(process.stdout),
    isColored,
  });
  return {
    page: (records) => table.render(records),
    end: (isEmpty) => (isEmpty ? table.render([]) : ''),
  };
}

function csvEncoder(look: ColumnLayout): Encoder {
  let fields = look.fields ?? look.allFields;
  const { isExcelSafe = false } = look;
  const row = (record: Data): string =>
    csvRow(
      fields.map((name) => valueAt(record, name)),
      { isExcelSafe },
    );
  return {
    page: (records, isFirst) => {
      if (fields.length === 0) fields = Object.keys(records[0] ?? {});
      return (isFirst ? csvRow(fields) : '') + records.map(row).join('');
    },
    end: (isEmpty) => (isEmpty && fields.length > 0 ? csvRow(fields) : ''),
  };
}

// In their order; null where the record has none.
function pick(record: Data, fields: readonly string[] | undefined): Data {
  if (fields === undefined) return record;
  return Object.fromEntries(fields.map((name) => [name, valueAt(record, name) ?? null]));
}

/** JSON in which no character is left that a terminal would obey. */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The names in `--fields`; `known` are those there are, and `custom.key` goes where there is `custom`. */
export function parseFields(
  text: string | undefined,
  known: readonly string[] | undefined,
): string[] | undefined {
  if (text === undefined) return undefined;
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => name === '' || (known !== undefined && !isKnown(name, known)));
  if (unknown === undefined) return names;
  throw usageError(
    `There is no field "${unknown}".${didYouMean(unknown, known ?? [])}`,
    `name some of: ${(known ?? []).join(', ')}.`,
  );
}

function isKnown(name: string, known: readonly string[]): boolean {
  return known.includes(name) || (known.includes('custom') && /^custom\../.test(name));
}

/** The fields of Unix milliseconds among the declared ones. */
export function instantsOf(fields: Readonly<Record<string, Field>>): ReadonlySet<string> {
  return new Set(Object.keys(fields).filter((name) => fields[name]?.kind === 'instant'));
}
