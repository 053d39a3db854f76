// Measures an operation on several servers, turn and turn about: a slow moment of the machine harms all of them.
import { type LoadResult, runLoad } from './load.ts';
import type { Operation, Server } from './operations.ts';
import type { Options } from './options.ts';
import type { ServerName } from './servers.ts';

/** The rounds of each server. */
export type Rounds = Partial<Record<ServerName, LoadResult[]>>;

/** Runs all rounds of an operation; throws an error if an answer is not what it should be. */
export async function measure(
  operation: Operation,
  servers: readonly Server[],
  { rounds, seconds, connections }: Options,
): Promise<Rounds> {
  const found: Rounds = {};
  const loads = new Map<Server, Parameters<typeof runLoad>[0]>();
  for (const server of servers) {
    const { port, pid } = server;
    const next = await operation.requests(server);
    loads.set(server, { port, pid, next, connections, milliseconds: seconds * 1_000 });
  }
  const run = async (server: Server, share = 1) => {
    const load = loads.get(server);
    if (load === undefined) throw new Error('no such server');
    const result = await runLoad({ ...load, milliseconds: load.milliseconds * share });
    if (result.failures === 0) return result;
    throw new Error(
      `${operation.name} on ${server.name}: ${result.failures} wrong answers; ${result.firstFailure}`,
    );
  };
  for (const server of servers) {
    const { bodyBytes } = await run(server, WARM_UP);
    // What one of them answers, all of them do, every time.
    for (const load of loads.values()) load.bodyBytes ??= bodyBytes;
  }
  for (let round = 0; round < rounds; round++) {
    for (const server of round % 2 === 0 ? servers : servers.toReversed()) {
      found[server.name] = [...(found[server.name] ?? []), await run(server)];
    }
  }
  return found;
}

const WARM_UP = 0.5;
