// The lines of `crm top`: what the server does, then its busiest routes.
import { formatBytes, formatCount } from '../terminal/format.ts';
import { fit } from '../terminal/screen-text.ts';
import type { Latency, RouteFigures, ServerFigures } from './figures.ts';
import type { MetricsSample } from './sample.ts';

export const ORDERS = ['rate', 'latency', 'errors'] as const;
export type RouteOrder = (typeof ORDERS)[number];

const LABEL_COLUMNS = 13;
const NUMBER_COLUMNS = 9;
// Nothing was measured.
const NONE = '–';

/** Version, engine and state of the server. */
export function headLine(sample: MetricsSample, url: string): string {
  const { version = '', engine = '' } = sample.series('crm_build_info')[0]?.labels ?? {};
  const readers = sample.sum('crm_reader_threads');
  const facts = [
    `crm ${version}`,
    engine,
    sample.sum('crm_ready') === 1 ? 'ready' : 'NOT READY',
    ...(readers > 0 ? [`${readers} readers`] : []),
    url,
  ];
  return facts.join(' · ');
}

/** A line for each subject; figures are null until there are two samples. */
export function serverLines(sample: MetricsSample, figures: ServerFigures | null): string[] {
  const value = (name: string): string => formatCount(sample.sum(name));
  return [
    ...(figures === null
      ? [line('Requests', ['measuring…'])]
      : [
          line('Requests', [
            `${rate(figures.requests)}/s`,
            `${rate(figures.failures)}/s failed`,
            ...figures.refusals.map(({ limit, perSecond }) => `${rate(perSecond)}/s refused: ${limit}`),
            `${value('crm_http_requests_in_flight')} in flight`,
          ]),
          line('Latency', latencies(figures.latency)),
        ]),
    line('Limits', limits(sample)),
    ...(figures === null ? [] : [line('Commits', [`${rate(figures.commits)}/s`, ...commits(figures)])]),
    line('Waiting', [
      `${value('crm_write_queue_jobs')} writes`,
      `${value('crm_request_bodies_waiting')} bodies`,
      `${value('crm_answers_waiting')} responses`,
    ]),
    line('Database', sizes(sample)),
    ...(sample.sum('crm_webhooks') > 0
      ? [
          line('Webhooks', [
            `${value('crm_webhook_pending_changes')} changes pending`,
            `${seconds(sample.sum('crm_webhook_lag_seconds'))} behind`,
          ]),
        ]
      : []),
    ...(figures === null ? [] : [line('Event loop', latencies(figures.eventLoop))]),
  ];
}

function line(label: string, facts: readonly string[]): string {
  return `${label.padEnd(LABEL_COLUMNS)}${facts.join(' · ')}`;
}

function limits(sample: MetricsSample): string[] {
  return sample.series('crm_rate_limit_used_ratio').map(({ labels, value }) => {
    const most = sample.sum('crm_rate_limit_requests_per_minute', { ...labels });
    return `busiest ${labels.limit}: ${Math.round(value * 100)}% of ${formatCount(most)} a minute`;
  });
}

function commits({ writesPerCommit, commitLatency }: ServerFigures): string[] {
  if (writesPerCommit === null) return [];
  return [`${writesPerCommit.toFixed(1)} writes each`, ...latencies(commitLatency)];
}

function sizes(sample: MetricsSample): string[] {
  const of = (name: string, words: string): string[] =>
    sample.has(name) ? [`${formatBytes(sample.sum(name))}${words}`] : [];
  return [
    ...of('crm_database_size_bytes', ''),
    ...of('crm_sqlite_wal_bytes', ' log'),
    ...of('crm_database_disk_free_bytes', ' free'),
    ...sample
      .series('crm_postgres_pool_busy')
      .map(
        ({ labels, value }) =>
          `${labels.pool}: ${value} of ${sample.sum('crm_postgres_pool_size', { ...labels })} connections`,
      ),
  ];
}

function latencies({ p50, p95, p99 }: Latency): string[] {
  return [`p50 ${seconds(p50)}`, `p95 ${seconds(p95)}`, `p99 ${seconds(p99)}`];
}

function seconds(value: number | null): string {
  if (value === null) return NONE;
  const milliseconds = value * 1_000;
  if (milliseconds >= 1_000) return `${value.toFixed(1)} s`;
  return milliseconds >= 10 ? `${Math.round(milliseconds)} ms` : `${milliseconds.toFixed(1)} ms`;
}

function rate(perSecond: number): string {
  return perSecond >= 10 || perSecond === 0 ? formatCount(perSecond) : perSecond.toFixed(1);
}

/** The header and a line for each route, in the order that was chosen. */
export function routeLines(
  routes: readonly RouteFigures[],
  order: RouteOrder,
  columns: number,
): { header: string; lines: string[] } {
  const key = { rate: 'perSecond', latency: 'p95', errors: 'errors' } as const;
  const sorted = routes.toSorted((one, other) => (other[key[order]] ?? 0) - (one[key[order]] ?? 0));
  const width = Math.max(10, columns - NUMBER_COLUMNS * 4);
  const cells = (texts: readonly string[]): string =>
    texts.map((text) => text.padStart(NUMBER_COLUMNS)).join('');
  return {
    header: fit('ROUTE', width) + cells(['PER S', 'P50', 'P95', 'ERRORS']),
    lines: sorted.map(
      ({ name, perSecond, p50, p95, errors }) =>
        fit(name, width) + cells([rate(perSecond), seconds(p50), seconds(p95), rate(errors)]),
    ),
  };
}
