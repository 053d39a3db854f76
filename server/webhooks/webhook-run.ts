// Sends to one webhook what it sees of the log of changes, from its place on, until it is stopped or disabled.
import { setTimeout as sleep } from 'node:timers/promises';
import { findLogState } from '../../db/changes/log-state.ts';
import type { WebhookRow } from '../../db/engine/webhook-rows.ts';
import { nextTurn } from '../../db/event-loop.ts';
import { listPasses, listWaiting } from '../../db/webhooks/queue.ts';
import { findWebhook } from '../../db/webhooks/webhooks.ts';
import { type DeliveryParts, sendMessage } from './courier.ts';
import type { QueuedChange } from './delivery-queue.ts';
import type { PassProgress } from './pass-progress.ts';
import { ProgressWriter } from './progress-writer.ts';
import { RunState } from './run-state.ts';
import type { WebhookSight } from './webhook-scanner.ts';

const UNDER_WAY_MAX = 8;
const SCANNED_MAX = 100;
const TRY_AGAIN_MS = 1_000;
const NEVER = Number.POSITIVE_INFINITY;

export class WebhookRun {
  readonly #parts: DeliveryParts;
  readonly #ending = new AbortController();
  readonly #hurry = new AbortController();
  #state: RunState;
  readonly #writer: ProgressWriter;
  readonly #ended: Promise<void>;
  #row: WebhookRow;
  #hasReplays: boolean;
  /** By `uptime`. */
  #sendsUntil = Number.NEGATIVE_INFINITY;
  #underWay = 0;
  #isLoaded = false;
  #isReadable = true;
  #isWaiting = false;
  #wake = Promise.withResolvers<void>();

  constructor(parts: DeliveryParts, row: WebhookRow, hasReplays: boolean) {
    this.#parts = parts;
    this.#row = row;
    this.#hasReplays = hasReplays;
    this.#state = new RunState(row);
    this.#writer = new ProgressWriter(parts, {
      row: () => this.#row,
      state: () => this.#state,
      onStored: () => this.#wake.resolve(),
      onLost: () => this.abandon(),
    });
    this.#ended = this.#run();
  }

  /** Takes what clients have changed about the webhook, and whether replays are under way. */
  refresh(row: WebhookRow, hasReplays: boolean): void {
    // Disabled and enabled again between two looks, it fails no more as far as the database knows.
    const isEnabledAgain = row.updated_at !== this.#row.updated_at && row.failing_since === null;
    if (row.url !== this.#row.url || isEnabledAgain) this.#state.retryAt(this.#parts.now());
    this.#row = row;
    this.#hasReplays = hasReplays;
    this.#isReadable ||= hasReplays;
    this.#wake.resolve();
  }

  /** Lets requests begin until then, by `uptime`; none before the first call. */
  sendUntil(until: number): void {
    this.#sendsUntil = until;
    this.#wake.resolve();
  }

  /** Gives up requests under way and ends, without storing anything: another server sends to the webhook. */
  abandon(): void {
    this.#writer.abandon();
    this.#hurry.abort();
    this.#end();
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
    // Ended before it knew where to continue: there is nothing to store.
    if (!this.#isLoaded) return;
    while (!this.isEnding) {
      await this.#untilDone(() => this.#read());
      this.#send();
      this.#writer.storeIfDue();
      await this.#pause();
    }
    while (this.#underWay > 0) await this.#pause();
    await this.#writer.end();
  }

  // As the last one that sent to it left it, which can be later than the row it was begun with.
  async #load(): Promise<void> {
    const { read } = this.#parts.store;
    this.#state = new RunState((await findWebhook(read, this.#key)) ?? this.#row);
    this.#state.load(await listWaiting(read, this.#key));
    this.#isLoaded = true;
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

  // Until something ends, comes or is due. The clock can be set, so that it is looked at every second.
  async #pause(): Promise<void> {
    const sendAt = this.#canSend ? (this.#state.queue.nextDueAt ?? NEVER) : NEVER;
    const dueAt = Math.min(sendAt, this.isEnding ? NEVER : this.#writer.dueAt);
    const ms = Math.min(Math.max(dueAt - this.#parts.now(), 1), TRY_AGAIN_MS);
    const timer = dueAt === NEVER ? undefined : setTimeout(this.#wake.resolve, ms);
    await this.#wake.promise;
    clearTimeout(timer);
    this.#wake = Promise.withResolvers();
  }

  // Reads on in the log while there is room for more changes.
  async #read(): Promise<void> {
    if (!this.#isReadable) return;
    const { store, now } = this.#parts;
    const log = await findLogState(store.read, this.#row.org_id);
    if (this.#state.follow(log, now())) this.#writer.note();
    // Read after that: what was dropped with another log must not begin.
    if (this.#hasReplays) await this.#state.beginReplays(() => listPasses(store.read, this.#key));
    const sight = await this.#look();
    if (sight === null) return;
    this.#isReadable = false;
    let isThereMore = false;
    for (const pass of this.#state.passes) {
      // A replay does not overtake the first pass.
      const to = pass.last === null ? log.last : Math.min(pass.last, this.#state.cursor);
      if (pass.cursor >= to) continue;
      const limit = Math.min(SCANNED_MAX, this.#state.roomFor(pass));
      if (limit > 0) await this.#scan(pass, sight, { to, limit });
      this.#isReadable ||= pass.cursor < to;
      isThereMore ||= pass.cursor < to && limit > 0;
    }
    if (this.#state.cursor >= log.last) this.#waitForChanges();
    if (!isThereMore) return;
    // A long stretch of the log is read piece by piece, with sends and other work in between.
    await nextTurn();
    this.#wake.resolve();
  }

  async #scan(
    pass: PassProgress,
    sight: WebhookSight,
    { to, limit }: { to: number; limit: number },
  ): Promise<void> {
    const range = { from: pass.cursor + 1, to };
    const { changes, cursor } = await this.#parts.scanner.scan(sight, range, limit);
    for (const change of changes) this.#state.add(pass, change);
    pass.cursor = cursor;
    this.#writer.notePlace();
  }

  // What the webhook sees now, after all that clients have changed about it; null if nothing may be sent any more.
  async #look(): Promise<WebhookSight | null> {
    const { store, scanner, now } = this.#parts;
    const row = await findWebhook(store.read, this.#key);
    if (row !== undefined && row.is_enabled === 1) {
      if (row.updated_at !== this.#row.updated_at) this.refresh(row, this.#hasReplays);
      const sight = await scanner.look(row, now());
      if (typeof sight !== 'string') return sight;
      this.#state.disabled ??= sight;
    }
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
    return !this.isEnding && !this.#writer.isBehind && this.#underWay < UNDER_WAY_MAX && this.#isLeased;
  }

  get #isLeased(): boolean {
    return this.#parts.uptime() < this.#sendsUntil;
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
      // It can have waited for its turn.
      return this.#isLeased ? message : null;
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
    this.#writer.note();
  }
}
