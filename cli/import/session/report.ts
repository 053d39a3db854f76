// Shows the progress of an import, and collects the reasons of rejected rows.
import { Display, type ProgressOptions } from '../../terminal/progress.ts';
import type { Counts } from '../request.ts';
import { RejectionReasons } from './rejection-reasons.ts';

/** Feeds the progress display. */
export class Reporter extends Display {
  readonly reasons = new RejectionReasons();
  #isTogether = false;

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

  override async start(options: ProgressOptions): Promise<boolean> {
    const isNew = await super.start(options);
    if (!isNew) return false;
    this.reasons.clear();
    this.settled(options.startAt ?? 0, {});
    return true;
  }

  settled(done: number, { skipped = 0, rejected = 0, ...others }: Partial<Counts>): void {
    const ok = Object.values(others).reduce((sum, count) => sum + count, 0);
    this.show({ done, ok, failed: rejected, skipped, reasons: this.reasons.shortLines });
  }

  override async stop(): Promise<void> {
    if (!this.#isTogether) await super.stop();
  }
}
