// Progress at one moment, in words: what the bar on a terminal and the plain lines elsewhere have in common.
import { singularOf } from '../../db/model/text.ts';
import { formatCount, formatDuration } from './format.ts';

export interface ProgressState {
  /** How much is behind us, whatever became of it. */
  done: number;
  ok?: number;
  failed?: number;
  skipped?: number;
  /** How much of the whole is behind us, from 0 to 1, where that shows by other things than a count. */
  share?: number;
}

/** What there is to show. */
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

/** Rate, ETA and counts, each as one short phrase; what is unknown or zero is left out. */
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

/** How much is done, from 0 to 1; null where the end is not known. */
export function shareDone({ done, total, share }: Pick<Snapshot, 'done' | 'total' | 'share'>): number | null {
  if (total === null) return share ?? null;
  return total === 0 ? null : Math.min(done, total) / total;
}

/** `57%`, or null where the end is not known. */
export function percentDone(snapshot: Pick<Snapshot, 'done' | 'total' | 'share'>): string | null {
  const share = shareDone(snapshot);
  return share === null ? null : `${Math.floor(share * 100)}%`;
}

/** The unit as it stands behind the amounts: `0 of 1 row`, `1 of 2 rows`. */
export function unitOf({ unit, done, total }: Pick<Snapshot, 'unit' | 'done' | 'total'>): string {
  return (total ?? done) === 1 ? singularOf(unit) : unit;
}

/** The whole state in one plain line. */
export function progressLine(snapshot: Snapshot): string {
  const { label, done, total, note } = snapshot;
  const percent = percentDone(snapshot);
  const of = total === null ? '' : ` of ${formatCount(total)}`;
  const share = percent === null ? '' : ` (${percent})`;
  const head = `${label}: ${formatCount(done)}${of} ${unitOf(snapshot)}${share}`;
  const line = [head, ...progressFacts(snapshot)].join(', ');
  return note === undefined ? line : `${line} – ${note}`;
}
