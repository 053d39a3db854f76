// Sends to one webhook what it sees of the log of changes, from its place on, until it is stopped or disabled.
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WebhookRow } from '../../db/engine/webhook-rows.ts';
import { findLogState } from '../../db/tables/log-state.ts';
import { saveProgress } from '../../db/tables/webhook-progress.ts';
import { listPasses, listWaiting } from '../../db/tables/webhook-queue.ts';
import { findWebhook } from '../../db/tables/webhooks.ts';
import { type DeliveryParts, sendMessage } from './courier.ts';
import type { QueuedChange } from './delivery-queue.ts';
import { RunState } from './run-state.ts';
import type { WebhookSight } from './webhook-scanner.ts';

const UNDER_WAY_MAX = 8;
const SCANNED_MAX = 100;
const STORE_AFTER_MS = 250;
// A place alone: after a crash, what follows it is read again, which costs little.
const STORE_PLACE_AFTER_MS = 5_000;
const UNSTORED_MAX = 500;
const TRY_AGAIN_MS = 1_000;
const NEVER = Number.POSITIVE_INFINITY;

export class WebhookRun {
  /** Until when requests can begin, in Unix milliseconds. */
  sendsUntil = NEVER;
  readonly #parts: DeliveryParts;
  readonly #ending = new AbortController();
  readonly #hurry = new AbortController();
  #state: RunState;
  readonly #ended: Promise<void>;
  #row: WebhookRow;
  #hasReplays: boolean;
  #underWay = 0;
  #isReadable = true;
  #isWaiting = false;
  #isLost = false;
  #storing: Promise<void> | null = null;
  #storeAt = NEVER;
  #wake = Promise.withResolvers<void>();

  constructor(parts: DeliveryParts, row: WebhookRow, hasReplays: boolean) {
    this.#parts = parts;
    this.#row = row;
    this.#hasReplays = hasReplays;
    this.#state = new RunState(row);
    this.#ended = this.#run();
  }

  /** Takes what clients have changed about the webhook, and whether replays are under way. */
  refresh(row: WebhookRow, hasReplays: boolean): void {
    if (row.url !== this.#row.url) this.#state.retryAt(this.#parts.now());
    this.#row = row;
    this.#hasReplays = hasReplays;
    this.#isReadable ||= hasReplays;
    this.#wake.resolve();
  }

  /** Whether it has ended, or is about to. */
  get isEnding(): boolean {
    return this.#ending.signal.aborted;
  }

  /** Waits at most `graceMs` for requests under way, stores what came of them, and ends. */
  async stop(graceMs: number): Promise<void> {
    this.#end();
    const timer = setTimeout(() => this.#hurry.abort(), graceMs);
    await this.#ended;
    clearTimeout(timer);
  }

  get #key() {
    return { orgNumber: this.#row.org_id, id: this.#row.id };
  }

  #end(): void {
    this.#ending.abort();
    this.#wake.resolve();
  }

  async #run(): Promise<void> {
    await this.#untilDone(() => this.#load());
    while (!this.isEnding) {
      await this.#untilDone(() => this.#read());
      this.#send();
      this.#storeIfDue();
      await this.#pause();
    }
    while (this.#underWay > 0) await this.#pause();
    await this.#storing;
    await this.#store(true);
  }

  // As the last one that sent to it left it, which can be later than the row it was begun with.
  async #load(): Promise<void> {
    const { read } = this.#parts.store;
    this.#state = new RunState((await findWebhook(read, this.#key)) ?? this.#row);
    this.#state.load(await listWaiting(read, this.#key));
  }

