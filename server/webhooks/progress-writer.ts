// Stores how far the sending to one webhook has come, a few times a second at most.
import { hostname } from 'node:os';
import type { WebhookRow } from '../../db/engine/webhook-rows.ts';
import { saveProgress } from '../../db/webhooks/progress.ts';
import type { DeliveryParts } from './courier.ts';
import type { RunState } from './run-state.ts';

const STORE_AFTER_MS = 250;
// A place alone: after a crash, what follows it is read again, which costs little.
const STORE_PLACE_AFTER_MS = 5_000;
const UNSTORED_MAX = 500;
const TRY_AGAIN_MS = 1_000;
const NEVER = Number.POSITIVE_INFINITY;

/** What is stored, and who is told of that. */
export interface WrittenProgress {
  row: () => WebhookRow;
  state: () => RunState;
  /** Called once something could be due. */
  onStored: () => void;
  /** Called when nothing can be stored any more: the webhook is gone, or another server sends to it. */
  onLost: () => void;
}

export class ProgressWriter {
  readonly #parts: DeliveryParts;
  readonly #progress: WrittenProgress;
  #storing: Promise<void> | null = null;
  #storeAt = NEVER;
  #isLost = false;

  constructor(parts: DeliveryParts, progress: WrittenProgress) {
    this.#parts = parts;
    this.#progress = progress;
  }

  /** When something is to be stored, in Unix milliseconds; infinite if nothing is, or something is being stored. */
  get dueAt(): number {
    return this.#storing === null ? this.#storeAt : NEVER;
  }

  /** Whether so much waits to be stored that nothing more should be sent. */
  get isBehind(): boolean {
    return this.#progress.state().unstoredAttempts >= UNSTORED_MAX * 2;
  }

  /** Notes that there is something to store soon. */
  note(): void {
    this.#storeWithin(STORE_AFTER_MS);
  }

  /** Notes that only a place has moved, which can wait for seconds. */
  notePlace(): void {
    this.#storeWithin(STORE_PLACE_AFTER_MS);
  }

  /** Begins to store what is due. */
  storeIfDue(): void {
    const { state, onStored } = this.#progress;
    const isDue = this.#parts.now() >= this.#storeAt || state().unstoredAttempts >= UNSTORED_MAX;
    if (!isDue || this.#storing !== null) return;
    this.#storeAt = NEVER;
    this.#storing = this.#store().finally(() => {
      this.#storing = null;
      onStored();
    });
  }

  /** Stores everything, for the last time. */
  async end(): Promise<void> {
    await this.#storing;
    await this.#store(true);
  }

  /** Stores nothing any more. */
  abandon(): void {
    this.#isLost = true;
  }

  #storeWithin(ms: number): void {
    this.#storeAt = Math.min(this.#storeAt, this.#parts.now() + ms);
  }

  async #store(isEnd = false): Promise<void> {
    if (this.#isLost) return;
    const { store, holder, now, onDisabled } = this.#parts;
    const { state, row, onLost } = this.#progress;
    const { org_id: orgNumber, id } = row();
    const step = state().takeStep(isEnd);
    try {
      const by = { holder, host: hostname(), now: now() };
      const isSaved = await store.write(orgNumber, (trx) =>
        saveProgress(trx, { orgNumber, id }, by, step.whole),
      );
      step.commit();
      if (isSaved && step.whole.disabled !== null) onDisabled(row(), step.whole.disabled);
      if (!isSaved) onLost();
    } catch {
      step.rollBack();
      this.#storeWithin(TRY_AGAIN_MS);
    }
  }
}
