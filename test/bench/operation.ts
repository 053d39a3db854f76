// What can be measured: something that a server does, in rounds, and what a round tells.
import type { CpuClock } from './process.ts';
import type { Seeds } from './seed.ts';
import type { BareName, Running } from './servers.ts';

/** A server with what it serves. */
export interface Server extends Running {
  seeds: Seeds;
  /** That of its database's processes, where it has any that can be seen. */
  databaseCpu?: CpuClock | undefined;
}

export interface Operation {
  name: string;
  label: string;
  /** What is counted. */
  unit: 'request' | 'row';
  /** The bare servers that sensibly have it; every build of crm has. */
  bare: readonly BareName[];
  /** Whether it is also measured on a server that keeps no log of changes. */
  isLogged?: boolean;
  /** Whether a server can have more to do about it after it has answered. */
  isWriting?: boolean;
  /** Makes ready what its rounds need. */
  prepare(server: Server): Round | Promise<Round>;
}

/** One round of an operation on a server. */
export type Round = (shape: RoundShape) => Promise<RoundResult>;

export interface RoundShape {
  connections: number;
  milliseconds: number;
  /** Bytes that the body of an answer has, more or less; undefined where that is not known. */
  bodyBytes: number | undefined;
}

export interface RoundResult {
  /** Requests answered, or rows that went through. */
  count: number;
  perSecond: number;
  /** CPU time of the server for each of them, µs. */
  cpuMicros: number;
  /** The same of the process that sent them. */
  clientCpuMicros: number;
  /** Undefined where nothing was waited for one by one. */
  latency: { p50Milliseconds: number; p99Milliseconds: number } | undefined;
  /** Of the last answer, without its head. */
  bodyBytes: number;
  /** What the first wrong answer was, if there was one. */
  failure: string | undefined;
}