  async #untilDone(step: () => Promise<void>): Promise<void> {
    while (!this.isEnding) {
      try {
        return await step();
      } catch {
        await sleep(TRY_AGAIN_MS, undefined, { signal: this.#ending.signal }).catch(() => undefined);
      }
    }
  }

  // Until something ends, comes or is due; the server also wakes it every second.
  async #pause(): Promise<void> {
    const sendAt = this.#canSend ? (this.#state.queue.nextDueAt ?? NEVER) : NEVER;
    const dueAt = Math.min(sendAt, this.isEnding || this.#storing !== null ? NEVER : this.#storeAt);
    const ms = dueAt - this.#parts.now();
    const timer = ms <= TRY_AGAIN_MS ? setTimeout(this.#wake.resolve, Math.max(ms, 1)) : undefined;
    await this.#wake.promise;
    clearTimeout(timer);
    this.#wake = Promise.withResolvers();
  }

  // Reads on in the log while there is room for more changes.
  async #read(): Promise<void> {
    if (!this.#isReadable) return;
    const { store, now } = this.#parts;
    const log = await findLogState(store.read, this.#row.org_id);
    if (this.#state.follow(log, now())) this.#storeWithin(STORE_AFTER_MS);
    // Read after that: what was dropped with another log must not begin.
    if (this.#hasReplays) this.#state.beginReplays(await listPasses(store.read, this.#key));
    const sight = await this.#look();
    if (sight === null) return;
    this.#isReadable = false;
    for (const pass of this.#state.passes) {
      // A replay does not overtake the first pass.
      const to = pass.last === null ? log.last : Math.min(pass.last, this.#state.cursor);
      while (pass.cursor < to && !this.isEnding) {
        const limit = Math.min(SCANNED_MAX, this.#state.roomFor(pass));
        this.#isReadable ||= limit <= 0;
        if (limit <= 0) break;
        const { changes, cursor } = await this.#parts.scanner.scan(
          sight,
          { from: pass.cursor + 1, to },
          limit,
        );
        for (const change of changes) this.#state.add(pass, change);
        pass.cursor = cursor;
        this.#storeWithin(STORE_PLACE_AFTER_MS);
      }
    }
    if (this.#state.cursor >= log.last) this.#waitForChanges();
  }

  // What the webhook sees now; null if it must be disabled.
  async #look(): Promise<WebhookSight | null> {
    const sight = await this.#parts.scanner.look(this.#row, this.#parts.now());
    if (typeof sight !== 'string') return sight;
    this.#state.disabled ??= sight;
    this.#end();
    return null;
  }

  #waitForChanges(): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    this.#parts.store.signals
      .wait(this.#row.org_id, this.#state.cursor, this.#ending.signal)
      .catch(() => sleep(TRY_AGAIN_MS))
      .finally(() => {
        this.#isWaiting = false;
        this.#isReadable = true;
        this.#wake.resolve();
      });
  }

  get #canSend(): boolean {
    const { now } = this.#parts;
    const isBehind = this.#state.unstoredAttempts >= UNSTORED_MAX * 2;
    return !this.isEnding && !isBehind && this.#underWay < UNDER_WAY_MAX && now() < this.sendsUntil;
  }

  #send(): void {
    while (this.#canSend) {
      const change = this.#state.queue.take(this.#parts.now());
      if (change === null) return;
      this.#underWay += 1;
      this.#deliver(change).finally(() => {
        this.#underWay -= 1;
        this.#wake.resolve();
      });
    }
  }

  async #deliver(change: QueuedChange): Promise<void> {
    const { scanner, stats, now } = this.#parts;
    const { epoch } = this.#state;
    let isVisible = true;
    const prepare = async () => {
      const sight = await this.#look();
      if (sight === null) return null;
      const message = await scanner.message(sight, epoch, change.sequence);
      isVisible = message !== null;
      return message;
    };
    // What fails before it is sent, for example because the database cannot be read, is not an attempt.
    const sent = await sendMessage(this.#parts, () => this.#row, prepare, this.#hurry.signal).catch(
      () => undefined,
    );
    if (!isVisible) this.#state.drop(change);
    else if (sent === undefined) this.#state.delay(change, now() + TRY_AGAIN_MS);
    else if (sent === null) this.#state.delay(change, change.nextAttemptAt);
    else if (this.#state.attempted(change, sent, Math.random())) stats.givenUp += 1;
    if (this.#state.disabled !== null) this.#end();
    this.#storeWithin(STORE_AFTER_MS);
  }

  #storeWithin(ms: number): void {
    this.#storeAt = Math.min(this.#storeAt, this.#parts.now() + ms);
  }

  #storeIfDue(): void {
    const isDue = this.#parts.now() >= this.#storeAt || this.#state.unstoredAttempts >= UNSTORED_MAX;
    if (!isDue || this.#storing !== null) return;
    this.#storeAt = NEVER;
    this.#storing = this.#store().finally(() => {
      this.#storing = null;
      this.#wake.resolve();
    });
  }

  async #store(isEnd = false): Promise<void> {
    if (this.#isLost) return;
    const { store, holder, now, onDisabled } = this.#parts;
    const { orgNumber } = this.#key;
    const step = this.#state.takeStep(isEnd);
    try {
      const by = { holder, host: hostname(), now: now() };
      const isSaved = await store.write(orgNumber, (trx) => saveProgress(trx, this.#key, by, step.whole));
      step.commit();
      if (isSaved && step.whole.disabled !== null) onDisabled(this.#row, step.whole.disabled);
      if (isSaved) return;
      // It is gone, or another server sends to it.
      this.#isLost = true;
      this.#hurry.abort();
      this.#end();
    } catch {
      step.rollBack();
      this.#storeWithin(TRY_AGAIN_MS);
    }
  }
}
