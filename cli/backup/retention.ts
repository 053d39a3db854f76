// Decides which backups to keep: many recent ones, fewer the older they are.
import { durationMs } from '../settings/options.ts';

/** Up to this age, one backup is kept per interval; both in milliseconds. */
export interface KeepRule {
  age: number;
  interval: number;
}

/** The rules of a text such as `24h=15m,30d=1d`, youngest first; undefined if the text is not valid. */
export function keepRules(text: string): KeepRule[] | undefined {
  const rules: KeepRule[] = [];
  for (const part of text.split(',')) {
    const [age = 0, interval = 0] = part.split('=', 2).map((word) => durationMs(word.trim()) ?? 0);
    if (age <= 0 || interval <= 0 || interval > age) return undefined;
    rules.push({ age, interval });
  }
  rules.sort((a, b) => a.age - b.age);
  return rules;
}

/**
 * The times of the backups to remove: of each interval since 1970 the oldest is kept, by the rule for its age, and so is
 * the newest of all.
 * @param times of backups, Unix milliseconds
 */
export function expiredBackups(times: readonly number[], now: number, rules: readonly KeepRule[]): number[] {
  const kept = new Set([Math.max(...times)]);
  const intervals = new Set<string>();
  for (const time of times.toSorted((a, b) => a - b)) {
    const rule = rules.find(({ age }) => now - time <= age);
    if (rule === undefined) continue;
    const interval = `${rule.interval}:${Math.floor(time / rule.interval)}`;
    if (intervals.has(interval)) continue;
    intervals.add(interval);
    kept.add(time);
  }
  return times.filter((time) => !kept.has(time));
}
