// README's tables of measured figures, made from the JSON file of a run.
import type { OperationReport, Report } from './report.ts';
import type { BareName, ServerName } from './servers.ts';
import { figureText, ratioText } from './terminal.ts';

const START = '<!-- bench: made by test/bench/readme.ts from the JSON of a run -->';
const END = '<!-- /bench -->';

const BARE: readonly BareName[] = ['bare', 'same-tables'];
const SERVERS = ['crm', ...BARE] as const;
const EACH = 'crm / bare / same tables';
const LATENCY = 'crm p50 / p99, ms';
const NOTHING = '–';

/** README with the tables of a run between its two marks. */
export function withTables(readme: string, report: Report): string {
  const [start, end] = [readme.indexOf(START), readme.indexOf(END)];
  if (start < 0 || end < start) throw new Error(`the marks are missing: ${START} … ${END}`);
  return `${readme.slice(0, start)}${START}\n\n${tables(report)}\n\n${readme.slice(end)}`;
}

/** What stands between the marks. */
export function tables({ operations, measurements, machine, options, builds }: Report): string {
  const isCompared = ({ ratios }: OperationReport) => BARE.some((name) => ratios[name] !== undefined);
  const { rounds, seconds, contacts, connections } = options;
  const where = `${machine.cores} cores (${machine.cpu}, Linux ${machine.kernel}), ${builds.crm}`;
  const how = `${contacts.toLocaleString('en')} contacts, ${connections} connections, ${rounds} rounds of ${seconds} s`;
  return [
    `On ${where}; ${how}; medians, ratios with min–max of the rounds:`,
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

function comparedRow(operation: OperationReport): string[] {
  const { label, ratios } = operation;
  const ratio = (name: BareName) => (ratios[name] === undefined ? NOTHING : ratioText(ratios[name].cpu));
  const each = (text: typeof cpuOf) => SERVERS.map((name) => text(operation, name)).join(' / ');
  return [label, each(cpuOf), ...BARE.map(ratio), each(rateOf), latencyOf(operation)];
}

function aloneRow(operation: OperationReport): string[] {
  return [operation.label, cpuOf(operation, 'crm'), rateOf(operation, 'crm'), latencyOf(operation)];
}

function cpuOf({ servers }: OperationReport, name: ServerName): string {
  const figures = servers[name];
  return figures === undefined ? NOTHING : figureText(figures.cpuMicros.median);
}

function rateOf({ servers }: OperationReport, name: ServerName): string {
  const figures = servers[name];
  return figures === undefined ? NOTHING : Math.round(figures.perSecond.median).toLocaleString('en');
}

function latencyOf({ servers }: OperationReport): string {
  const { p50Milliseconds: p50, p99Milliseconds: p99 } = servers.crm ?? {};
  return p50 == null || p99 == null ? NOTHING : `${p50.toFixed(1)} / ${p99.toFixed(1)}`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n');
}
