// What a run on a large database found out, and how that looks as text.
import type { Machine } from '../report.ts';
import { figureText } from '../terminal.ts';
import type { Answers } from './answers.ts';
import type { PocketBaseAnswer, PocketBaseReport } from './beside-pocketbase.ts';
import type { HandAnswer } from './by-hand.ts';
import type { TableSize } from './inside.ts';
import type { Counts } from './world.ts';
import type { WriteCost } from './writes.ts';

/** A part of the database that the server filled in by itself. */
export interface FilledPart {
  name: string;
  /** From the start of the server, or the end of the part before. */
  seconds: number;
  cpuSeconds: number;
  databaseCpuSeconds: number | null;
}

export interface EngineReport {
  engine: 'crm' | 'crm-postgres';
  version: string;
  seedSeconds: number;
  filled: FilledPart[];
  /** Before and after the parts were filled in. */
  sizesBefore: TableSize[];
  sizes: TableSize[];
  /** Of the search index: what contacts add to it in a database that has only companies and them. */
  searchBytesPerContact: number | null;
  answers: Answers[];
  /** By the flags of the server. */
  writes: { flags: string; costs: WriteCost[] }[];
  byHand: { seconds: number; bytes: number; answers: HandAnswer[] } | null;
  /** The same asked of PocketBase, which is then all that was measured. */
  pocketbase?: PocketBaseReport;
}

export interface LargeReport {
  madeAt: string;
  machine: Machine;
  /** The version of the PostgreSQL server; null where none was asked for. */
  postgres: string | null;
  scale: number;
  counts: Counts;
  engines: EngineReport[];
}

const LABEL_WIDTH = 52;
const MIB = 2 ** 20;

const columns = (label: string, ...cells: readonly string[]) =>
  `  ${label.padEnd(LABEL_WIDTH)}${cells.map((cell) => cell.padStart(10)).join('')}`.trimEnd();

/** A time in milliseconds, with as many digits as mean something. */
export const millisecondsText = (value: number) => value.toFixed(value < 10 ? 2 : 1);

/** How a part was filled in. */
export function filledLine({ name, seconds, cpuSeconds, databaseCpuSeconds }: FilledPart): string {
  const database = databaseCpuSeconds === null ? '' : `, ${databaseCpuSeconds.toFixed(1)} s of PostgreSQL's`;
  return `  ${name}: filled in after ${seconds.toFixed(1)} s, ${cpuSeconds.toFixed(1)} s of CPU${database}`;
}

/** All tables that take a hundredth of the database or more. */
export function sizeLines(sizes: readonly TableSize[], { contacts }: Counts): string[] {
  const all = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  const line = (name: string, bytes: number) =>
    columns(name, `${(bytes / MIB).toFixed(1)} MiB`, `${Math.round(bytes / contacts)} B`);
  const shown = sizes.filter(({ bytes }) => bytes > all / 100);
  return [
    columns('table, with its indexes', 'size', 'a contact'),
    ...shown.map(({ name, bytes }) => line(name, bytes)),
    line('all', all),
  ];
}

export const ANSWERS_HEADER = columns('', 'p50 ms', 'p99 ms', 'CPU µs', 'PG µs', 'items', 'early');

/** What a question came to. */
export function answersLine(answers: Answers): string {
  const { label, refused, p50, p99, cpuMicros, databaseCpuMicros, items, endedEarly } = answers;
  if (refused !== null) return columns(label, `  refused: ${refused}`);
  return columns(
    label,
    ...[millisecondsText(p50), millisecondsText(p99), figureText(cpuMicros)],
    databaseCpuMicros === null ? '' : figureText(databaseCpuMicros),
    ...[items.toFixed(1), String(endedEarly)],
  );
}

export const WRITES_HEADER = columns(
  '',
  ...['CPU µs', 'with index', 'PG µs', 'per s', 'p50 ms', 'p99 ms', 'behind ms'],
);

/** What a kind of write came to. */
export function writeLine(cost: WriteCost): string {
  return columns(
    cost.label,
    ...[figureText(cost.cpuMicros), figureText(cost.cpuMicrosAfter)],
    cost.databaseCpuMicros === null ? '' : figureText(cost.databaseCpuMicros),
    Math.round(cost.perSecond).toLocaleString('en'),
    ...[millisecondsText(cost.p50), millisecondsText(cost.p99), Math.round(cost.indexedAfter).toString()],
  );
}

/** What a question by hand came to. */
export function handLine({ besides, how, p50, p99 }: HandAnswer): string {
  return columns(`${besides}: ${how}`, millisecondsText(p50), millisecondsText(p99));
}

export const POCKETBASE_HEADER = columns(
  '',
  'crm p50',
  'p99',
  'CPU µs',
  'items',
  'PB p50',
  'p99',
  'CPU µs',
  'items',
);

/** What a question came to on both servers. */
export function pocketBaseLine({ label, crm, pocketbase }: PocketBaseAnswer): string {
  const cells = [crm, pocketbase].flatMap(({ p50, p99, cpuMicros, items }) => [
    ...[millisecondsText(p50), millisecondsText(p99), figureText(cpuMicros), items.toFixed(1)],
  ]);
  return columns(label, ...cells);
}
