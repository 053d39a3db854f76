// What quickstart measured, and how it is printed.
import { counted, formatBytes, formatCount, formatTime } from '../terminal/format.ts';

/** How many records were processed, and the time it took. */
export interface Measure {
  records: number;
  requests: number;
  seconds: number;
  /** Bytes read, for reading. */
  bytes?: number;
}

export interface ExportMeasure extends Measure {
  path: string;
}

export interface QuickstartStats {
  imported: Record<string, Measure>;
  links: Measure;
  /** All requests of the import's key. */
  importRequests: number;
  ingested: Record<string, number>;
  pages: { v2: Measure; v1: Measure };
  exported: ExportMeasure;
  /** The whole journey. */
  seconds: number;
}

/** Records, requests and seconds of several measures together. */
function sum(measures: readonly Measure[]): Measure {
  const total = { records: 0, requests: 0, seconds: 0 };
  for (const measure of measures) {
    total.records += measure.records;
    total.requests += measure.requests;
    total.seconds += measure.seconds;
  }
  return total;
}

/** The figures as a table of at most 40 characters, one line per resource. */
export function summaryLines(stats: QuickstartStats): string[] {
  const imported = Object.entries(stats.imported);
  return [
    row('', 'rows', 'time', 'rows/s'),
    ...imported.map(([name, measure]) => measured(name, measure)),
    measured('all imported', sum(imported.map(([, measure]) => measure))),
    measured('links', stats.links),
    ...Object.entries(stats.ingested).map(([name, count]) => row(name, formatCount(count), '', '')),
    measured('read with v2', stats.pages.v2),
    measured('read with v1', stats.pages.v1),
    measured('exported', stats.exported),
  ];
}

function measured(label: string, { records, seconds }: { records: number; seconds: number }): string {
  return row(label, formatCount(records), formatTime(seconds), formatCount(perSecond(records, seconds)));
}

function row(label: string, rows: string, seconds: string, rate: string): string {
  return `  ${label.padEnd(13)}${rows.padStart(7)}${seconds.padStart(9)}${rate.padStart(9)}`.trimEnd();
}

/** Rows per second; a time too short to measure counts as a millisecond. */
export function perSecond(records: number, seconds: number): number {
  return Math.round(records / Math.max(seconds, 0.001));
}

/** What was read, page by page. */
export function pagesLine({ pages: { v2, v1 }, exported }: QuickstartStats): string {
  const read = (api: string, { requests, bytes = 0 }: Measure): string =>
    `${counted(requests, 'page')} from ${api} (${formatBytes(bytes)})`;
  return `Read ${read('v2', v2)} and ${read('v1', v1)}; exported ${formatBytes(exported.bytes ?? 0)}.`;
}
