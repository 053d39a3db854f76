// What a run found out, as the JSON file has it: every figure by operation and server, and the ratios that count.
import { cpus, release, totalmem } from 'node:os';
import type { Measurement } from './measurements.ts';
import type { Operation, RoundResult } from './operation.ts';
import type { Options } from './options.ts';
import type { Rounds } from './rounds.ts';
import { type BuildName, runCrm, type ServerName } from './servers.ts';
import { type Spread, spread } from './statistics.ts';

/** The figures of an operation on a server. */
export interface Figures {
  /** CPU time of the server process for each request or row, µs. */
  cpuMicros: Spread;
  /** Requests or rows a second. */
  perSecond: Spread;
  /** Null where rows are counted. */
  p50Milliseconds: number | null;
  p99Milliseconds: number | null;
  /** How many there were in all rounds. */
  count: number;
  /** CPU time of the process that sent them for each, µs: it takes that from the same cores. */
  clientCpuMicros: number;
}

/** How crm compares with another server, round by round: 1 is as fast, more is faster. */
export interface Ratios {
  /** The other server's CPU time ÷ crm's. */
  cpu: Spread;
  /** What crm does in a second ÷ what the other server does. */
  rate: Spread;
}

export interface OperationReport {
  name: string;
  label: string;
  unit: Operation['unit'];
  servers: Partial<Record<ServerName, Figures>>;
  ratios: Partial<Record<Exclude<ServerName, 'crm'>, Ratios>>;
}

export interface Report {
  madeAt: string;
  machine: { cpu: string; cores: number; memoryMib: number; kernel: string };
  bun: string;
  /** What `crm version` says of each build. */
  builds: Partial<Record<BuildName, string>>;
  options: Pick<Options, 'rounds' | 'seconds' | 'contacts' | 'connections'>;
  operations: OperationReport[];
  measurements: Measurement[];
}

/** A report without figures yet. */
export function newReport(binaries: readonly [name: BuildName, path: string][], options: Options): Report {
  const { rounds, seconds, contacts, connections } = options;
  const [cpu] = cpus();
  // Without what a distribution adds.
  const [kernel = ''] = release().split('-');
  const memoryMib = Math.round(totalmem() / 2 ** 20);
  return {
    madeAt: new Date().toISOString(),
    machine: { cpu: cpu?.model ?? 'unknown', cores: cpus().length, memoryMib, kernel },
    bun: Bun.version,
    builds: Object.fromEntries(binaries.map(([name, path]) => [name, runCrm(path, ['version'])])),
    options: { rounds, seconds, contacts, connections },
    operations: [],
    measurements: [],
  };
}

/** What the rounds of an operation come to. */
export function reportOf({ name, label, unit }: Operation, rounds: Rounds): OperationReport {
  const { crm = [], ...others } = rounds;
  const servers: OperationReport['servers'] = { crm: figuresOf(crm) };
  const ratios: OperationReport['ratios'] = {};
  for (const [server, results] of Object.entries(others) as [Exclude<ServerName, 'crm'>, RoundResult[]][]) {
    servers[server] = figuresOf(results);
    const each = (ratio: (ours: RoundResult, theirs: RoundResult) => number) =>
      spread(
        crm.flatMap((ours, round) => (results[round] === undefined ? [] : [ratio(ours, results[round])])),
      );
    ratios[server] = {
      cpu: each((ours, theirs) => theirs.cpuMicros / ours.cpuMicros),
      rate: each((ours, theirs) => ours.perSecond / theirs.perSecond),
    };
  }
  return { name, label, unit, servers, ratios };
}

function figuresOf(results: readonly RoundResult[]): Figures {
  const of = (figure: (result: RoundResult) => number) => spread(results.map(figure));
  const latencies = results.flatMap(({ latency }) => (latency === undefined ? [] : [latency]));
  const middle = (values: readonly number[]) => (values.length === 0 ? null : spread(values).median);
  return {
    cpuMicros: of((result) => result.cpuMicros),
    perSecond: of((result) => result.perSecond),
    p50Milliseconds: middle(latencies.map(({ p50Milliseconds }) => p50Milliseconds)),
    p99Milliseconds: middle(latencies.map(({ p99Milliseconds }) => p99Milliseconds)),
    count: results.reduce((sum, { count }) => sum + count, 0),
    clientCpuMicros: of((result) => result.clientCpuMicros).median,
  };
}

/** The text of the JSON file; six digits are more than anything here can be told with. */
export function jsonOf(report: Report): string {
  const short = (_: string, value: unknown) =>
    typeof value === 'number' ? Number(value.toPrecision(6)) : value;
  return `${JSON.stringify(report, short, 2)}\n`;
}
