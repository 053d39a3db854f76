// What a run found out, as the JSON file has it: every figure by operation and server, and the ratios that count.
import { cpus, release, totalmem } from 'node:os';
import type { LoadResult } from './load.ts';
import type { Operation } from './operations.ts';
import type { Options } from './options.ts';
import type { Rounds } from './rounds.ts';
import type { ServerName } from './servers.ts';
import { type Spread, spread } from './statistics.ts';

/** The figures of an operation on a server. */
export interface Figures {
  /** CPU time of the server process for each request, µs. */
  cpuMicros: Spread;
  requestsPerSecond: Spread;
  p50Milliseconds: number;
  p99Milliseconds: number;
  requests: number;
  /** Share of the CPU time that the load generator took for a request, µs. */
  loadCpuMicros: number;
}

/** How crm compares with another server, round by round: 1 is as fast, more is faster. */
export interface Ratios {
  /** The other server's CPU time ÷ crm's. */
  cpu: Spread;
  /** Requests a second of crm ÷ those of the other server. */
  rate: Spread;
}

export interface OperationReport {
  name: string;
  label: string;
  servers: Partial<Record<ServerName, Figures>>;
  ratios: Partial<Record<Exclude<ServerName, 'crm'>, Ratios>>;
}

export interface Report {
  madeAt: string;
  machine: { cpu: string; cores: number; memoryMib: number; kernel: string };
  bun: string;
  /** What `crm version` says of each build. */
  builds: Partial<Record<ServerName, string>>;
  options: Pick<Options, 'rounds' | 'seconds' | 'contacts' | 'connections'>;
  operations: OperationReport[];
}

/** A report without operations yet. */
export function newReport(builds: Report['builds'], options: Options): Report {
  const { rounds, seconds, contacts, connections } = options;
  const [cpu] = cpus();
  const memoryMib = Math.round(totalmem() / 2 ** 20);
  return {
    madeAt: new Date().toISOString(),
    machine: { cpu: cpu?.model ?? 'unknown', cores: cpus().length, memoryMib, kernel: release() },
    bun: Bun.version,
    builds,
    options: { rounds, seconds, contacts, connections },
    operations: [],
  };
}

/** What the rounds of an operation come to. */
export function reportOf({ name, label }: Operation, rounds: Rounds): OperationReport {
  const { crm = [], ...others } = rounds;
  const servers: OperationReport['servers'] = { crm: figuresOf(crm) };
  const ratios: OperationReport['ratios'] = {};
  for (const [server, results] of Object.entries(others) as [Exclude<ServerName, 'crm'>, LoadResult[]][]) {
    servers[server] = figuresOf(results);
    const each = (ratio: (ours: LoadResult, theirs: LoadResult) => number) =>
      spread(
        crm.flatMap((ours, round) => (results[round] === undefined ? [] : [ratio(ours, results[round])])),
      );
    ratios[server] = {
      cpu: each((ours, theirs) => theirs.cpuMicros / ours.cpuMicros),
      rate: each((ours, theirs) => ours.requestsPerSecond / theirs.requestsPerSecond),
    };
  }
  return { name, label, servers, ratios };
}

function figuresOf(results: readonly LoadResult[]): Figures {
  const of = (figure: (result: LoadResult) => number) => spread(results.map(figure));
  return {
    cpuMicros: of((result) => result.cpuMicros),
    requestsPerSecond: of((result) => result.requestsPerSecond),
    p50Milliseconds: of((result) => result.p50Milliseconds).median,
    p99Milliseconds: of((result) => result.p99Milliseconds).median,
    requests: results.reduce((sum, { requests }) => sum + requests, 0),
    loadCpuMicros: of((result) => result.loadCpuMicros).median,
  };
}
