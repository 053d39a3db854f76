// Shows the progress of long work on stderr: an Ink bar on a terminal, else a plain line every few seconds.
import { formatCount, formatMinutes } from './format.ts';
import { type ProgressState, progressLine, type Snapshot } from './progress-text.ts';
import { note, stderr } from './streams.ts';
import { noteWait, type Wait, waitInWords } from './wait-reasons.ts';

export interface ProgressOptions {
  label: string;
  /** Plural, such as `rows`. */
  unit: string;
  /** Null if the end is not known. */
  total: number | null;
  /** The approximate total, for the estimate before the work starts. */
  about?: number;
  quiet?: boolean;
  /** The rate limit in units per epoch-aligned minute. */
  ratePerMinuteMax?: number;
  /** A higher limit, and the command by which an operator gives it. */
  faster?: Faster | undefined;
  /** Units done before this run, which do not count for the rate. */
  startAt?: number;
}

export interface Faster {
  ratePerMinuteMax: number;
  command: string;
}

export interface Progress {
  update(state: ProgressState): void;
  /** Shows why the work pauses, until the time is over. */
  wait(wait: Wait): void;
  stop(finalLine?: string): Promise<void>;
}

export interface EtaInput {
  remaining: number;
  ratePerSecond: number;
  ratePerMinuteMax?: number;
  usedThisMinute: number;
  secondsLeftInMinute: number;
}

const MINUTE_MS = 60_000;
const PLAIN_INTERVAL_MS = 3_000;

/** Seconds until the rest is done, including waits for the rate limit. */
export function estimateSeconds(input: EtaInput): number {
  const { remaining, ratePerSecond, ratePerMinuteMax, usedThisMinute, secondsLeftInMinute } = input;
  if (remaining <= 0) return 0;
  if (ratePerMinuteMax === undefined) return remaining / ratePerSecond;
  const budget = Math.max(0, ratePerMinuteMax - usedThisMinute);
  const thisMinute = Math.min(budget, ratePerSecond * secondsLeftInMinute);
  if (remaining <= thisMinute) return remaining / ratePerSecond;
  const perMinute = Math.min(ratePerMinuteMax, ratePerSecond * 60);
  const rest = remaining - thisMinute;
  const wholeMinutes = Math.ceil(rest / perMinute) - 1;
  return secondsLeftInMinute + wholeMinutes * 60 + (rest - wholeMinutes * perMinute) / ratePerSecond;
}

/** Turns updates into rate and ETA; time spent waiting does not count as work. */
export class Meter {
  readonly #options: ProgressOptions;
  readonly #startAt: number;
  #state: ProgressState;
  #updatedMs: number;
  #activeMs = 0;
  #doneAtMinuteStart: number;
  #waits: { fromMs: number; untilMs: number; reason: Wait['reason'] } | undefined;

  constructor(options: ProgressOptions, nowMs: number) {
    this.#options = options;
    this.#startAt = options.startAt ?? 0;
    this.#state = { done: this.#startAt };
    this.#doneAtMinuteStart = this.#startAt;
    this.#updatedMs = nowMs;
  }

