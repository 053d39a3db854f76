// Counts of what is limited in each minute, as whoever limits it sees them.
import type { Eventually } from '../engine/engine.ts';

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
