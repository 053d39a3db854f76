// The manual's tables of measured figures, made from the JSON file of a run.
import type { OperationReport, Report } from './report.ts';
import type { BareName, BuildName, ServerName } from './servers.ts';
import { figureText, ratioText } from './terminal.ts';

/** Tables of a run, between their marks; each is made of the runs that have its server. */
interface Section {
  name: string;
  server: BuildName;
  tables: (report: Report) => string;
}

const SECTIONS: readonly Section[] = [
  { name: 'bench', server: 'crm', tables },
  { name: 'bench-readers', server: 'crm-readers', tables: readersTables },
  { name: 'bench-postgres', server: 'crm-postgres', tables: postgresTables },
];

const BARE: readonly BareName[] = ['bare', 'same-tables'];
const SERVERS = ['crm', ...BARE] as const;
const SERVERS_SHOWN = ['crm', 'bare', 'same tables'];
const POSTGRES = ['crm-postgres', 'bare-postgres'] as const;
const WITH_READERS = ['crm', 'crm-readers'] as const;
const EACH_WAY = ['without', 'with'];
const LATENCY = 'p50 / p99, ms';
const NOTHING = '–';

/** The page with the tables of a run, each between its two marks; those of servers that it had not stay as they are. */
export function withTables(page: string, report: Report): string {
  let text = page;
  for (const { name, server, tables: made } of SECTIONS) {
    if (report.builds[server] === undefined) continue;
    text = withSection(text, name, made(report));
  }
  return text;
}

/** The page with other text between the marks of that name. */
export function withSection(page: string, name: string, made: string): string {
  const [start, end] = placeOf(page, name);
  return `${page.slice(0, start)}\n\n${made}\n\n${page.slice(end)}`;
}

/** What stands on the page between the marks of that name. */
export function between(page: string, name: string): string {
  return page.slice(...placeOf(page, name));
}

function placeOf(page: string, name: string): [start: number, end: number] {
  const opening = `<!-- ${name}: made by test/bench/readme.ts from the JSON of a run -->`;
  const closing = `<!-- /${name} -->`;
  const [start, end] = [page.indexOf(opening), page.indexOf(closing)];
  if (start < 0 || end < start) throw new Error(`the marks are missing: ${opening} … ${closing}`);
  return [start + opening.length, end];
}

/** The tables of SQLite. */
export function tables(report: Report): string {
  const { operations, measurements, following } = report;
  const isCompared = ({ ratios }: OperationReport) => BARE.some((name) => ratios[name] !== undefined);
  const compared = operations.filter(isCompared);
  const ratioOf = ({ ratios }: OperationReport, name: BareName) =>
    ratios[name] === undefined ? NOTHING : ratioText(ratios[name].cpu);
  return [
    circumstances(report, 'crm'),
    table(
      ['CPU µs', ...SERVERS_SHOWN, 'crm, later'],
      compared.map((operation) => [
        operation.label,
        ...SERVERS.map((name) => cpuOf(operation, name)),
        laterOf(operation, 'crm'),
      ]),
    ),
    table(
      ['CPU time, ratio', 'bare ÷ crm', 'same tables ÷ crm'],
      compared.map((operation) => [operation.label, ...BARE.map((name) => ratioOf(operation, name))]),
    ),
    table(
      ['per second', ...SERVERS_SHOWN, `crm ${LATENCY}`],
      compared.map((operation) => [
        operation.label,
        ...SERVERS.map((name) => rateOf(operation, name)),
        latencyOf(operation, 'crm'),
      ]),
    ),
    table(
      ['crm alone', 'CPU µs', 'later', 'per second', LATENCY],
      rowsOf(
        operations.filter((operation) => !isCompared(operation)),
        ['crm'],
        [cpuOf, laterOf, rateOf, latencyOf],
      ),
    ),
    table(
      ['CPU µs', 'crm', '`--changes-days 0`'],
      rowsOf(
        operations.filter(({ servers }) => servers['crm-unlogged'] !== undefined),
        ['crm', 'crm-unlogged'],
        [cpuOf],
      ),
    ),
    table(
      ['once', 'crm'],
      [...measurements, ...following].map(({ label, unit, servers }) => [
        label,
        `${figureText(servers.crm?.median ?? 0)} ${unit}`,
      ]),
    ),
  ].join('\n\n');
}

