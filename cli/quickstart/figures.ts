// What quickstart measured, for people and as JSON.
import type { Data } from '../../db/fields.ts';
import { formatCount } from '../progress.ts';
import type { Demo } from './demo.ts';

/** Some records that went one way, and what it took. */
export interface Measure {
  records: number;
  requests: number;
  seconds: number;
  /** Bytes read, where it is about reading. */
  bytes?: number;
}

export interface ExportMeasure extends Measure {
  path: string;
}

export interface Figures {
  imported: Record<string, Measure>;
  links: Measure;
  ingested: Record<string, number>;
  pages: { v2: Measure; v1: Measure };
  exported: ExportMeasure;
  /** The whole journey. */
  seconds: number;
}

/** Records, requests and seconds of several measures together. */
export function sum(measures: readonly Measure[]): Measure {
  const total = { records: 0, requests: 0, seconds: 0 };
  for (const measure of measures) {
    total.records += measure.records;
    total.requests += measure.requests;
    total.seconds += measure.seconds;
  }
  return total;
}

/** The figures as a table of at most 40 characters, a record type a line. */
export function summaryLines(figures: Figures): string[] {
  const imported = Object.entries(figures.imported);
  return [
    row('', 'rows', 'time', 'rows/s'),
    ...imported.map(([name, measure]) => measured(name, measure)),
    measured('all imported', sum(imported.map(([, measure]) => measure))),
    measured('links', figures.links),
    ...Object.entries(figures.ingested).map(([name, count]) => row(name, formatCount(count), '', '')),
    measured('read by v2', figures.pages.v2),
    measured('read by v1', figures.pages.v1),
    measured('exported', figures.exported),
  ];
}

function measured(label: string, { records, seconds }: { records: number; seconds: number }): string {
  return row(label, formatCount(records), formatTime(seconds), formatCount(perSecond(records, seconds)));
}

function row(label: string, rows: string, seconds: string, rate: string): string {
  return `  ${label.padEnd(13)}${rows.padStart(7)}${seconds.padStart(9)}${rate.padStart(9)}`.trimEnd();
}

/** Rows a second; a time too short to measure counts as a millisecond. */
export function perSecond(records: number, seconds: number): number {
  return Math.round(records / Math.max(seconds, 0.001));
}

/** What was read, page by page. */
export function pagesLine({ pages: { v2, v1 }, exported }: Figures): string {
  const read = (api: string, { requests, bytes = 0 }: Measure): string =>
    `${requests} pages of ${api} (${formatBytes(bytes)})`;
  return `Read ${read('v2', v2)} and ${read('v1', v1)}; the export has ${formatBytes(exported.bytes ?? 0)}.`;
}

/** `0.41 s`, or `5 ms` where it was shorter than a tenth of a second. */
export function formatTime(seconds: number): string {
  return seconds < 0.1 ? `${Math.max(1, Math.round(seconds * 1_000))} ms` : `${seconds.toFixed(2)} s`;
}

/** `1.6 MB`, `310 kB`. */
export function formatBytes(bytes: number): string {
  if (bytes >= 1_000_000) return `${(bytes / 1_000_000).toFixed(1)} MB`;
  return bytes >= 1_000 ? `${Math.round(bytes / 1_000)} kB` : `${bytes} B`;
}

/** Requests that the key of the import made, the one that reads the stages included. */
export function importRequests({ imported, links }: Figures): number {
  return 1 + sum([...Object.values(imported), links]).requests;
}

/** The figures and where everything is, as `-o json` prints them. */
export function figuresJson(figures: Figures, { database, url, docsUrl }: Demo): Data {
  const timed = (measure: Measure): Data => ({
    ...measure,
    seconds: rounded(measure.seconds),
    rows_per_second: perSecond(measure.records, measure.seconds),
  });
  const imported = Object.entries(figures.imported).map(([name, measure]) => [name, timed(measure)]);
  return {
    ...{ database: database.path, url, docs_url: docsUrl },
    organization_id: database.organizationId,
    keys: { v1: database.keys.v1, v2: database.keys.v2 },
    imported: Object.fromEntries(imported),
    links: timed(figures.links),
    ingested: { ...figures.ingested },
    pages: { v2: timed(figures.pages.v2), v1: timed(figures.pages.v1) },
    exported: { ...timed(figures.exported), path: figures.exported.path },
    seconds: rounded(figures.seconds),
  };
}

function rounded(seconds: number): number {
  return Math.round(seconds * 1_000) / 1_000;
}
