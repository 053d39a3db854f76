// Counts the requests that one thread answers, in plain numbers that become metrics when they are scraped.
import { Histogram, SECONDS_BUCKETS } from '../../db/engine/histogram.ts';
import type { Api } from '../../db/tables/key-format.ts';
import { LIMIT_NAMES, type LimitName } from '../errors.ts';
import type { Exchange } from '../pipeline/exchange.ts';
import type { Observer, SharedLimits } from '../pipeline/observer.ts';
import { LoopDelay } from './loop-delay.ts';
import { type Metric, MetricValues } from './metric-values.ts';

/** Results of the requests to one route with one method. */
interface RouteStats {
  api: Api;
  route: string;
  method: string;
  /** How many responses had each status. */
  statuses: Map<number, number>;
  seconds: Histogram;
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);
/** Labels for values that clients can make up: unknown paths and unknown methods. */
const NO_ROUTE: Record<Api, string> = { v1: '/api/v1/*', v2: '/*' };
const NO_METHOD = 'other';

export class RequestMetrics implements Observer {
  /** By path, then by method. */
  readonly #routes = new Map<string, Map<string, RouteStats>>();
  readonly #refusals = new Map<LimitName, number>(LIMIT_NAMES.map((limit) => [limit, 0]));
  readonly #delay = new LoopDelay();
  readonly #now: () => number;
  #replays = 0;
  #shared: SharedLimits | undefined;

  /** @param now Unix milliseconds */
  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  watch(shared: SharedLimits): void {
    this.#shared = shared;
  }

  responded(exchange: Exchange, status: number): void {
    const { statuses, seconds } = this.#statsOf(exchange);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    seconds.add((performance.now() - exchange.begunAt - exchange.heldMs) / 1_000);
    const { refusedBy } = exchange;
    if (refusedBy !== null) this.#refusals.set(refusedBy, (this.#refusals.get(refusedBy) ?? 0) + 1);
    if (exchange.headers['Idempotent-Replayed'] !== undefined) this.#replays += 1;
  }

  /** All metrics of this thread; `inFlight` requests are in progress. */
  metrics(inFlight: number): Metric[] {
    const metrics = new MetricValues();
    for (const methods of this.#routes.values()) {
      for (const stats of methods.values()) putRoute(metrics, stats);
    }
    metrics.put('crm_http_requests_in_flight', inFlight, {});
    for (const [limit, count] of this.#refusals) metrics.put('crm_limit_refusals_total', count, { limit });
    metrics.put('crm_idempotent_replays_total', this.#replays, {});
    if (this.#shared !== undefined) putShared(metrics, this.#shared, this.#now());
    metrics.putHistogram('crm_event_loop_delay_seconds', this.#delay.seconds, {});
    return metrics.all;
  }

  #statsOf({ api, route: known, request }: Exchange): RouteStats {
    const route = known ?? NO_ROUTE[api];
    const method = METHODS.has(request.method) ? request.method : NO_METHOD;
    return this.#routes
      .getOrInsertComputed(route, () => new Map())
      .getOrInsertComputed(method, () => ({
        ...{ api, route, method },
        statuses: new Map(),
        seconds: new Histogram(SECONDS_BUCKETS),
      }));
  }
}

function putRoute(metrics: MetricValues, { api, route, method, statuses, seconds }: RouteStats): void {
  for (const [status, count] of statuses)
    metrics.put('crm_http_requests_total', count, { api, method, route, status: String(status) });
  metrics.putHistogram('crm_http_request_duration_seconds', seconds, { method, route });
}

function putShared(
  metrics: MetricValues,
  { limiter, bodies, answers, held }: SharedLimits,
  now: number,
): void {
  for (const { limit, perMinute, usedMost } of limiter.stats(now)) {
    metrics.put('crm_rate_limit_requests_per_minute', perMinute, { limit });
    metrics.put('crm_rate_limit_used_ratio', usedMost, { limit });
  }
  const sent = bodies.stats();
  metrics.put('crm_request_body_bytes', sent.bytes, {});
  metrics.put('crm_request_body_limit_bytes', sent.bytesMax, {});
  metrics.put('crm_request_bodies_waiting', sent.waiting, {});
  const answered = answers.stats();
  metrics.put('crm_answer_bytes', answered.bytes, {});
  metrics.put('crm_answer_limit_bytes', answered.bytesMax, {});
  metrics.put('crm_answers_waiting', answered.waiting, {});
  const { wait, stream } = held.stats();
  metrics.put('crm_change_waits_held', wait, {});
  metrics.put('crm_change_streams_open', stream, {});
}
