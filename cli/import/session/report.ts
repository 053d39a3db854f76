// What an import tells on its way: counts, waits, and the first rows that were turned away.
import type { Wait } from '../../api/client.ts';
import { formatDuration } from '../../terminal/format.ts';
import { type Progress, type ProgressOptions, startProgress } from '../../terminal/progress.ts';
import type { Counts } from '../request.ts';
import type { Rejection, SourceRow } from '../row.ts';

const SAMPLES_MAX = 5;
const TICK_MS = 1_000;
const MESSAGE_CHARACTERS_MAX = 300;

/** Feeds the progress display. */
export class Reporter {
  readonly samples: string[] = [];
  readonly #show: typeof startProgress;
  #progress: Progress | undefined;
  #isTogether = false;
  #timer: ReturnType<typeof setInterval> | undefined;
  #done = 0;
  #counts: Counts = { created: 0, updated: 0, skipped: 0, rejected: 0 };
  #wait: { reason: string; untilMs: number } | undefined;

  constructor(show = startProgress) {
    this.#show = show;
  }

  /** Runs several parts of one import under one display. */
  async together<T>(parts: () => Promise<T>): Promise<T> {
    this.#isTogether = true;
    try {
      return await parts();
    } finally {
      this.#isTogether = false;
      await this.stop();
    }
  }

  /** Shows the display, unless an earlier part of the same import has. */
  async start(options: ProgressOptions): Promise<void> {
    if (this.#progress !== undefined) return;
    this.#done = options.startAt ?? 0;
    this.samples.length = 0;
    this.#progress = await this.#show(options);
    this.#timer = setInterval(() => this.#update(), TICK_MS);
    this.#update();
  }

  /** For the client's `onWait`. */
  readonly onWait = ({ seconds, reason }: Wait): void => {
    const why = {
      'rate limit': 'for the rate limit',
      'server error': 'because the server failed',
      connection: 'for the server to answer',
    }[reason];
    this.#wait = { reason: why, untilMs: Date.now() + seconds * 1000 };
    this.#update();
  };

  settled(done: number, counts: Counts): void {
    this.#done = done;
    this.#counts = counts;
    if (this.#wait !== undefined && this.#wait.untilMs < Date.now()) this.#wait = undefined;
    this.#update();
  }

  rejected(row: SourceRow, { path, message, code }: Rejection): void {
    if (this.samples.length >= SAMPLES_MAX) return;
    const text = `${path === '' || message.startsWith(`${path}:`) ? '' : `${path}: `}${message}`;
    this.samples.push(`  line ${row.line}: ${text.slice(0, MESSAGE_CHARACTERS_MAX)} (${code})`);
  }

  async stop(): Promise<void> {
    if (this.#isTogether) return;
    clearInterval(this.#timer);
    const progress = this.#progress;
    this.#progress = undefined;
    await progress?.stop();
  }

  #update(): void {
    const { created, updated, skipped, rejected } = this.#counts;
    const secondsLeft = this.#wait === undefined ? 0 : Math.ceil((this.#wait.untilMs - Date.now()) / 1000);
    const isWaiting = this.#wait !== undefined && secondsLeft > 0;
    this.#progress?.update({
      done: this.#done,
      ok: created + updated,
      failed: rejected,
      skipped,
      ...(isWaiting && { note: `waiting ${formatDuration(secondsLeft)} ${this.#wait?.reason}` }),
    });
  }
}
