// What a hostile client is: what it sends again and again, and what may come of that.

import type { Attack } from './attack.ts';
import type { Outcome } from './raw.ts';

export interface Known {
  /** The id of a contact of 90 KB. */
  largeId: string;
}

export interface Client {
  name: string;
  /** How many of them there are at a time. */
  count: number;
  /** Milliseconds between two requests; none unless said. */
  pauseMs?: number;
  /** What may come of a request; everything else is a fault of the service. */
  expected: readonly Outcome[];
  /** Sends once, and says what came of it; null where the time was over before; @throws what is a fault */
  once(attack: Attack, known: Known): Promise<Outcome | null>;
}

/** What is made when it is first asked for. */
export function large<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Has all of them go on until the time of the attack is over. */
export async function runClients(attack: Attack, clients: readonly Client[], known: Known): Promise<void> {
  const all = clients.flatMap((client) =>
    Array.from({ length: client.count }, () => repeat(attack, client, known)),
  );
  await Promise.all(all);
}

async function repeat(attack: Attack, client: Client, known: Known): Promise<void> {
  const { name, expected, pauseMs = 0 } = client;
  while (!attack.isOver) {
    try {
      const outcome = await client.once(attack, known);
      if (outcome === null) return;
      attack.note(name, outcome);
      if (!expected.includes(outcome) && !attack.isOver) attack.faults.push(`${name}: ${outcome}`);
      // A client that is refused for its limit tries again, but not at once.
      await attack.sleep(outcome === 429 ? Math.max(pauseMs, 200) : pauseMs);
    } catch (error) {
      attack.faults.push(`${name}: ${error instanceof Error ? error.message : error}`);
      await attack.sleep(1_000);
    }
  }
}
