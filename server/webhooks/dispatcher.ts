// Sends all webhooks of a database, or on several nodes those that this one has a lease for.
import type { WebhookDeliveryRow, WebhookRow } from '../../db/engine/webhook-rows.ts';
import { finishPing } from '../../db/tables/webhook-deliveries.ts';
import { findWebhookWork, releaseLease, takeLease } from '../../db/tables/webhook-leases.ts';
import { type DeliveryParts, sendMessage } from './courier.ts';
import { WebhookRun } from './webhook-run.ts';

interface Held {
  row: WebhookRow;
  /** Until when the lease holds, in Unix milliseconds. */
  until: number;
  /** Null while the webhook is disabled, and only pings are sent. */
  run: WebhookRun | null;
  isLeaving: boolean;
}

const LEASE_MS = 30_000;
const RENEW_BEFORE_MS = 20_000;
// A request that is sent must be over before another node can begin.
const LEASE_MARGIN_MS = 16_000;
const LOOK_EVERY_MS = 1_000;
// For requests that are under way when a client disables a webhook.
const GRACE_MS = 15_000;
// With very many webhooks, looking takes at most this part of the time.
const LOOK_SHARE = 1 / 50;

export class WebhookDispatcher {
  readonly #parts: DeliveryParts;
  readonly #held = new Map<string, Held>();
  /** Pings that are under way, by ID. */
  readonly #pings = new Map<string, Promise<void>>();
  readonly #hurry = new AbortController();
  readonly #ending = new AbortController();
  #looking: Promise<void> = Promise.resolve();
  #timer: Timer | undefined;

  constructor(parts: DeliveryParts) {
    this.#parts = parts;
    this.#looking = this.#lookAgain();
  }

  /** Looks for work now, instead of within a second. */
  async look(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#looking;
    clearTimeout(this.#timer);
    this.#looking = this.#lookAgain();
    await this.#looking;
  }

  /** Waits at most `graceMs` for requests under way, stores what came of them, and gives the leases back. */
  async stop(graceMs: number): Promise<void> {
    this.#ending.abort();
    clearTimeout(this.#timer);
    await this.#looking;
    clearTimeout(this.#timer);
    const timer = setTimeout(() => this.#hurry.abort(), graceMs);
    await Promise.all([
      ...this.#pings.values(),
      ...[...this.#held.values()].map((held) => this.#leave(held, graceMs)),
    ]);
    clearTimeout(timer);
  }

  async #lookAgain(): Promise<void> {
    const startedAt = performance.now();
    // What fails now is tried again at the next look.
    await this.#lookOnce().catch(() => undefined);
    if (this.#ending.signal.aborted) return;
    const ms = Math.max(LOOK_EVERY_MS, (performance.now() - startedAt) / LOOK_SHARE);
    this.#timer = setTimeout(() => {
      this.#looking = this.#lookAgain();
    }, ms);
  }

  async #lookOnce(): Promise<void> {
    const work = await findWebhookWork(this.#parts.store.read);
    const wanted = new Set(work.webhooks.map(({ id }) => id));
    for (const held of this.#held.values()) if (!wanted.has(held.row.id)) void this.#leave(held);
    await this.#lease(work.webhooks);
    const replayed = new Set(work.passes.map(({ webhook_id }) => webhook_id));
    for (const row of work.webhooks) {
      const held = this.#held.get(row.id);
      if (held !== undefined) this.#refresh(held, row, replayed.has(row.id));
    }
    for (const ping of work.pings) {
      const held = this.#held.get(ping.webhook_id);
      if (held !== undefined && this.#mayBegin(held) && !this.#pings.has(ping.id))
        this.#pings.set(ping.id, this.#ping(held, ping));
    }
  }

  // Takes the leases that are free, and renews its own.
  async #lease(rows: readonly WebhookRow[]): Promise<void> {
    const { holder, now } = this.#parts;
    const due = rows.filter((row) => {
      const held = this.#held.get(row.id);
      if (held !== undefined) return held.until - now() < RENEW_BEFORE_MS;
      return holder === '' || row.lease_holder === null || (row.lease_until ?? 0) < now();
    });
    // An organization that cannot be written to right now does not hold up the others.
    await Promise.allSettled(
      [...Map.groupBy(due, ({ org_id }) => org_id)].map(async ([orgNumber, some]) => {
        for (const [row, until] of await takeLeases(this.#parts, orgNumber, some)) this.#hold(row, until);
      }),
    );
  }

  #hold(row: WebhookRow, until: number): void {
    const held = this.#held.getOrInsert(row.id, {
      row,
      until,
      run: null,
      isLeaving: false,
    });
    held.until = until;
    if (held.run !== null) held.run.sendsUntil = until - LEASE_MARGIN_MS;
  }

  #refresh(held: Held, row: WebhookRow, hasReplays: boolean): void {
    held.row = row;
    const { run } = held;
    if (run?.isEnding || (run !== null && row.is_enabled === 0)) void this.#leave(held);
    else if (run !== null) run.refresh(row, hasReplays);
    else if (row.is_enabled === 1 && this.#mayBegin(held)) {
      held.run = new WebhookRun(this.#parts, row, hasReplays);
      held.run.sendsUntil = held.until - LEASE_MARGIN_MS;
    }
  }

  #mayBegin({ until, isLeaving }: Held): boolean {
    return !isLeaving && !this.#ending.signal.aborted && this.#parts.now() < until - LEASE_MARGIN_MS;
  }

  // Ends its run and gives the lease back; a later look can take it again.
  async #leave(held: Held, graceMs = GRACE_MS): Promise<void> {
    const { store, holder } = this.#parts;
    const { row, run } = held;
    const isFirst = !held.isLeaving;
    held.isLeaving = true;
    await run?.stop(graceMs);
    if (!isFirst) return;
    this.#held.delete(row.id);
    // If that fails, the lease ends by itself.
    if (holder !== '')
      await store.write(row.org_id, (trx) => releaseLease(trx, row, holder)).catch(() => undefined);
  }

  async #ping(held: Held, ping: WebhookDeliveryRow): Promise<void> {
    const { store, scanner } = this.#parts;
    try {
      const prepare = async () => scanner.ping(ping);
      const sent = await sendMessage(this.#parts, () => held.row, prepare, this.#hurry.signal);
      if (sent === null) return;
      const { at, ms, status, outcome } = sent;
      await store.write(ping.org_id, (trx) => finishPing(trx, ping, { at, ms, status, outcome }));
    } catch {
      // The next look finds it again.
    } finally {
      this.#pings.delete(ping.id);
    }
  }
}

// Until when the leases of webhooks hold that this server now has, in Unix milliseconds.
async function takeLeases(
  { store, holder, now }: DeliveryParts,
  orgNumber: number,
  rows: readonly WebhookRow[],
): Promise<Map<WebhookRow, number>> {
  const at = now();
  if (holder !== '')
    return store.write(orgNumber, async (trx) => {
      const lease = { holder, now: at, until: at + LEASE_MS };
      const taken = new Map<WebhookRow, number>();
      for (const row of rows) if (await takeLease(trx, row, lease)) taken.set(row, lease.until);
      return taken;
    });
  // No other server serves the file; leases in it are of a database that it was copied from.
  const foreign = rows.filter((row) => row.lease_holder !== null);
  if (foreign.length > 0)
    await store.write(orgNumber, async (trx) => {
      for (const row of foreign) await releaseLease(trx, row, row.lease_holder ?? '');
    });
  return new Map(rows.map((row) => [row, Number.POSITIVE_INFINITY]));
}
