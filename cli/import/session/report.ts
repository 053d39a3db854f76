// Shows the progress of an import: counts, waits, and reasons of rejected rows.
import { noteWait } from '../../api/connect.ts';
import { type Progress, type ProgressOptions, startProgress } from '../../terminal/progress.ts';
import type { Wait } from '../../terminal/wait-reasons.ts';
import type { Counts } from '../request.ts';
import { RejectionReasons } from './rejection-reasons.ts';

const NOTHING_DONE: Counts = { created: 0, updated: 0, skipped: 0, rejected: 0 };

/** Feeds the progress display. */
export class Reporter {
  readonly reasons = new RejectionReasons();
  readonly #isQuiet: boolean;
  readonly #show: typeof startProgress;
  #progress: Progress | undefined;
  #isTogether = false;
  #done = 0;
  #counts = NOTHING_DONE;

  constructor(isQuiet: boolean, show = startProgress) {
    this.#isQuiet = isQuiet;
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

  /** Shows the display, unless an earlier part of the import has done so. */
  async start(options: ProgressOptions): Promise<void> {
    if (this.#progress !== undefined) return;
    this.#done = options.startAt ?? 0;
    this.#counts = NOTHING_DONE;
    this.reasons.clear();
    this.#progress = await this.#show({ ...options, quiet: this.#isQuiet });
    this.#update();
  }

  /** For the client's `onWait`. */
  readonly onWait = (wait: Wait): void => {
    if (this.#progress !== undefined) this.#progress.wait(wait);
    else if (!this.#isQuiet) noteWait(wait);
  };

  settled(done: number, counts: Counts): void {
    this.#done = done;
    this.#counts = counts;
    this.#update();
  }

  async stop(): Promise<void> {
    if (this.#isTogether) return;
    const progress = this.#progress;
    this.#progress = undefined;
    await progress?.stop();
  }

  #update(): void {
    const { created, updated, skipped, rejected } = this.#counts;
    this.#progress?.update({
      done: this.#done,
      ok: created + updated,
      failed: rejected,
      skipped,
    });
  }
}
