// Progress at one moment, in words, for both the bar on a terminal and plain lines.
import { singularOf } from '../../db/model/text.ts';
import { formatCount, formatDuration } from './format.ts';

export interface ProgressState {
  /** How many units are processed, successfully or not. */
  done: number;
  ok?: number;
  failed?: number;
  skipped?: number;
  /** The fraction done, from 0 to 1, if it is known from something else than the count. */
  share?: number;
  /** Why some failed, the most frequent reason first; only a terminal shows it. */
  reasons?: readonly string[];
}

/** What to show. */
export interface Snapshot extends ProgressState {
  label: string;
  /** Plural, such as `rows`. */
  unit: string;
  total: number | null;
  ratePerSecond: number | null;
  etaSeconds: number | null;
  /** What the work is waiting for, if anything. */
  note?: string;
}

/** Rate, ETA and counts, each as a short phrase, without unknown or zero values. */
export function progressFacts(snapshot: Snapshot): string[] {
  const { ratePerSecond, etaSeconds, unit, ok, failed, skipped } = snapshot;
  const facts: string[] = [];
  if (ratePerSecond !== null) {
    const rate = ratePerSecond < 10 ? ratePerSecond.toFixed(1) : formatCount(ratePerSecond);
    facts.push(`${rate} ${unit}/s`);
  }
  if (etaSeconds !== null && etaSeconds > 0) facts.push(`${formatDuration(etaSeconds)} left`);
  if (ok !== undefined) facts.push(`${formatCount(ok)} ok`);
  if (failed) facts.push(`${formatCount(failed)} failed`);
  if (skipped) facts.push(`${formatCount(skipped)} skipped`);
  return facts;
}

/** How much is done, from 0 to 1; null if the end is not known. */
export function shareDone({ done, total, share }: Pick<Snapshot, 'done' | 'total' | 'share'>): number | null {
  if (total === null) return share ?? null;
  return total === 0 ? null : Math.min(done, total) / total;
}

/** `57%`, or null if the end is not known. */
export function percentDone(snapshot: Pick<Snapshot, 'done' | 'total' | 'share'>): string | null {
  const share = shareDone(snapshot);
  return share === null ? null : `${Math.floor(share * 100)}%`;
}

/** The unit after the amounts: `0 of 1 row`, `1 of 2 rows`. */
export function unitOf({ unit, done, total }: Pick<Snapshot, 'unit' | 'done' | 'total'>): string {
  return (total ?? done) === 1 ? singularOf(unit) : unit;
}

/** The state as one plain line. */
export function progressLine(snapshot: Snapshot): string {
  const { label, done, total, note } = snapshot;
  const percent = percentDone(snapshot);
  const of = total === null ? '' : ` of ${formatCount(total)}`;
  const share = percent === null ? '' : ` (${percent})`;
  const head = `${label}: ${formatCount(done)}${of} ${unitOf(snapshot)}${share}`;
  const line = [head, ...progressFacts(snapshot)].join(', ');
  return note === undefined ? line : `${line} – ${note}`;
}
