// The state of the sending to one webhook, in memory: what waits, how far each pass has come, and since when it fails.

import type { LogState } from '../../db/changes/log-state.ts';
import type { WebhookPassRow, WebhookRow, WebhookWaitingRow } from '../../db/engine/webhook-rows.ts';
import { recordId } from '../../db/tables/record-id.ts';
import type { WebhookProgress } from '../../db/webhooks/progress.ts';
import { WAITING_CHANGES_MAX } from '../../db/webhooks/queue.ts';
import type { DisabledReason } from '../../db/webhooks/webhooks.ts';
import type { SentMessage } from './courier.ts';
import { DeliveryQueue, type QueuedChange } from './delivery-queue.ts';
import { PassProgress } from './pass-progress.ts';
import { ProgressLog, type ProgressStep } from './progress-log.ts';
import { retryDelayMs } from './retries.ts';
import type { SubscribedChange } from './webhook-scanner.ts';

// Replays leave the other half to the changes that happen now.
const REPLAYED_WAITING_MAX = WAITING_CHANGES_MAX / 2;
// Nothing is gained by knowing more that could be sent.
const READY_MAX = 64;
const FAILING_MS_MAX = 5 * 24 * 60 * 60 * 1_000;

type StoredColumns = Omit<WebhookProgress['row'], 'place'>;

/** A step to store, and what it is. */
export type StateStep = ProgressStep & { whole: WebhookProgress };

export class RunState {
  queue = new DeliveryQueue();
  /** Why the webhook must be disabled; null if it need not be. */
  disabled: DisabledReason | null = null;
  readonly #key: Pick<WebhookWaitingRow, 'org_id' | 'webhook_id'>;
  readonly #first: PassProgress;
  #replays: PassProgress[] = [];
  #log: ProgressLog;
  #columns: StoredColumns;
  // Whether everything that waited is to be dropped, and until that is stored.
  #isCleared = false;
  #isClearing = false;
  #storedSteps = 0;

  constructor({ org_id, id, place, ...row }: WebhookRow) {
    const { epoch, skipped_at, failing_since, last_success_at } = row;
    this.#key = { org_id, webhook_id: id };
    this.#columns = { epoch, skipped_at, failing_since, last_success_at };
    this.#first = new PassProgress({ pass: 0, place, last: null });
    this.#log = new ProgressLog(this.#key);
  }

  /** The epoch of the log that is followed. */
  get epoch(): string {
    return this.#columns.epoch;
  }

  /** Up to which sequence number the log was read. */
  get cursor(): number {
    return this.#first.cursor;
  }

