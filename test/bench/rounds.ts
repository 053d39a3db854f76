// Measures an operation on several servers, turn and turn about: a slow moment of the machine harms all of them.
import type { Operation, Round, RoundResult, Server } from './operation.ts';
import type { Options } from './options.ts';
import { cpuMicros, idle } from './process.ts';
import type { ServerName } from './servers.ts';

/** What a round told. */
export type Measured = RoundResult & {
  /** What the database's own processes took for each request or row, µs. */
  databaseCpuMicros: number | undefined;
  /** What the server took for each, µs, from the last answer until it was done with all of them. */
  laterCpuMicros: number;
};

/** What the rounds of each server told. */
export type Rounds = Partial<Record<ServerName, Measured[]>>;

// In rounds: so long each server runs before anything counts. What JavaScriptCore compiles while crm creates its first ten
// thousand contacts takes it another 50 µs for each.
const WARM_UP = 3;

/** Runs all rounds of an operation; throws an error if an answer is not what it should be. */
export async function measure(
  operation: Operation,
  servers: readonly Server[],
  { rounds, seconds, connections, idleSeconds }: Options,
): Promise<Rounds> {
  const results: Rounds = {};
  let bodyBytes: number | undefined;
  const run = async ({ name, pid, databaseCpu }: Server, round: Round, share: number): Promise<Measured> => {
    const before = databaseCpu?.();
    const result = await round({ connections, bodyBytes, milliseconds: seconds * share * 1_000 });
    if (result.failure !== undefined) throw new Error(`${operation.name} on ${name}: ${result.failure}`);
    const after = databaseCpu?.();
    const isTold = before !== undefined && after !== undefined;
    const answeredAt = cpuMicros(pid);
    // Otherwise the next operation would pay for this one.
    if (operation.isWriting) await idle(pid, idleSeconds);
    return {
      ...result,
      databaseCpuMicros: isTold ? (after - before) / result.count : undefined,
      laterCpuMicros: (cpuMicros(pid) - answeredAt) / result.count,
    };
  };
  const runs: [Server, Round][] = [];
  for (const server of servers) {
    const round = await operation.prepare(server);
    runs.push([server, round]);
    // What one of them answers, all of them do, every time.
    bodyBytes = (await run(server, round, WARM_UP)).bodyBytes;
  }
  for (let count = 0; count < rounds; count++) {
    for (const [server, round] of count % 2 === 0 ? runs : runs.toReversed())
      results[server.name] = [...(results[server.name] ?? []), await run(server, round, 1)];
  }
  return results;
}
