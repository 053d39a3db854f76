// What a person wants to know of a server: rates and latencies between two moments, and limits.
import type { MetricsSample } from './sample.ts';

/** Quantiles in seconds; null without an event. */
export interface Latency {
  p50: number | null;
  p95: number | null;
  p99: number | null;
}

export interface RouteFigures extends Latency {
  name: string;
  perSecond: number;
  /** Per second, with a status from 400 on. */
  errors: number;
}

export interface ServerFigures {
  requests: number;
  /** Per second, with a status from 500 on. */
  failures: number;
  /** Per second, by limit. */
  refusals: readonly { limit: string; perSecond: number }[];
  latency: Latency;
  commits: number;
  /** How many writes share a commit; null without one. */
  writesPerCommit: number | null;
  commitLatency: Latency;
  eventLoop: Latency;
  routes: readonly RouteFigures[];
}

/** The figures of the time between two samples. */
export function figuresBetween(before: MetricsSample, after: MetricsSample): ServerFigures {
  const seconds = Math.max(0.001, (after.atMs - before.atMs) / 1_000);
  const grown = (name: string, labels?: Record<string, string>): number => {
    const difference = after.sum(name, labels) - before.sum(name, labels);
    // A server that was restarted counts from 0 again.
    return difference < 0 ? after.sum(name, labels) : difference;
  };
  const rate = (name: string, labels?: Record<string, string>): number => grown(name, labels) / seconds;
  const latency = (name: string, labels?: Record<string, string>): Latency => {
    const buckets = bucketsOf(after, name, labels).map((le): [number, number] => [
      le,
      grown(`${name}_bucket`, { ...labels, le: labelOf(le) }),
    ]);
    return { p50: quantile(buckets, 0.5), p95: quantile(buckets, 0.95), p99: quantile(buckets, 0.99) };
  };
  const groups = grown('crm_write_group_jobs_count');
  const statuses =
    (from: number) =>
    (of: { labels: Readonly<Record<string, string>> }): boolean =>
      Number(of.labels.status) >= from;
  const counted = after.series('crm_http_requests_total');
  const sumOf = (some: typeof counted): number =>
    some.reduce((sum, { labels }) => sum + rate('crm_http_requests_total', { ...labels }), 0);
  const routes = [...Map.groupBy(counted, ({ labels }) => `${labels.method} ${labels.route}`)].map(
    ([name, some]): RouteFigures => {
      const { method = '', route = '' } = some[0]?.labels ?? {};
      return {
        ...{ name, perSecond: sumOf(some), errors: sumOf(some.filter(statuses(400))) },
        ...latency('crm_http_request_duration_seconds', { method, route }),
      };
    },
  );
  return {
    requests: sumOf(counted),
    failures: sumOf(counted.filter(statuses(500))),
    refusals: after
      .series('crm_limit_refusals_total')
      .map(({ labels: { limit = '' } }) => ({
        limit,
        perSecond: rate('crm_limit_refusals_total', { limit }),
      }))
      .filter(({ perSecond }) => perSecond > 0),
    latency: latency('crm_http_request_duration_seconds'),
    commits: rate('crm_commits_total'),
    writesPerCommit: groups === 0 ? null : grown('crm_write_group_jobs_sum') / groups,
    commitLatency: latency('crm_commit_duration_seconds'),
    eventLoop: latency('crm_event_loop_delay_seconds'),
    routes: routes.filter(({ perSecond }) => perSecond > 0),
  };
}

function bucketsOf(sample: MetricsSample, name: string, labels: Record<string, string> = {}): number[] {
  const fits = sample
    .series(`${name}_bucket`)
    .filter((one) => Object.entries(labels).every(([key, value]) => one.labels[key] === value));
  const bounds = fits.map((one) =>
    one.labels.le === '+Inf' ? Number.POSITIVE_INFINITY : Number(one.labels.le),
  );
  return [...new Set(bounds)].sort((one, other) => one - other);
}

function labelOf(bound: number): string {
  return bound === Number.POSITIVE_INFINITY ? '+Inf' : String(bound);
}

/** A quantile of cumulative buckets, as Prometheus reckons it; null if nothing was counted. */
export function quantile(
  buckets: readonly (readonly [bound: number, count: number])[],
  share: number,
): number | null {
  const total = buckets.at(-1)?.[1] ?? 0;
  if (total === 0) return null;
  const rank = share * total;
  let [below, counted] = [0, 0];
  for (const [bound, count] of buckets) {
    // Of the last bucket only its lower bound is known.
    if (count >= rank)
      return bound === Number.POSITIVE_INFINITY
        ? below
        : below + ((bound - below) * (rank - counted)) / (count - counted);
    [below, counted] = [bound, count];
  }
  return below;
}
