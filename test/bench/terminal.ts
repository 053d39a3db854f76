// How figures look on a terminal: a line a server, with a bar of its CPU time; plain text without colour or in a pipe.
import type { Measurement } from './measurements.ts';
import type { OperationReport } from './report.ts';
import { isBuild, type ServerName } from './servers.ts';
import type { Spread } from './statistics.ts';

const BAR_WIDTH = 16;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
const ORDER: readonly ServerName[] = [
  'crm',
  'before',
  'crm-unlogged',
  'crm-readers',
  'bare',
  'same-tables',
  'crm-postgres',
  'bare-postgres',
];
const NAME_WIDTH = 13;
const COLUMNS = [
  'CPU µs',
  'later µs',
  'PG µs',
  'per second',
  'p50 ms',
  'p99 ms',
  'CPU ÷ crm (min–max)',
  'with later',
  'crm/s ÷ its/s (min–max)',
];
const WIDTHS = [9, 9, 9, 12, 8, 8, 22, 20, 25];

export interface TerminalStyle {
  /** Whether bars and colours are drawn. */
  isTerminal: boolean;
}

const bold = (text: string, { isTerminal }: TerminalStyle) => (isTerminal ? `\x1b[1m${text}\x1b[22m` : text);

/** The names of the columns. */
export function headerLine(style: TerminalStyle): string {
  return bold(
    `${''.padEnd(NAME_WIDTH + 2)}${COLUMNS.map((name, index) => name.padStart(WIDTHS[index] ?? 0)).join('')}`,
    style,
  );
}

/** An operation: its name, and a line for each server. */
export function operationLines({ label, servers, ratios }: OperationReport, style: TerminalStyle): string[] {
  const most = Math.max(...Object.values(servers).map(({ cpuMicros }) => cpuMicros.median));
  const lines = ORDER.flatMap((name) => {
    const figures = servers[name];
    if (figures === undefined) return [];
    const ratio = name === 'crm' ? undefined : ratios[name];
    const cells = [
      figureText(figures.cpuMicros.median),
      figureText(figures.laterCpuMicros.median),
      figures.databaseCpuMicros === null ? '' : figureText(figures.databaseCpuMicros.median),
      Math.round(figures.perSecond.median).toLocaleString('en'),
      figures.p50Milliseconds?.toFixed(2) ?? '',
      figures.p99Milliseconds?.toFixed(2) ?? '',
      ratio === undefined ? '' : ratioText(ratio.cpu),
      ratio === undefined ? '' : ratioText(ratio.allCpu),
      ratio === undefined ? '' : ratioText(ratio.rate),
    ];
    const text = cells.map((cell, index) => cell.padStart(WIDTHS[index] ?? 0)).join('');
    const bar = style.isTerminal ? `  ${barOf(figures.cpuMicros.median / most)}` : '';
    return [`  ${name.padEnd(NAME_WIDTH)}${text}${bar}`.trimEnd()];
  });
  return [bold(label, style), ...lines];
}

/** A measurement: its name, and a line for each build. */
export function measurementLines({ label, unit, servers }: Measurement, style: TerminalStyle): string[] {
  const lines = ORDER.flatMap((name) => {
    const value = isBuild(name) ? servers[name] : undefined;
    return value === undefined
      ? []
      : [`  ${name.padEnd(NAME_WIDTH)}${figureText(value.median).padStart(9)} ${unit}`];
  });
  return [bold(label, style), ...lines];
}

/** A figure with as many digits as mean something. */
export function figureText(value: number): string {
  return value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString('en');
}

/** A ratio with the least and the greatest of the rounds. */
export function ratioText({ median, min, max }: Spread): string {
  return `${median.toFixed(2)} (${min.toFixed(2)}–${max.toFixed(2)})`;
}

function barOf(share: number): string {
  const eighths = Math.round(share * BAR_WIDTH * 8);
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
}
