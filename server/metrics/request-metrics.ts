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
    seconds.add((performance.now() - exchange.begunAt) / 1_000);
    if (exchange.refusedBy !== null) this.#noteRefusal(exchange.refusedBy);
    if (exchange.headers['Idempotent-Replayed'] !== undefined) this.#replays += 1;
  }

  /** All metrics of this thread; `inFlight` requests are in progress. */
  metrics(inFlight: number): Metric[] {
    const sheet = new MetricValues();
    for (const methods of this.#routes.values()) {
      for (const stats of methods.values()) putRoute(sheet, stats);
    }
    sheet.put('crm_http_requests_in_flight', inFlight, {});
    for (const [limit, count] of this.#refusals) sheet.put('crm_limit_refusals_total', count, { limit });
    sheet.put('crm_idempotent_replays_total', this.#replays, {});
    if (this.#shared !== undefined) putShared(sheet, this.#shared, this.#now());
    sheet.spread('crm_event_loop_delay_seconds', this.#delay.seconds, {});
    return sheet.metrics;
  }

  #statsOf({ api, route, request }: Exchange): RouteStats {
    const path = route ?? NO_ROUTE[api];
    const { method } = request;
    const methods = this.#methodsOf(path);
    const known = methods.get(method);
    if (known !== undefined) return known;
    const shown = METHODS.has(method) ? method : NO_METHOD;
    const stats = methods.get(shown) ?? noRequests({ api, route: path, method: shown });
    methods.set(shown, stats);
    return stats;
  }

  #methodsOf(path: string): Map<string, RouteStats> {
    let methods = this.#routes.get(path);
    if (methods === undefined) {
      methods = new Map();
      this.#routes.set(path, methods);
    }
    return methods;
  }

  #noteRefusal(limit: LimitName): void {
    this.#refusals.set(limit, (this.#refusals.get(limit) ?? 0) + 1);
  }
}

function noRequests(to: Pick<RouteStats, 'api' | 'route' | 'method'>): RouteStats {
  return { ...to, statuses: new Map(), seconds: new Histogram(SECONDS_BUCKETS) };
}

function putRoute(sheet: MetricValues, { api, route, method, statuses, seconds }: RouteStats): void {
  for (const [status, count] of statuses)
    sheet.put('crm_http_requests_total', count, { api, method, route, status: String(status) });
  sheet.spread('crm_http_request_duration_seconds', seconds, { method, route });
}

function putShared(sheet: MetricValues, { limiter, bodies, answers }: SharedLimits, now: number): void {
  for (const { limit, perMinute, usedMost } of limiter.stats(now)) {
    sheet.put('crm_rate_limit_requests_per_minute', perMinute, { limit });
    sheet.put('crm_rate_limit_used_ratio', usedMost, { limit });
  }
  const sent = bodies.stats();
  sheet.put('crm_request_body_bytes', sent.bytes, {});
  sheet.put('crm_request_body_limit_bytes', sent.bytesMax, {});
  sheet.put('crm_request_bodies_waiting', sent.waiting, {});
  const answered = answers.stats();
  sheet.put('crm_answer_bytes', answered.bytes, {});
  sheet.put('crm_answer_limit_bytes', answered.bytesMax, {});
  sheet.put('crm_answers_waiting', answered.waiting, {});
}
