// What import, browse, top and quickstart show on terminals of three sizes: never wider or longer; screens are kept as snapshots.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { LEFT, textOf, tourFile } from '../pictures/screens.ts';
import { StyledScreen } from '../pictures/styled-screen.ts';
import { Sandbox } from '../support/command.ts';

const LONG = 300_000;
const SIZES: readonly [columns: number, rows: number][] = [
  [60, 15],
  [80, 24],
  [200, 60],
];
const METRICS = [
  'crm_build_info{version="0.2.0",commit="abc",engine="sqlite"} 1',
  'crm_ready 1',
  'crm_http_requests_total{api="v2",method="GET",route="/api/v2/deals",status="200"} 300',
  'crm_http_request_duration_seconds_bucket{method="GET",route="/api/v2/deals",le="0.003"} 300',
  'crm_rate_limit_requests_per_minute{limit="key"} 200',
  'crm_rate_limit_used_ratio{limit="key"} 0.45',
  'crm_database_size_bytes 14884864',
].join('\n');

const STEPS = [
  ...['Database', 'Organization', 'Keys', 'Server', ...Array<string>(8).fill('Import'), 'Ingest'],
  ...['Read with v2', 'Read with v1', 'Export'],
];

let sandbox: Sandbox;
let metrics: Bun.Server<undefined>;
let samples = 0;
beforeAll(async () => {
  sandbox = await Sandbox.serving();
  // The second is never answered: it would change what the screen shows.
  metrics = Bun.serve({
    port: 0,
    idleTimeout: 0,
    fetch: () => (samples++ === 0 ? new Response(METRICS) : new Promise<never>(() => {})),
  });
  await sandbox.write('deals.csv', tourFile());
  const words = ['import', 'deals', 'deals.csv', '--custom', '--create-missing', '--create-stages'];
  await sandbox.ok(words);
  // The same deals again, which the screen asks about.
  await sandbox.write('more.csv', tourFile().replaceAll('Difference', 'Another'));
}, LONG);
afterAll(async () => {
  await metrics.stop(true);
  await sandbox[Symbol.asyncDispose]();
});

/** The lines of what a command shows until it is left, without what differs each time. */
async function linesOf(
  words: readonly string[],
  [columns, rows]: readonly [number, number],
  when?: string,
): Promise<string[]> {
  const options = { columns, rows, ...(when !== undefined && { when, answer: 'q' }) };
  const { output } = await sandbox.onTerminal(words, options);
  const end = output.indexOf(LEFT);
  const shown = new StyledScreen().write(end < 0 ? output : output.slice(0, end)).lines();
  return shown.map(textOf);
}

const masked = (lines: readonly string[]) =>
  lines
    .join('\n')
    .replace(/:\d{4,5}\b/g, ':PORT')
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d/g, 'YYYY-MM-DD HH:MM');

describe.each(SIZES)('on %d × %d', (columns, rows) => {
  test.each([
    ['import', ['import', 'deals', 'more.csv'], 'i import'],
    ['browse', ['browse', 'deals'], 'Jacquard'],
    ['top', ['top'], 'q quit'],
  ])('crm %s', async (name, words, when) => {
    samples = 0;
    const flags = name === 'top' ? ['--metrics-url', `http://127.0.0.1:${metrics.port}/metrics`] : [];
    const lines = await linesOf([...words, ...flags], [columns, rows], when);
    expect(lines.length).toBeLessThanOrEqual(rows);
    for (const line of lines) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(columns);
    expect(masked(lines)).toMatchSnapshot();
  });

  // Its figures differ each time, and with them where its lines are broken.
  test(
    'crm quickstart --exit',
    async () => {
      const lines = await linesOf(['quickstart', '--exit'], [columns, rows]);
      for (const line of lines) expect(Bun.stringWidth(line)).toBeLessThanOrEqual(columns);
      const steps = lines.flatMap((line) => /^✓ (.+?) {2}/.exec(line)?.[1] ?? []);
      expect(steps).toEqual(STEPS);
      expect(lines).toContain('Try next:');
    },
    LONG,
  );
});