/** The tables of a server with threads that answer beside one without. */
export function readersTables(report: Report): string {
  const { operations, measurements, options } = report;
  const gainOf = ({ ratios }: OperationReport) => {
    const { rate } = ratios['crm-readers'] ?? {};
    return rate === undefined
      ? NOTHING
      : ratioText({ median: 1 / rate.median, min: 1 / rate.max, max: 1 / rate.min });
  };
  return [
    circumstances(report, 'crm-readers'),
    table(
      ['per second', 'without', `with \`--readers ${options.readers}\``, 'with ÷ without'],
      operations.map((operation) => [
        operation.label,
        ...WITH_READERS.map((name) => rateOf(operation, name)),
        gainOf(operation),
      ]),
    ),
    table(['CPU µs', ...EACH_WAY], rowsOf(operations, WITH_READERS, [cpuOf])),
    table([LATENCY, ...EACH_WAY], rowsOf(operations, WITH_READERS, [latencyOf])),
    table(
      ['once', EACH_WAY.join(' / ')],
      measurements.map(({ label, unit, servers }) => [
        label,
        `${WITH_READERS.map((name) => figureText(servers[name]?.median ?? 0)).join(' / ')} ${unit}`,
      ]),
    ),
  ].join('\n\n');
}

/** The tables of PostgreSQL. */
export function postgresTables(report: Report): string {
  const { operations } = report;
  const ratioOf = ({ ratios }: OperationReport) => {
    const bare = ratios['bare-postgres'];
    return bare === undefined ? NOTHING : ratioText(bare.cpu);
  };
  return [
    circumstances(report, 'crm-postgres'),
    table(
      ['CPU µs', 'crm', 'bare', 'bare ÷ crm', 'crm on SQLite'],
      operations.map((operation) => [
        operation.label,
        ...POSTGRES.map((name) => cpuOf(operation, name)),
        ratioOf(operation),
        cpuOf(operation, 'crm'),
      ]),
    ),
    table(["PostgreSQL's own CPU µs", 'for crm', 'for bare'], rowsOf(operations, POSTGRES, [databaseCpuOf])),
    table(
      ['per second', 'crm', 'bare', `crm ${LATENCY}`],
      operations.map((operation) => [
        operation.label,
        ...POSTGRES.map((name) => rateOf(operation, name)),
        latencyOf(operation, 'crm-postgres'),
      ]),
    ),
  ].join('\n\n');
}

function circumstances({ machine, options, builds, postgres }: Report, server: BuildName): string {
  const { rounds, seconds, contacts, connections } = options;
  const beside = server !== 'crm-postgres' ? '' : `, PostgreSQL ${postgres}`;
  const where = `${machine.cores} cores (${machine.cpu}, Linux ${machine.kernel}), ${builds[server]}${beside}`;
  const how = `${contacts.toLocaleString('en')} contacts, ${connections} connections, ${rounds} rounds of ${seconds} s`;
  return `On ${where}. ${how}. Medians of the rounds; behind a ratio, its lowest and highest round.`;
}

type Cell = (operation: OperationReport, name: ServerName) => string;

// A row an operation: its name, then each cell of each server.
function rowsOf(
  operations: readonly OperationReport[],
  servers: readonly ServerName[],
  cells: readonly Cell[],
): string[][] {
  return operations.map((operation) => [
    operation.label,
    ...servers.flatMap((name) => cells.map((cell) => cell(operation, name))),
  ]);
}

function cpuOf({ servers }: OperationReport, name: ServerName): string {
  const figures = servers[name];
  return figures === undefined ? NOTHING : figureText(figures.cpuMicros.median);
}

function laterOf({ servers }: OperationReport, name: ServerName): string {
  const later = servers[name]?.laterCpuMicros.median;
  return later === undefined || later < 0.05 ? NOTHING : figureText(later);
}

function databaseCpuOf({ servers }: OperationReport, name: ServerName): string {
  const spread = servers[name]?.databaseCpuMicros ?? undefined;
  return spread === undefined ? NOTHING : figureText(spread.median);
}

function rateOf({ servers }: OperationReport, name: ServerName): string {
  const figures = servers[name];
  return figures === undefined ? NOTHING : Math.round(figures.perSecond.median).toLocaleString('en');
}

function latencyOf({ servers }: OperationReport, name: ServerName): string {
  const { p50Milliseconds: p50, p99Milliseconds: p99 } = servers[name] ?? {};
  return p50 == null || p99 == null ? NOTHING : `${p50.toFixed(1)} / ${p99.toFixed(1)}`;
}

/** A table of Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}