  /** The first pass and replays that are under way. */
  get passes(): readonly PassProgress[] {
    return [this.#first, ...this.#replays];
  }

  /** Number of attempts that are not stored. */
  get unstoredAttempts(): number {
    return this.#log.unstoredAttempts;
  }

  /** Takes the changes that waited when the last server ended. */
  load(rows: readonly WebhookWaitingRow[]): void {
    for (const { pass, sequence, resource, record, attempt, next_attempt_at: nextAttemptAt } of rows) {
      const change = {
        pass,
        sequence,
        resource,
        record,
        attempt,
        nextAttemptAt,
        isSending: false,
        isDone: false,
      };
      this.#log.loaded(change);
      this.queue.add(change);
    }
  }

  /** Takes replays that have begun, as `read` finds them. */
  async beginReplays(read: () => Promise<readonly WebhookPassRow[]>): Promise<void> {
    const steps = this.#storedSteps;
    const rows = await read();
    // What was stored meanwhile can be that one of them is over.
    if (steps !== this.#storedSteps) return;
    // Until it is stored that they are dropped, they are found again.
    if (this.#isClearing) return;
    const known = new Set(this.#replays.map(({ pass }) => pass));
    for (const row of rows) if (!known.has(row.pass)) this.#replays.push(new PassProgress(row));
  }

  /**
   * Follows a log: continues at its end if the place is not in it any more, or beyond it. Returns whether it had to.
   * @param now Unix milliseconds
   */
  follow({ first, last, epoch }: LogState, now: number): boolean {
    const isOther = epoch !== this.epoch;
    if (!isOther && this.cursor > last) {
      // The database has lost its last changes, and gives their numbers to others.
      for (const change of this.queue.all) if (change.sequence > last) this.drop(change);
      this.#first.returnTo(last);
      return true;
    }
    if (!isOther && this.cursor + 1 >= first) return false;
    if (isOther) {
      for (const change of this.queue.all) change.isDone = true;
      this.queue = new DeliveryQueue();
      this.#log = new ProgressLog(this.#key);
      this.#replays = [];
      [this.#isCleared, this.#isClearing] = [true, true];
    }
    this.#first.jumpTo(last);
    this.#columns = { ...this.#columns, epoch, skipped_at: now };
    return true;
  }

  /** How many further changes of a pass there is room for. */
  roomFor(pass: PassProgress): number {
    if (this.queue.readySize >= READY_MAX) return 0;
    return (pass.last === null ? WAITING_CHANGES_MAX : REPLAYED_WAITING_MAX) - this.queue.size;
  }

  /** Adds a change that was read from the log. */
  add(pass: PassProgress, { sequence, resource, record }: SubscribedChange): void {
    const change: QueuedChange = {
      ...{ pass: pass.pass, sequence, resource, record },
      ...{ attempt: 0, nextAttemptAt: null, isSending: false, isDone: false },
    };
    pass.open(change);
    this.queue.add(change);
  }

  /** Notes that there is nothing to send of a change, because the webhook no longer sees it. */
  drop(change: QueuedChange): void {
    if (change.isDone) return;
    this.queue.finish(change);
    this.#log.touch(change);
  }

  /** Has what failed tried again at that instant (Unix milliseconds) at the latest: the webhook has a new URL, or is enabled again. */
  retryAt(at: number): void {
    this.#columns = { ...this.#columns, failing_since: null };
    for (const change of this.queue.all)
      if (!change.isSending && (change.nextAttemptAt ?? at) > at) this.queue.postpone(change, at);
  }

  /** Notes that a change was not sent after all, and when to try again. */
  delay(change: QueuedChange, nextAttemptAt: number | null): void {
    if (!change.isDone) this.queue.postpone(change, nextAttemptAt);
  }

  /** Notes an attempt; returns whether the change was given up. */
  attempted(change: QueuedChange, sent: SentMessage, random: number): boolean {
    // The log was replaced meanwhile.
    if (change.isDone) return false;
    change.attempt += 1;
    const endedAt = sent.at + sent.ms;
    const delay =
      sent.outcome === 'delivered' ? null : retryDelayMs(change.attempt, sent.retryAfterMs, random);
    const nextAttemptAt = delay === null ? null : endedAt + delay;
    if (nextAttemptAt === null) this.queue.finish(change);
    else this.queue.postpone(change, nextAttemptAt);
    this.#log.touch(change);
    this.#noteHealth(sent, endedAt);
    const { at, type, ms, status, outcome } = sent;
    this.#log.attempted({
      ...this.#key,
      ...{
        id: recordId(at),
        sequence: change.sequence,
        type,
        attempt: change.attempt,
        at,
        ms,
        status,
        outcome,
      },
      // A webhook that this attempt disables tries again only once it is enabled.
      next_attempt_at: this.disabled === null ? nextAttemptAt : null,
    });
    return outcome !== 'delivered' && nextAttemptAt === null;
  }

  #noteHealth({ outcome }: SentMessage, now: number): void {
    const failing = this.#columns.failing_since ?? now;
    if (outcome === 'delivered')
      this.#columns = { ...this.#columns, failing_since: null, last_success_at: now };
    else this.#columns = { ...this.#columns, failing_since: this.queue.size > 0 ? failing : null };
    if (outcome === 'gone') this.disabled = 'gone';
    else if (outcome !== 'delivered' && now - failing >= FAILING_MS_MAX) this.disabled = 'failing';
  }

  /** Takes everything that is to be stored, for the last time if it is the end; one step at a time. */
  takeStep(isEnd: boolean): StateStep {
    const step = this.#log.take(this.queue, this.passes, isEnd);
    const isCleared = this.#isCleared;
    this.#isCleared = false;
    const { place } = step;
    const whole = { ...step.progress, row: { ...this.#columns, place }, isCleared, disabled: this.disabled };
    return {
      ...step,
      whole,
      commit: () => {
        step.commit();
        this.#isClearing = this.#isCleared;
        this.#replays = this.#replays.filter(({ isOver }) => !isOver);
        this.#storedSteps += 1;
      },
      rollBack: () => {
        step.rollBack();
        this.#isCleared ||= isCleared;
      },
    };
  }
}
