// The first pass over an input: its headers, number of rows, evidence from its columns, and a digest of its content.
import { type Stats, statSync } from 'node:fs';
import { CliError, usageError } from '../../errors.ts';
import { inputChunks, inputName, unreadable } from '../../input/files.ts';
import { shellWord } from '../../terminal/text.ts';
import type { Format, SourceRow } from '../row.ts';
import { type ColumnEvidence, Evidence } from './column-evidence.ts';
import { formatOfName, type InputForm, openSource, type RowSource } from './source.ts';

/** What is known about the input before its plan. */
export interface Survey {
  name: string;
  headers: readonly string[];
  evidence: ColumnEvidence;
  /** Whether only the first part was read, as with standard input. */
  isPartial: boolean;
  /** Whether more headers may appear, as in NDJSON from standard input. */
  isOpen: boolean;
}

export interface SurveyedInput {
  survey: Survey;
  format: Format;
  /** Headers of CSV, for the errors file. */
  headers: readonly string[] | null;
  /** Null if the input can be read only once. */
  digest: string | null;
  rowCount: number | null;
  /** How many vCards were groups of contacts so far, which are left out. */
  groups(): number;
  /** All rows; call it only once. */
  rows(): Promise<AsyncIterable<SourceRow>>;
  /** Throws a CliError if the file has changed since the survey. */
  checkUnchanged(): void;
}

const HEADERS_MAX = 10_000;
const PEEKED_ROWS = 100;

/** Surveys a complete file, or the first part of an input that can be read only once. */
export function surveyInput(input: string, { format, encoding }: InputForm): Promise<SurveyedInput> {
  if (input === '-') return surveyStream(input, inputName(input), { format, encoding });
  const stats = statOf(input, format);
  const form = { format: format ?? formatOfName(input), encoding };
  return stats.isFile() ? surveyFile(input, form, stats) : surveyStream(input, input, form);
}

async function surveyFile(path: string, form: InputForm, stats: Stats): Promise<SurveyedInput> {
  const hasher = new Bun.CryptoHasher('sha256');
  // The same bytes in another encoding are different content.
  hasher.update(form.encoding ?? '');
  async function* hashed(): AsyncGenerator<Uint8Array> {
    for await (const chunk of inputChunks(path)) {
      hasher.update(chunk);
      yield chunk;
    }
  }
  const source = await openSource(hashed(), path, form);
  const observer = observe(path, source);
  let rowCount = 0;
  for await (const row of source.rows) {
    observer.take(row);
    rowCount += 1;
  }
  return {
    survey: observer.survey(false),
    format: source.format,
    headers: source.headers,
    digest: hasher.digest('hex'),
    rowCount,
    groups: source.groups ?? (() => 0),
    rows: async () => (await openSource(inputChunks(path), path, { ...form, format: source.format })).rows,
    checkUnchanged: () => {
      const now = statOf(path);
      if (now.size === stats.size && now.mtimeMs === stats.mtimeMs) return;
      throw new CliError(`${path} changed while it was read.`, {
        nextSteps: ['compare the records with the file. Changed rows may be missing.'],
      });
    },
  };
}

async function surveyStream(input: string, name: string, form: InputForm): Promise<SurveyedInput> {
  const source = await openSource(inputChunks(input), name, form);
  const observer = observe(name, source);
  const peeked: SourceRow[] = [];
  while (peeked.length < PEEKED_ROWS) {
    const { value, done } = await source.rows.next();
    if (done) break;
    observer.take(value);
    peeked.push(value);
  }
  const survey = observer.survey(true);
  async function* rows(): AsyncGenerator<SourceRow> {
    yield* peeked.splice(0);
    yield* source.rows;
  }
  return {
    survey,
    format: source.format,
    headers: source.headers,
    digest: null,
    rowCount: null,
    groups: source.groups ?? (() => 0),
    rows: async () => rows(),
    checkUnchanged: () => {},
  };
}

/** Collects what the plan needs, row by row. */
function observe(name: string, source: RowSource) {
  const headers = new Set(source.headers);
  const evidence = new Evidence();
  return {
    take(row: SourceRow): void {
      if (row.fault !== null) return;
      evidence.takeRow(row.entries);
      if (source.headers === null) for (const [header] of row.entries) headers.add(header);
      if (headers.size <= HEADERS_MAX) return;
      throw new CliError(`${name} has more than ${HEADERS_MAX} different field names.`, {
        nextSteps: ['check that names and values are not swapped.'],
      });
    },
    survey(isPartial: boolean): Survey {
      refuseUnnamed(source, name);
      const isOpen = isPartial && source.headers === null;
      return { name, headers: [...headers], evidence, isPartial, isOpen };
    },
  };
}

function refuseUnnamed({ unnamed = new Set() }: RowSource, name: string): void {
  if (unnamed.size === 0) return;
  const columns = [...unnamed].sort((one, other) => one - other).join(', ');
  throw usageError(
    `${name} has values in ${unnamed.size === 1 ? 'a column' : `${unnamed.size} columns`} without a header: ${columns}.`,
    'add a header, or remove the values.',
  );
}

function statOf(path: string, format: Format | null = null): Stats {
  try {
    const stats = statSync(path);
    if (!stats.isDirectory()) return stats;
  } catch (cause) {
    throw unreadable(path, cause);
  }
  throw new CliError(`${path} is a folder.`, {
    nextSteps: [format === 'lines' ? 'use a file.' : `crm import all ${shellWord(path)}`],
  });
}
