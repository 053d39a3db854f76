// What has happened to the changes of one webhook since its progress was stored last.
import type { WebhookDeliveryRow, WebhookWaitingRow } from '../../db/engine/webhook-rows.ts';
import type { WebhookProgress } from '../../db/webhooks/progress.ts';
import type { DeliveryQueue, QueuedChange } from './delivery-queue.ts';
import type { PassProgress } from './pass-progress.ts';

/** What is to be stored, and what is true once it is. */
export interface ProgressStep {
  progress: Pick<WebhookProgress, 'passes' | 'waiting' | 'deliveries'>;
  /** The place of the first pass. */
  place: number;
  commit(): void;
  /** Puts everything back, because it could not be stored. */
  rollBack(): void;
}

interface StoredState {
  attempt: number;
  nextAttemptAt: number | null;
}

export class ProgressLog {
  readonly #key: Pick<WebhookWaitingRow, 'org_id' | 'webhook_id'>;
  readonly #stored = new Map<QueuedChange, StoredState>();
  #touched = new Set<QueuedChange>();
  #deliveries: WebhookDeliveryRow[] = [];

  constructor(key: Pick<WebhookWaitingRow, 'org_id' | 'webhook_id'>) {
    this.#key = key;
  }

  /** Number of attempts that are not stored. */
  get unstoredAttempts(): number {
    return this.#deliveries.length;
  }

  /** Notes a change that was read from the table. */
  loaded(change: QueuedChange): void {
    this.#stored.set(change, stateOf(change));
  }

  /** Notes that a change was attempted, delivered or given up. */
  touch(change: QueuedChange): void {
    this.#touched.add(change);
  }

  /** Notes an attempt. */
  attempted(row: WebhookDeliveryRow): void {
    this.#deliveries.push(row);
  }

  /** Takes what there is to store, for the last time if it is the end. One step at a time. */
  take(queue: DeliveryQueue, passes: readonly PassProgress[], isEnd: boolean): ProgressStep {
    const [touched, deliveries] = [this.#touched, this.#deliveries];
    [this.#touched, this.#deliveries] = [new Set(), []];
    const known = [...touched].filter((change) => this.#stored.has(change));
    const deleted = known.filter(({ isDone }) => isDone);
    const updated = known.filter((change) => !change.isDone && !isSame(change, this.#stored.get(change)));
    const plans = passes.map((pass) => ({ pass, ...pass.plan(queue, isEnd) }));
    const inserted = plans.flatMap(({ stored }) => stored);
    const states = [...inserted, ...updated].map((change) => [change, stateOf(change)] as const);
    const replays = plans.filter(({ pass, place }) => pass.last !== null && place !== pass.place);
    return {
      progress: {
        passes: replays.map(({ pass: { pass, last }, place }) => ({
          ...this.#key,
          pass,
          place,
          last: last ?? 0,
        })),
        waiting: {
          inserted: inserted.map((change) => this.#rowOf(change)),
          updated: updated.map((change) => this.#rowOf(change)),
          deleted: deleted.map(({ pass, sequence }) => ({ pass, sequence })),
        },
        deliveries,
      },
      place: plans[0]?.place ?? 0,
      commit: () => {
        for (const change of deleted) this.#stored.delete(change);
        for (const [change, state] of states) this.#stored.set(change, state);
        for (const { pass, place } of plans) pass.moveTo(place);
      },
      rollBack: () => {
        for (const change of touched) this.#touched.add(change);
        this.#deliveries = [...deliveries, ...this.#deliveries];
      },
    };
  }

  #rowOf({ pass, sequence, resource, record, attempt, nextAttemptAt }: QueuedChange): WebhookWaitingRow {
    return { ...this.#key, pass, sequence, resource, record, attempt, next_attempt_at: nextAttemptAt };
  }
}

function stateOf({ attempt, nextAttemptAt }: QueuedChange): StoredState {
  return { attempt, nextAttemptAt };
}

function isSame({ attempt, nextAttemptAt }: QueuedChange, stored: StoredState | undefined): boolean {
  return stored?.attempt === attempt && stored.nextAttemptAt === nextAttemptAt;
}
