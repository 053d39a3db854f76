// `crm top`: rates and latencies between two samples, limits, and the screen that shows them.
import { afterEach, describe, expect, test } from 'bun:test';
import { cleanup, render } from 'ink-testing-library';
import { KeyInput } from '../../cli/terminal/keys.tsx';
import { figuresBetween, quantile } from '../../cli/top/figures.ts';
import { metricsOf } from '../../cli/top/sample.ts';
import { type MetricsFeed, TopScreen } from '../../cli/top/screen/TopScreen.tsx';
import { Sandbox } from '../support/command.ts';
import { until } from '../support/until.ts';

afterEach(cleanup);

const HISTOGRAM = 'crm_http_request_duration_seconds_bucket{method="GET",route="/api/v2/deals"';

/** The metrics of a server that has answered so many lists of deals, and as many that found no deal. */
const metrics = (ok: number, missing = 0) =>
  [
    '# HELP crm_ready 1 if /readyz returns 200',
    'crm_build_info{version="0.2.0",commit="abc",engine="sqlite"} 1',
    'crm_ready 1',
    `crm_http_requests_total{api="v2",method="GET",route="/api/v2/deals",status="200"} ${ok}`,
    `crm_http_requests_total{api="v2",method="GET",route="/api/v2/deals/{id}",status="404"} ${missing}`,
    `${HISTOGRAM},le="0.001"} ${ok / 2}`,
    `${HISTOGRAM},le="0.003"} ${ok}`,
    `${HISTOGRAM},le="+Inf"} ${ok}`,
    `crm_limit_refusals_total{limit="key"} ${missing}`,
    'crm_rate_limit_requests_per_minute{limit="key"} 200',
    'crm_rate_limit_used_ratio{limit="key"} 0.45',
    'crm_database_size_bytes 14884864',
    'not a metric',
  ].join('\n');

describe('figures', () => {
  test('are of the time between two samples', () => {
    const figures = figuresBetween(metricsOf(metrics(100, 10), 1_000), metricsOf(metrics(300, 14), 3_000));
    expect(figures.requests).toBe(102);
    expect(figures.failures).toBe(0);
    expect(figures.refusals).toEqual([{ limit: 'key', perSecond: 2 }]);
    expect(figures.latency.p50).toBeCloseTo(0.001);
    expect(figures.latency.p95).toBeCloseTo(0.0028);
    expect(figures.routes.map(({ name, perSecond, errors }) => [name, perSecond, errors])).toEqual([
      ['GET /api/v2/deals', 100, 0],
      ['GET /api/v2/deals/{id}', 2, 2],
    ]);
    expect(figures.writesPerCommit).toBeNull();
  });

  test('of a server that was restarted count from its start', () => {
    const figures = figuresBetween(metricsOf(metrics(1_000), 0), metricsOf(metrics(50), 1_000));
    expect(figures.requests).toBe(50);
  });

  test('a quantile lies within its bucket; of the last only the lower bound is known', () => {
    const buckets = [
      [0.1, 10],
      [0.2, 10],
      [Number.POSITIVE_INFINITY, 20],
    ] as const;
    expect(quantile(buckets, 0.25)).toBeCloseTo(0.05);
    expect(quantile(buckets, 0.99)).toBe(0.2);
    expect(quantile([[1, 0]], 0.5)).toBeNull();
  });
});

describe('the screen', () => {
  test.each([
    [60, 15],
    [80, 24],
    [200, 60],
  ])('fits into %d × %d, and shows what cannot be read', async (columns, rows) => {
    const answers = [() => metricsOf(metrics(300, 14), 3_000), () => Promise.reject(new Error('gone'))];
    const left: string[] = [];
    const feed: MetricsFeed = {
      url: 'http://127.0.0.1:9464/metrics',
      first: metricsOf(metrics(100, 10), 1_000),
      read: async () => (answers.length > 1 ? answers.shift() : answers[0])?.() ?? metricsOf('', 0),
    };
    const size = { columns, rows };
    const leave = (result: string) => void left.push(result);
    const { lastFrame, stdin } = render(
      <KeyInput>
        <TopScreen {...{ feed, size, leave }} hasColor={false} intervalMs={20} />
      </KeyInput>,
    );
    const lines = () => (lastFrame() ?? '').split('\n');
    expect(lines()[0]).toBe('crm 0.2.0 · sqlite · ready · http://127.0.0.1:9464/metrics');
    await until(() => lines().includes('gone'));
    expect(lines()[1]).toStartWith('Requests     102/s · 0/s failed · 2.0/s refused: key · ');
    expect(lines()[3]).toBe('Limits       busiest key: 45% of 200 a minute');
    const routes = lines().filter((line) => line.startsWith('GET'));
    expect(routes.map((line) => line.split(/\s{2,}/))).toEqual([
      ['GET /api/v2/deals', '100', '1.0 ms', '2.8 ms', '0'],
      ['GET /api/v2/deals/{id}', '2.0', '–', '–', '2.0'],
    ]);
    expect(lines().length).toBe(rows);
    expect(lines().filter((line) => Bun.stringWidth(line) > columns)).toEqual([]);
    stdin.write('ss');
    await until(() => lines().at(-1) === 's sort (by errors) · q quit');
    expect(lines().find((line) => line.startsWith('GET'))).toStartWith('GET /api/v2/deals/{id}');
    stdin.write('q');
    await until(() => left.length > 0);
  });
});

test('a terminal gets it; a pipe, and where there are no metrics, is told what to do', async () => {
  using sandbox = new Sandbox();
  const server = Bun.serve({ port: 0, fetch: () => new Response(metrics(1)) });
  const address = `http://127.0.0.1:${server.port}`;
  try {
    const words = ['top', '--metrics-url', address];
    const { code, output } = await sandbox.onTerminal(words, { when: 'q quit', answer: 'q' });
    expect(code).toBe(0);
    expect(output).toContain(`${address}/metrics`);
    const piped = await sandbox.crm(words);
    expect([piped.code, piped.stdout]).toEqual([2, '']);
    expect(piped.stderr).toContain(`Next: To read the metrics themselves: curl ${address}/metrics\n`);
  } finally {
    await server.stop(true);
  }
  const gone = await sandbox.onTerminal(['top', '--metrics-url', address], { columns: 200 });
  expect(gone.code).toBe(1);
  expect(gone.output).toContain('crm serve --metrics-port 9464');
});