  update(state: ProgressState, nowMs: number): void {
    const { fromMs = nowMs, untilMs = nowMs } = this.#waits ?? {};
    const waitedMs = Math.min(nowMs, untilMs) - Math.max(this.#updatedMs, fromMs);
    this.#activeMs += nowMs - this.#updatedMs - Math.max(0, waitedMs);
    if (minuteOf(nowMs) !== minuteOf(this.#updatedMs)) this.#doneAtMinuteStart = this.#state.done;
    this.#state = state;
    this.#updatedMs = nowMs;
  }

  wait({ seconds, reason }: Wait, nowMs: number): void {
    this.#waits = { fromMs: nowMs, untilMs: nowMs + seconds * 1_000, reason };
  }

  snapshot(nowMs: number): Snapshot {
    const { label, unit, total } = this.#options;
    const ratePerSecond = this.#rate();
    const { done, share } = this.#state;
    const expected = total ?? (share ? done / share : null);
    const etaSeconds =
      expected === null || ratePerSecond === null ? null : this.#eta(expected, ratePerSecond, nowMs);
    const wait = this.#waitLeft(nowMs);
    const note = wait === undefined ? {} : { note: waitInWords(wait) };
    // Others may add to what there is to do, such as rows to an organization that is deleted.
    const shown = { ...this.#state, done: Math.min(done, total ?? done) };
    return { label, unit, total, ratePerSecond, etaSeconds, ...shown, ...note };
  }

  #waitLeft(nowMs: number): Wait | undefined {
    if (this.#waits === undefined || this.#waits.untilMs <= nowMs) return undefined;
    return { seconds: (this.#waits.untilMs - nowMs) / 1_000, reason: this.#waits.reason };
  }

  #rate(): number | null {
    const done = this.#state.done - this.#startAt;
    return done > 0 && this.#activeMs > 0 ? (done / this.#activeMs) * 1000 : null;
  }

  #eta(total: number, ratePerSecond: number, nowMs: number): number {
    const { ratePerMinuteMax } = this.#options;
    const isSameMinute = minuteOf(nowMs) === minuteOf(this.#updatedMs);
    const isSpent = this.#waitLeft(nowMs)?.reason === 'rate limit';
    const used = isSameMinute ? this.#state.done - this.#doneAtMinuteStart : 0;
    return estimateSeconds({
      remaining: total - this.#state.done,
      ratePerSecond,
      usedThisMinute: isSpent ? Number.POSITIVE_INFINITY : used,
      secondsLeftInMinute: (MINUTE_MS - (nowMs % MINUTE_MS)) / 1000,
      ...(ratePerMinuteMax !== undefined && { ratePerMinuteMax }),
    });
  }
}

const minuteOf = (ms: number): number => Math.floor(ms / MINUTE_MS);

/** The time that the rate limit makes of the work, and what would shorten it, in words; null if it is at most a minute. */
export function estimateInWords(options: ProgressOptions): string | null {
  const { label, unit, startAt = 0, ratePerMinuteMax, faster } = options;
  const total = options.total ?? options.about;
  if (total === undefined || ratePerMinuteMax === undefined) return null;
  const left = total - startAt;
  if (left <= ratePerMinuteMax) return null;
  const at = (rate: number): string => `at ${formatCount(rate)} a minute: ${formatMinutes(left / rate)}`;
  const about = options.total === null ? 'about ' : '';
  const estimate = `${label}: ${about}${formatCount(left)} ${unit} ${at(ratePerMinuteMax)}.`;
  if (faster === undefined) return estimate;
  return `${estimate}\nAt ${formatCount(faster.ratePerMinuteMax)} a minute it takes ${formatMinutes(left / faster.ratePerMinuteMax)}. To raise the limit, ask the operator to run: ${faster.command}`;
}

/** Shows progress on stderr until `stop`, which leaves only the final line. */
export async function startProgress(options: ProgressOptions): Promise<Progress> {
  const meter = new Meter(options, Date.now());
  const update = (state: ProgressState): void => meter.update(state, Date.now());
  const wait = (one: Wait): void => meter.wait(one, Date.now());
  if (options.quiet) return { update, wait, stop: async () => {} };
  const estimate = estimateInWords(options);
  if (estimate !== null) note(estimate);
  const snapshot = (): Snapshot => meter.snapshot(Date.now());
  if (stderr.isTTY && process.env.TERM !== 'dumb') {
    const { mountProgress } = await import('./mount-progress.tsx');
    return { update, wait, stop: mountProgress(snapshot) };
  }
  const print = (): void => note(progressLine(snapshot()));
  const timer = setInterval(print, PLAIN_INTERVAL_MS);
  return {
    update,
    wait,
    stop: async (finalLine) => {
      clearInterval(timer);
      if (finalLine === undefined) print();
      else note(finalLine);
    },
  };
}

/** Runs work that counts what it has done, and shows that as progress. */
export async function withProgress<T>(
  options: ProgressOptions,
  work: (add: (more: number) => void) => Promise<T>,
): Promise<T> {
  const progress = await startProgress(options);
  let { startAt: done = 0 } = options;
  try {
    return await work((more) => {
      done += more;
      progress.update({ done });
    });
  } finally {
    await progress.stop();
  }
}

/** Shows the parts of long work, one at a time, and what the work waits for. */
export class Display {
  readonly isQuiet: boolean;
  readonly #begin: typeof startProgress;
  #progress: Progress | undefined;

  constructor(isQuiet: boolean, begin = startProgress) {
    this.isQuiet = isQuiet;
    this.#begin = begin;
  }

  /** For the client's `onWait`. */
  readonly onWait = (wait: Wait): void => {
    if (this.#progress !== undefined) this.#progress.wait(wait);
    else if (!this.isQuiet) noteWait(wait);
  };

  /** Begins a part; resolves with false if one is shown already. */
  async start(options: ProgressOptions): Promise<boolean> {
    if (this.#progress !== undefined) return false;
    this.#progress = await this.#begin({ ...options, quiet: this.isQuiet });
    return true;
  }

  show(state: ProgressState): void {
    this.#progress?.update(state);
  }

  /** Ends the part, with a final line if there is one to say. */
  async stop(finalLine?: string): Promise<void> {
    const progress = this.#progress;
    this.#progress = undefined;
    if (progress !== undefined) await progress.stop(finalLine);
    else if (finalLine !== undefined && !this.isQuiet) note(finalLine);
  }
}
