// Sends all webhooks of a database, or on several nodes those that this one has a lease for.
import { setTimeout as sleep } from 'node:timers/promises';
import type { WebhookDeliveryRow, WebhookRow } from '../../db/engine/webhook-rows.ts';
import { finishPing } from '../../db/webhooks/deliveries.ts';
import {
  findWebhookWork,
  releaseLease,
  renewLease,
  takeLease,
  type WebhookToSend,
} from '../../db/webhooks/leases.ts';
import { type DeliveryParts, sendMessage } from './courier.ts';
import { WebhookRun } from './webhook-run.ts';

interface Held {
  row: WebhookRow;
  /** Until when the lease holds, by `uptime`. */
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
// With very many webhooks, looking takes at most this part of the time, but comes in time to renew leases.
const LOOK_SHARE = 1 / 50;
const LOOK_EVERY_MS_MAX = 3_000;
// For requests that are under way when a client disables a webhook.
const GRACE_MS = 15_000;

export class WebhookDispatcher {
  readonly #parts: DeliveryParts;
  readonly #held = new Map<string, Held>();
  /** Pings that are under way, by ID. */
  readonly #pings = new Map<string, Promise<void>>();
  /** Organizations whose leases are being taken or renewed. */
  readonly #leasing = new Set<number>();
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
    const took = performance.now() - startedAt;
    const ms = Math.min(Math.max(LOOK_EVERY_MS, took / LOOK_SHARE), LOOK_EVERY_MS_MAX);
    this.#timer = setTimeout(() => {
      this.#looking = this.#lookAgain();
    }, ms);
  }

  async #lookOnce(): Promise<void> {
    const before = [...this.#held.values()];
    const pinging = new Set(this.#pings.keys());
    const work = await findWebhookWork(this.#parts.store.read);
    const rows = new Map(work.webhooks.map((row) => [row.id, row]));
    for (const held of before) {
      const row = rows.get(held.row.id);
      if (row === undefined) void this.#leave(held);
      else if (this.#isOfAnother(row)) this.#lose(held);
    }
    await this.#lease(work.webhooks);
    const replayed = new Set(work.passes.map(({ webhook_id }) => webhook_id));
    for (const row of work.webhooks) {
      const held = this.#held.get(row.id);
      if (held !== undefined) this.#refresh(held, row, replayed.has(row.id));
    }
    for (const ping of work.pings) {
      const held = this.#held.get(ping.webhook_id);
      // One that has ended since then was still pending when it was read.
      const isKnown = pinging.has(ping.id) || this.#pings.has(ping.id);
      if (held !== undefined && this.#mayBegin(held) && !isKnown)
        this.#pings.set(ping.id, this.#ping(held, ping));
    }
  }

  // Whether another server has or had the lease since this one took it.
  #isOfAnother({ lease_holder }: WebhookRow): boolean {
    const { holder } = this.#parts;
    return holder !== '' && lease_holder !== holder;
  }

  // Takes the leases that are free, and renews its own.
  async #lease(rows: readonly WebhookToSend[]): Promise<void> {
    const { holder, uptime } = this.#parts;
    const due = rows.filter((row) => {
      if (this.#leasing.has(row.org_id)) return false;
      const held = this.#held.get(row.id);
      if (held !== undefined) return held.until - uptime() < RENEW_BEFORE_MS;
      return holder === '' || row.is_leased === 0 || row.lease_holder === holder;
    });
    const leasing = [...Map.groupBy(due, ({ org_id }) => org_id)].map(([orgNumber, some]) =>
      this.#leaseOf(orgNumber, some),
    );
    // An organization that cannot be written to right now does not hold up the others.
    await Promise.race([Promise.all(leasing), sleep(LOOK_EVERY_MS, undefined, { ref: false })]);
  }

  async #leaseOf(orgNumber: number, rows: readonly WebhookRow[]): Promise<void> {
    this.#leasing.add(orgNumber);
    try {
      if (this.#parts.holder === '') await this.#clearLeases(orgNumber, rows);
      else await this.#writeLeases(orgNumber, rows);
    } catch {
      // The next look tries again.
    } finally {
      this.#leasing.delete(orgNumber);
    }
  }

  // No other server serves the file; leases in it are of a database that it was copied from.
  async #clearLeases(orgNumber: number, rows: readonly WebhookRow[]): Promise<void> {
    const foreign = rows.filter((row) => row.lease_holder !== null);
    if (foreign.length > 0)
      await this.#parts.store.write(orgNumber, async (trx) => {
        for (const row of foreign) await releaseLease(trx, row, row.lease_holder ?? '');
      });
    for (const row of rows) this.#hold(row, Number.POSITIVE_INFINITY);
  }

  async #writeLeases(orgNumber: number, rows: readonly WebhookRow[]): Promise<void> {
    const { store, holder, uptime } = this.#parts;
    // Before the database does, so that the lease ends here first.
    const until = uptime() + LEASE_MS;
    const lease = { holder, ms: LEASE_MS };
    const held = new Map(rows.map((row) => [row, this.#held.get(row.id)]));
    const got = await store.write(orgNumber, async (trx) => {
      const leased = new Set<WebhookRow>();
      for (const [row, own] of held)
        if (await (own === undefined ? takeLease : renewLease)(trx, row, lease)) leased.add(row);
      return leased;
    });
    for (const [row, own] of held) {
      const isStillOwn = own === undefined || this.#held.get(row.id) === own;
      if (got.has(row) && isStillOwn) this.#hold(row, until);
      else if (own !== undefined) this.#lose(own);
    }
  }

  #hold(row: WebhookRow, until: number): void {
    const held = this.#held.getOrInsert(row.id, {
      row,
      until,
      run: null,
      isLeaving: false,
    });
    held.until = until;
    held.run?.sendUntil(until - LEASE_MARGIN_MS);
    if (this.#ending.signal.aborted) void this.#leave(held);
  }

  #refresh(held: Held, row: WebhookRow, hasReplays: boolean): void {
    held.row = row;
    const { run } = held;
    if (run?.isEnding || (run !== null && row.is_enabled === 0)) void this.#leave(held);
    else if (run !== null) run.refresh(row, hasReplays);
    else if (row.is_enabled === 1 && this.#mayBegin(held)) {
      held.run = new WebhookRun(this.#parts, row, hasReplays);
      held.run.sendUntil(held.until - LEASE_MARGIN_MS);
    }
  }

  #mayBegin({ until, isLeaving }: Held): boolean {
    return !isLeaving && !this.#ending.signal.aborted && this.#parts.uptime() < until - LEASE_MARGIN_MS;
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

  // Another server sends to it, or has done so: what is known here is out of date.
  #lose(held: Held): void {
    held.run?.abandon();
    void this.#leave(held, 0);
  }

  async #ping(held: Held, ping: WebhookDeliveryRow): Promise<void> {
    const { store, scanner } = this.#parts;
    try {
      // It can have waited for its turn.
      const prepare = async () => (this.#mayBegin(held) ? scanner.ping(ping) : null);
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
