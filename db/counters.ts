// Counts of what is limited in each minute: the interface, and the counts of a service that is one process, in memory.
import type { Eventually } from './engine.ts';

export const WINDOW_MS = 60_000;

/** What an event is counted for: a group and, where one is named, a member of it that has a limit of its own. */
export interface Counted {
  what: 'requests' | 'wrong_keys' | 'downloads';
  group: string | number;
  /** Events of the group in a minute. */
  limit: number;
  member?: { name: string; limit: number };
}

/** How much of a minute is used up. */
export interface Usage {
  /** Whether the event was counted; false where a limit is used up, which leaves both as they were. */
  isCounted: boolean;
  used: number;
  memberUsed: number;
  /** Minutes since the epoch. */
  minute: number;
  /** Unix milliseconds, by the clock that tells the minutes. */
  now: number;
}

/** Fixed windows, the minutes since the epoch, by one clock for all nodes of a service. */
export interface Counters {
  /** Counts an event, against both limits or against none. */
  count(counted: Counted): Eventually<Usage>;
  /** Tells what is used up, and counts nothing. */
  look(counted: Counted): Eventually<Usage>;
  /** Takes back an event that was counted in that minute. */
  giveBack(counted: Counted, minute: number): Eventually<void>;
  /** Deletes what is kept of minutes that are over. */
  purge(): Eventually<void>;
}

/** Whether the limits leave room for another event. */
export function hasRoom({ limit, member }: Counted, usage: Pick<Usage, 'used' | 'memberUsed'>): boolean {
  return usage.used < limit && (member === undefined || usage.memberUsed < member.limit);
}

class Tally {
  used = 0;
  readonly byMember = new Map<string, number>();

  add(counted: Counted, events: 1 | -1): void {
    const { member } = counted;
    this.used += events;
    if (member !== undefined) this.byMember.set(member.name, this.usedBy(counted) + events);
  }

  usedBy({ member }: Counted): number {
    return (member && this.byMember.get(member.name)) ?? 0;
  }
}

type Tallies = Record<Counted['what'], Map<string | number, Tally>>;

const noTallies = (): Tallies => ({ requests: new Map(), wrong_keys: new Map(), downloads: new Map() });

export class MemoryCounters implements Counters {
  readonly #clock: () => number;
  #now = 0;
  #minute = -1;
  #tallies = noTallies();

  /** @param clock Unix milliseconds */
  constructor(clock: () => number) {
    this.#clock = clock;
  }

  count(counted: Counted): Usage {
    const tally = this.#tallyOf(counted);
    const usage = this.#usageOf(tally, counted);
    if (!hasRoom(counted, usage)) return usage;
    tally.add(counted, 1);
    usage.isCounted = true;
    usage.used += 1;
    usage.memberUsed += 1;
    return usage;
  }

  look(counted: Counted): Usage {
    return this.#usageOf(this.#tallyOf(counted), counted);
  }

  giveBack(counted: Counted, minute: number): void {
    const tally = this.#tallyOf(counted);
    if (minute === this.#minute) tally.add(counted, -1);
  }

  purge(): void {
    // Each minute forgets the one before.
  }

  #usageOf(tally: Tally, counted: Counted): Usage {
    const { used } = tally;
    return {
      isCounted: false,
      used,
      memberUsed: tally.usedBy(counted),
      minute: this.#minute,
      now: this.#now,
    };
  }

  #tallyOf({ what, group }: Counted): Tally {
    this.#now = this.#clock();
    const minute = Math.floor(this.#now / WINDOW_MS);
    // A request that began in the last minute must not bring it back; a clock that was set back must.
    if (minute > this.#minute || minute < this.#minute - 1) {
      this.#minute = minute;
      this.#tallies = noTallies();
    }
    const tallies = this.#tallies[what];
    let tally = tallies.get(group);
    if (tally === undefined) {
      tally = new Tally();
      tallies.set(group, tally);
    }
    return tally;
  }
}
