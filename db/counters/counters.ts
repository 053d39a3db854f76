// Per-minute counts for limits: the interface of the engines.
import type { Eventually } from '../engine/engine.ts';

export const WINDOW_MS = 60_000;

/** What an event counts towards: a group and, optionally, a member of it that has its own limit. */
export interface RateLimitEvent {
  what: 'requests' | 'wrong_keys' | 'downloads';
  group: string | number;
  /** Maximum events of the group per minute. */
  limit: number;
  member?: { name: string; limit: number };
}

/** The usage of a minute. */
export interface RateLimitUsage {
  /** Whether the event was counted; false if a limit is reached, which changes neither count. */
  isCounted: boolean;
  used: number;
  memberUsed: number;
  /** Minutes since the epoch. */
  minute: number;
  /** Unix milliseconds, by the clock that determines the minutes. */
  now: number;
}

/** Fixed windows, the minutes since the epoch, by one clock for all nodes of a service. */
export interface Counters {
  /** Counts an event against both limits, or against neither. */
  count(counted: RateLimitEvent): Eventually<RateLimitUsage>;
  /** Returns the usage without counting. */
  peek(counted: RateLimitEvent): Eventually<RateLimitUsage>;
  /** Undoes the count of an event in that minute. */
  giveBack(counted: RateLimitEvent, minute: number): Eventually<void>;
  /** Deletes the counts of past minutes. */
  purge(): Eventually<void>;
}

/** Whether the limits leave room for another event. */
export function hasRoom(
  { limit, member }: RateLimitEvent,
  usage: Pick<RateLimitUsage, 'used' | 'memberUsed'>,
): boolean {
  return usage.used < limit && (member === undefined || usage.memberUsed < member.limit);
}
