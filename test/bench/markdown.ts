// README's tables of measured figures, made from the JSON file of a run.
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
const EACH = 'crm / bare / same tables';
const POSTGRES = ['crm-postgres', 'bare-postgres'] as const;
const EACH_POSTGRES = 'crm / bare';
const WITH_READERS = ['crm', 'crm-readers'] as const;
const EACH_WAY = 'without / with';
const LATENCY = 'crm p50 / p99, ms';
const NOTHING = '–';

/** README with the tables of a run, each between its two marks; those of servers that it had not stay as they are. */
export function withTables(readme: string, report: Report): string {
  let text = readme;
  for (const { name, server, tables: made } of SECTIONS) {
    if (report.builds[server] === undefined) continue;
    const [start, end] = placeOf(text, name);
    text = `${text.slice(0, start)}\n\n${made(report)}\n\n${text.slice(end)}`;
  }
  return text;
}

/** What stands in README between the marks of that name. */
export function between(readme: string, name: string): string {
  return readme.slice(...placeOf(readme, name));
}

function placeOf(readme: string, name: string): [start: number, end: number] {
  const opening = `<!-- ${name}: made by test/bench/readme.ts from the JSON of a run -->`;
  const closing = `<!-- /${name} -->`;
  const [start, end] = [readme.indexOf(opening), readme.indexOf(closing)];
  if (start < 0 || end < start) throw new Error(`the marks are missing: ${opening} … ${closing}`);
  return [start + opening.length, end];
}

/** The tables of SQLite. */
export function tables(report: Report): string {
  const { operations, measurements } = report;
  const isCompared = ({ ratios }: OperationReport) => BARE.some((name) => ratios[name] !== undefined);
  return [
    circumstances(report, 'crm'),
    table(
      ['', `CPU µs: ${EACH}`, 'bare ÷ crm', 'same tables ÷ crm', `a second: ${EACH}`, LATENCY],
      operations.filter(isCompared).map(comparedRow),
    ),
    table(
      ['crm alone', 'CPU µs', 'a second', LATENCY],
      operations.filter((operation) => !isCompared(operation)).map(aloneRow),
    ),
    table(
      ['once', 'crm'],
      measurements.map(({ label, unit, servers }) => [
        label,
        `${figureText(servers.crm?.median ?? 0)} ${unit}`,
      ]),
    ),
  ].join('\n\n');
}

/** The tables of a server with threads that answer beside one without. */
export function readersTables(report: Report): string {
  const { operations, measurements, options } = report;
  const each = (text: (name: (typeof WITH_READERS)[number]) => string) => WITH_READERS.map(text).join(' / ');
  const rows = operations.map((operation) => {
    const { rate } = operation.ratios['crm-readers'] ?? {};
    return [
      operation.label,
      each((name) => rateOf(operation, name)),
      rate === undefined
        ? NOTHING
        : ratioText({ median: 1 / rate.median, min: 1 / rate.max, max: 1 / rate.min }),
      each((name) => cpuOf(operation, name)),
      latencyOf(operation, 'crm'),
      latencyOf(operation, 'crm-readers'),
    ];
  });
  const once = measurements.map(({ label, unit, servers }) => [
    label,
    `${each((name) => figureText(servers[name]?.median ?? 0))} ${unit}`,
  ]);
  const head = [
    `with \`--readers ${options.readers}\``,
    `a second: ${EACH_WAY}`,
    'with ÷ without',
    `CPU µs: ${EACH_WAY}`,
    'p50 / p99 without, ms',
    'with, ms',
  ];
  return [circumstances(report, 'crm-readers'), table(head, rows), table(['once', EACH_WAY], once)].join(
    '\n\n',
  );
}

/** The table of PostgreSQL. */
export function postgresTables(report: Report): string {
  const rows = report.operations.map((operation) => {
    const bare = operation.ratios['bare-postgres'];
    const each = (text: typeof cpuOf) => POSTGRES.map((name) => text(operation, name)).join(' / ');
    return [
      operation.label,
      each(cpuOf),
      bare === undefined ? NOTHING : ratioText(bare.cpu),
      cpuOf(operation, 'crm'),
      each(databaseCpuOf),
      each(rateOf),
      latencyOf(operation, 'crm-postgres'),
    ];
  });
  const columns = [
    `CPU µs: ${EACH_POSTGRES}`,
    'bare ÷ crm',
    'on SQLite, CPU µs',
    `PostgreSQL's own CPU µs: ${EACH_POSTGRES}`,
    `a second: ${EACH_POSTGRES}`,
    LATENCY,
  ];
  return [circumstances(report, 'crm-postgres'), table(['on PostgreSQL', ...columns], rows)].join('\n\n');
}

function circumstances({ machine, options, builds, postgres }: Report, server: BuildName): string {
  const { rounds, seconds, contacts, connections } = options;
  const beside = server !== 'crm-postgres' ? '' : `, PostgreSQL ${postgres}`;
  const where = `${machine.cores} cores (${machine.cpu}, Linux ${machine.kernel}), ${builds[server]}${beside}`;
  const how = `${contacts.toLocaleString('en')} contacts, ${connections} connections, ${rounds} rounds of ${seconds} s`;
  return `On ${where}; ${how}; medians, ratios with min–max of the rounds:`;
}

function comparedRow(operation: OperationReport): string[] {
  const { label, ratios } = operation;
  const ratio = (name: BareName) => (ratios[name] === undefined ? NOTHING : ratioText(ratios[name].cpu));
  const each = (text: typeof cpuOf) => SERVERS.map((name) => text(operation, name)).join(' / ');
  return [label, each(cpuOf), ...BARE.map(ratio), each(rateOf), latencyOf(operation, 'crm')];
}

function aloneRow(operation: OperationReport): string[] {
  return [operation.label, cpuOf(operation, 'crm'), rateOf(operation, 'crm'), latencyOf(operation, 'crm')];
}

function cpuOf({ servers }: OperationReport, name: ServerName): string {
  const figures = servers[name];
  return figures === undefined ? NOTHING : figureText(figures.cpuMicros.median);
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

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}
