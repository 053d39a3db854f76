// What a run found out, as the JSON file has it: every figure by operation and server, and the ratios that count.
import { cpus, release, totalmem } from 'node:os';
import type { Measurement } from './measurements.ts';
import type { Operation } from './operation.ts';
import type { Options } from './options.ts';
import type { Measured, Rounds } from './rounds.ts';
import {
  type Binary,
  type BuildName,
  COMPARED_WITH,
  type OtherName,
  runCrm,
  type ServerName,
} from './servers.ts';
import { type Spread, spread } from './statistics.ts';

/** The figures of an operation on a server. */
export interface Figures {
  /** CPU time of the server process for each request or row, µs. */
  cpuMicros: Spread;
  /** What it took for each after it had answered, µs, until it was done with all. */
  laterCpuMicros: Spread;
  /** The same of PostgreSQL's own processes; null where there are none, or none that can be seen. */
  databaseCpuMicros: Spread | null;
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

/** How a build of crm compares with another server, round by round: 1 is as fast, more is faster. */
export interface Ratios {
  /** The other server's CPU time ÷ that of the build. */
  cpu: Spread;
  /** The same with what they took later. */
  allCpu: Spread;
  /** What the build does in a second ÷ what the other server does. */
  rate: Spread;
}

export interface OperationReport {
  name: string;
  label: string;
  unit: Operation['unit'];
  servers: Partial<Record<ServerName, Figures>>;
  /** Each server against the one that it is compared with. */
  ratios: Partial<Record<OtherName, Ratios>>;
}

/** What was measured on. */
export interface Machine {
  cpu: string;
  cores: number;
  memoryMib: number;
  kernel: string;
}

export interface Report {
  madeAt: string;
  machine: Machine;
  bun: string;
  /** What `crm version` says of each build. */
  builds: Partial<Record<BuildName, string>>;
  /** The version of the PostgreSQL server, and whether it is durable; undefined where none was asked for. */
  postgres: string | undefined;
  options: Pick<Options, 'rounds' | 'seconds' | 'contacts' | 'connections' | 'readers'>;
  operations: OperationReport[];
  measurements: Measurement[];
  /** Of the log of changes, where it is kept. */
  following: Measurement[];
}

/** This machine. */
export function thisMachine(): Machine {
  const [cpu] = cpus();
  // Without what a distribution adds.
  const [kernel = ''] = release().split('-');
  const memoryMib = Math.round(totalmem() / 2 ** 20);
  return { cpu: cpu?.model ?? 'unknown', cores: cpus().length, memoryMib, kernel };
}

/** A report without figures yet. */
export function newReport(
  binaries: readonly Binary[],
  options: Options,
  postgres: string | undefined,
): Report {
  const { rounds, seconds, contacts, connections, readers } = options;
  return {
    madeAt: new Date().toISOString(),
    machine: thisMachine(),
    bun: Bun.version,
    builds: Object.fromEntries(binaries.map(({ name, binary }) => [name, runCrm(binary, ['version'])])),
    options: { rounds, seconds, contacts, connections, readers },
    postgres,
    operations: [],
    measurements: [],
    following: [],
  };
}

/** What the rounds of an operation come to. */
export function reportOf({ name, label, unit }: Operation, rounds: Rounds): OperationReport {
  const servers: OperationReport['servers'] = {};
  const ratios: OperationReport['ratios'] = {};
  for (const [server, results] of Object.entries(rounds) as [ServerName, Measured[]][]) {
    servers[server] = figuresOf(results);
    if (server === 'crm') continue;
    const ofBuild = rounds[COMPARED_WITH[server]] ?? [];
    const each = (ratio: (ours: Measured, theirs: Measured) => number) =>
      spread(
        ofBuild.flatMap((ours, round) => (results[round] === undefined ? [] : [ratio(ours, results[round])])),
      );
    ratios[server] = {
      cpu: each((ours, theirs) => theirs.cpuMicros / ours.cpuMicros),
      allCpu: each((ours, theirs) => allCpuOf(theirs) / allCpuOf(ours)),
      rate: each((ours, theirs) => ours.perSecond / theirs.perSecond),
    };
  }
  return { name, label, unit, servers, ratios };
}

function allCpuOf({ cpuMicros, laterCpuMicros }: Measured): number {
  return cpuMicros + laterCpuMicros;
}

function figuresOf(results: readonly Measured[]): Figures {
  const of = (figure: (result: Measured) => number) => spread(results.map(figure));
  const latencies = results.flatMap(({ latency }) => (latency === undefined ? [] : [latency]));
  const middle = (values: readonly number[]) => (values.length === 0 ? null : spread(values).median);
  return {
    cpuMicros: of((result) => result.cpuMicros),
    laterCpuMicros: of((result) => result.laterCpuMicros),
    databaseCpuMicros:
      results[0]?.databaseCpuMicros === undefined ? null : of((result) => result.databaseCpuMicros ?? 0),
    perSecond: of((result) => result.perSecond),
    p50Milliseconds: middle(latencies.map(({ p50Milliseconds }) => p50Milliseconds)),
    p99Milliseconds: middle(latencies.map(({ p99Milliseconds }) => p99Milliseconds)),
    count: results.reduce((sum, { count }) => sum + count, 0),
    clientCpuMicros: of((result) => result.clientCpuMicros).median,
  };
}

/** The text of the JSON file; six digits are more than anything here can be told with. */
export function jsonOf(report: object): string {
  const short = (_: string, value: unknown) =>
    typeof value === 'number' ? Number(value.toPrecision(6)) : value;
  return `${JSON.stringify(report, short, 2)}\n`;
}
