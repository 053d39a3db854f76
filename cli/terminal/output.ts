// Prints data to stdout in the requested format: table, json, ndjson or csv.
import type { Field } from '../../db/model/fields.ts';
import type { Data } from '../../db/model/json.ts';
import { usageError } from '../errors.ts';
import { didYouMean } from '../nearest.ts';
import { csvRow } from './csv.ts';
import { type Output, pagedOutput } from './pager.ts';
import { stdout, writeOut } from './streams.ts';
import { renderRecord, Table, type TableLayout, valueAt } from './table.ts';
import { neutralize } from './text.ts';
import { terminalWidth } from './wrap.ts';

export const OUTPUT_FORMATS = ['table', 'json', 'ndjson', 'csv'] as const;
export type OutputFormat = (typeof OUTPUT_FORMATS)[number];

/** The note of a dry run that prints the record as it would be. */
export const NOTHING_WRITTEN = 'Dry run: nothing was written.';

/** The requested output; part of every command's settings. */
export interface OutputSettings {
  readonly output: OutputFormat;
  /** Whether a flag, the environment or a profile sets the format. */
  readonly isOutputGiven: boolean;
  readonly isColored: boolean;
  /** Whether what is longer than the screen may open in a pager. */
  readonly isPagerWanted?: boolean;
}

type PrinterSettings = Pick<OutputSettings, 'output' | 'isColored' | 'isPagerWanted'>;

/** How the records of a command look. */
export interface ColumnLayout extends TableLayout {
  /** Fields that a table shows. */
  columns: readonly string[];
  /** Fields of CSV output; by default those of the first record. */
  allFields: readonly string[];
  /** `--fields`: only these, in this order, in every format. */
  fields?: readonly string[] | undefined;
  /** Whether to escape CSV cells that a spreadsheet would run as formulas. */
  isExcelSafe?: boolean;
}

/** Writes records to stdout as they arrive. */
export interface Printer {
  print(records: readonly Data[]): Promise<void>;
  /** Completes the output; always required, even without records. */
  end(): Promise<void>;
}

/** Turns records into text, page by page. */
export interface Encoder {
  page(records: readonly Data[], isFirst: boolean): string;
  end(isEmpty: boolean): string;
}

/** A printer in the configured format; what is longer than the screen goes through a pager. */
export function createPrinter(
  config: PrinterSettings,
  look: ColumnLayout,
  output: Output = pagedOutput(config),
): Printer {
  const { isColored } = config;
  const encoder = createEncoder(config.output, look, { isColored, isIndented: stdout.isTTY });
  // A table contains its own escape sequences, but never those of a value.
  const isSafe = config.output === 'table' || !stdout.isTTY;
  const write = (text: string): Promise<void> => output.write(isSafe ? text : neutralize(text));
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
      await output.end();
    },
  };
}

/** Prints one record: one field per line as a table, one object as JSON. */
export async function printRecord(config: PrinterSettings, record: Data, look: ColumnLayout): Promise<void> {
  if (config.output === 'table') {
    const fields = look.fields ?? Object.keys(record);
    const columns = terminalWidth(stdout);
    await writeOut(renderRecord(record, { ...look, fields, columns, isColored: config.isColored }));
  } else if (config.output === 'json') {
    await writeOut(`${jsonText(pick(record, look.fields), 2)}\n`);
  } else {
    await printRecords(config, [record], look);
  }
}

/** Prints all records of a short list. */
export async function printRecords(
  config: PrinterSettings,
  records: readonly Data[],
  look: ColumnLayout,
): Promise<void> {
  const printer = createPrinter(config, look);
  await printer.print(records);
  await printer.end();
}

/** Prints the result of a command as one object if JSON is requested; text for people goes to stderr. */
export async function printSummaryJson(
  config: Pick<OutputSettings, 'output' | 'isOutputGiven'>,
  figures: object,
): Promise<void> {
  if (!config.isOutputGiven || (config.output !== 'json' && config.output !== 'ndjson')) return;
  await writeOut(`${jsonText(figures, config.output === 'json' ? 2 : undefined)}\n`);
}

/** The encoder of a format. */
export function createEncoder(
  format: OutputFormat,
  look: ColumnLayout,
  { isColored = false, isIndented = false } = {},
): Encoder {
  switch (format) {
    case 'table':
      return tableEncoder(look, isColored);
    case 'csv':
      return csvEncoder(look);
    case 'json':
      return {
        page: (records, isFirst) =>
          (isFirst ? '[\n' : ',\n') +
          records.map((record) => listedJson(pick(record, look.fields), isIndented)).join(',\n'),
        end: (isEmpty) => (isEmpty ? '[]\n' : '\n]\n'),
      };
    case 'ndjson':
      return {
        page: (records) => records.map((record) => `${jsonText(pick(record, look.fields))}\n`).join(''),
        end: () => '',
      };
  }
}

// A record within an array.
function listedJson(record: Data, isIndented: boolean): string {
  return isIndented ? jsonText(record, 2).replace(/^/gm, '  ') : jsonText(record);
}

function tableEncoder(look: ColumnLayout, isColored: boolean): Encoder {
  const table = new Table({
    columns: look.fields ?? look.columns,
    ...(look.instants !== undefined && { instants: look.instants }),
    ...(look.sizes !== undefined && { sizes: look.sizes }),
    width: terminalWidth(stdout),
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

// In the given order; null for fields that the record does not have.
function pick(record: Data, fields: readonly string[] | undefined): Data {
  if (fields === undefined) return record;
  return Object.fromEntries(fields.map((name) => [name, valueAt(record, name) ?? null]));
}

/** JSON without characters that a terminal would interpret. */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(
    /[\u007f-\u009f\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The names in `--fields`, checked against `known`; `custom.key` is allowed if `custom` is known. */
export function parseFields(
  text: string | undefined,
  known: readonly string[] | undefined,
): string[] | undefined {
  if (text === undefined) return undefined;
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => name === '' || (known !== undefined && !isKnown(name, known)));
  if (unknown === undefined) return names;
  throw usageError(
    `Unknown field "${unknown}".${didYouMean(unknown, known ?? [])}`,
    `use one or more of: ${(known ?? []).join(', ')}.`,
  );
}

function isKnown(name: string, known: readonly string[]): boolean {
  return known.includes(name) || (known.includes('custom') && /^custom\../.test(name));
}

/** The declared fields in Unix milliseconds. */
export function instantsOf(fields: Readonly<Record<string, Field>>): ReadonlySet<string> {
  return new Set(Object.keys(fields).filter((name) => fields[name]?.kind === 'instant'));
}
