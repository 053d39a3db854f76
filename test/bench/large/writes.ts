// What creates cost on a large database, with all that the server still does about them after it has answered.
import { httpRequest, runLoad } from '../load.ts';
import { cpuMicros } from '../process.ts';
import { newBatch, newContact } from '../requests.ts';
import { spread } from '../statistics.ts';
import type { Asked } from './answers.ts';
import type { Inside } from './inside.ts';

const CONNECTIONS = 32;
const WAIT_MS_MAX = 600_000;
const POLL_MS = 50;

const WRITES = [
  { name: 'create', label: 'create a contact', path: 'contacts', body: newContact },
  { name: 'batch', label: 'create a batch of 100', path: 'contacts/batch', body: newBatch },
] as const;

/** What one kind of write came to; medians of the rounds. */
export interface WriteCost {
  name: string;
  label: string;
  perSecond: number;
  p50: number;
  p99: number;
  /** CPU of the server for each request, µs: until the last answer, and until the search index has what was written. */
  cpuMicros: number;
  cpuMicrosAfter: number;
  /** Of PostgreSQL's processes, until the search index has it; null where there are none. */
  databaseCpuMicros: number | null;
  /** Milliseconds from the last answer until the index has it all. */
  indexedAfter: number;
}

type Round = Omit<WriteCost, 'name' | 'label'>;

/** Measures all kinds of writes. */
export async function writeCosts(
  server: Asked,
  inside: Inside,
  { seconds, rounds: times }: { seconds: number; rounds: number },
): Promise<WriteCost[]> {
  const costs: WriteCost[] = [];
  for (const { name, label, path, body } of WRITES) {
    const run = () => round(server, inside, seconds, () => messageOf(server, path, body()));
    await run();
    const rounds: Round[] = [];
    for (let count = 0; count < times; count++) rounds.push(await run());
    const middle = (of: (one: Round) => number) => spread(rounds.map(of)).median;
    const isTold = rounds.every(({ databaseCpuMicros }) => databaseCpuMicros !== null);
    costs.push({
      ...{ name, label },
      perSecond: middle((one) => one.perSecond),
      p50: middle((one) => one.p50),
      p99: middle((one) => one.p99),
      cpuMicros: middle((one) => one.cpuMicros),
      cpuMicrosAfter: middle((one) => one.cpuMicrosAfter),
      databaseCpuMicros: isTold ? middle((one) => one.databaseCpuMicros ?? 0) : null,
      indexedAfter: middle((one) => one.indexedAfter),
    });
  }
  return costs;
}

async function round(server: Asked, inside: Inside, seconds: number, next: () => string): Promise<Round> {
  const { port, pid, databaseCpu } = server;
  const before = { own: cpuMicros(pid), database: databaseCpu?.() };
  const result = await runLoad({
    ...{ port, pid, next, bodyBytes: undefined, connections: CONNECTIONS, milliseconds: seconds * 1_000 },
  });
  if (result.failure !== undefined) throw new Error(`a write failed: ${result.failure}`);
  const { count, perSecond, latency } = result;
  const answeredAt = performance.now();
  while ((await inside.unindexed()) > 0) {
    if (performance.now() - answeredAt > WAIT_MS_MAX) throw new Error('the index does not catch up');
    await Bun.sleep(POLL_MS);
  }
  const isTold = before.database !== undefined && databaseCpu !== undefined;
  return {
    perSecond,
    p50: latency?.p50Milliseconds ?? 0,
    p99: latency?.p99Milliseconds ?? 0,
    cpuMicros: result.cpuMicros,
    cpuMicrosAfter: (cpuMicros(pid) - before.own) / count,
    databaseCpuMicros: isTold ? (databaseCpu() - (before.database ?? 0)) / count : null,
    indexedAfter: performance.now() - answeredAt,
  };
}

function messageOf({ build }: Asked, path: string, body: string): string {
  return httpRequest('POST', `/api/v2/${path}`, `Authorization: Bearer ${build.key}\r\n`, body);
}
