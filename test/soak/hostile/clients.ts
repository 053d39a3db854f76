// What a hostile client is: what it sends again and again, and what may come of that.
import type { Outcome } from './raw.ts';
import type { Site } from './site.ts';

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
  once(site: Site, known: Known): Promise<Outcome | null>;
}

/** What is made when it is first asked for. */
export function large<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Has all of them go on until the time of the site is over. */
export async function goOn(site: Site, clients: readonly Client[], known: Known): Promise<void> {
  const all = clients.flatMap((client) =>
    Array.from({ length: client.count }, () => repeat(site, client, known)),
  );
  await Promise.all(all);
}

async function repeat(site: Site, client: Client, known: Known): Promise<void> {
  const { name, expected, pauseMs = 0 } = client;
  while (!site.isOver) {
    try {
      const outcome = await client.once(site, known);
      if (outcome === null) return;
      site.note(name, outcome);
      if (!expected.includes(outcome) && !site.isOver) site.faults.push(`${name}: ${outcome}`);
      // A client that is refused for its limit tries again, but not at once.
      await site.sleep(outcome === 429 ? Math.max(pauseMs, 200) : pauseMs);
    } catch (error) {
      site.faults.push(`${name}: ${error instanceof Error ? error.message : error}`);
      await site.sleep(1_000);
    }
  }
}
