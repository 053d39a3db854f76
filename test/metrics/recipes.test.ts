// The files for Prometheus and Grafana: they ask for what there is, and each alert fires when it should, and only then.
import { describe, expect, test } from 'bun:test';
import { FAMILIES } from '../../server/metrics/families.ts';
import { PROCESS_METRICS } from '../../server/metrics/metrics-port.ts';
import { Sandbox } from '../support/command.ts';
import { alertRules, dashboardPanels, recipe } from '../support/expressions.ts';

const promtool = Bun.which('promtool');
const rules = alertRules();
const panels = dashboardPanels();

const known = new Set([
  ...Object.entries(FAMILIES).flatMap(([name, { type }]) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name],
  ),
  ...PROCESS_METRICS,
]);
const namesIn = (expression: string) => expression.match(/\b(?:crm|process|nodejs)_\w+/g) ?? [];

test('alerts and panels ask for metrics that there are, by labels that they have', () => {
  const expressions = [...rules.map(({ expr }) => expr), ...panels.flatMap((panel) => panel.expressions)];
  expect(expressions.length).toBeGreaterThan(60);
  for (const expression of expressions)
    expect(namesIn(expression).filter((name) => !known.has(name))).toEqual([]);
});

test('every metric is on the dashboard, except those that describe others', () => {
  const shown = new Set(panels.flatMap(({ expressions }) => expressions.flatMap(namesIn)));
  const hidden = Object.entries(FAMILIES).flatMap(([name, { type }]) => {
    const names = type === 'histogram' ? [`${name}_bucket`, `${name}_sum`] : [name];
    return names.some((one) => shown.has(one)) ? [] : [name];
  });
  const CONSTANT = ['crm_build_info', 'crm_reader_threads', 'crm_rate_limit_requests_per_minute'];
  expect(hidden.toSorted()).toEqual([...CONSTANT, 'crm_postgres_pool_size'].toSorted());
});

test('panels and alerts have distinct names, and each alert says what to do', () => {
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  for (const { annotations, labels } of rules) {
    expect(annotations.action.length).toBeGreaterThan(20);
    expect(['critical', 'warning', 'info']).toContain(labels.severity);
  }
});

const of = (name: string, labels = '') => `${name}{job="crm",instance="a"${labels && `,${labels}`}}`;
const GB = 1_000_000_000;
const DAY_MINUTES = 24 * 60;
const LONG_MINUTES = 2 * 60;
const slow = (name: string, labels = '') => ({
  [of(`${name}_bucket`, `le="0.1"${labels}`)]: '0x90',
  [of(`${name}_bucket`, `le="2.5"${labels}`)]: '0+60x90',
  [of(`${name}_bucket`, `le="+Inf"${labels}`)]: '0+60x90',
});

/** For each alert, by the minute: what is the case when it fires at the end of so many minutes, and when it does not. */
const CASES: Record<
  string,
  { minutes: number; fires: Record<string, string>; rests: Record<string, string> }
> = {
  CrmDown: { minutes: 3, fires: { [of('up')]: '1 0x5' }, rests: { [of('up')]: '1x5' } },
  CrmNotReady: { minutes: 3, fires: { [of('crm_ready')]: '1 0x5' }, rests: { [of('crm_ready')]: '1x5' } },
  CrmWritesFail: {
    minutes: 4,
    fires: { [of('crm_write_failures_total')]: '0 0 1x5' },
    rests: { [of('crm_write_failures_total')]: '1x5' },
  },
  CrmErrors: {
    minutes: 15,
    fires: {
      [of('crm_http_requests_total', 'status="200"')]: '0+60x90',
      [of('crm_http_requests_total', 'status="503"')]: '0+2x90',
    },
    rests: {
      [of('crm_http_requests_total', 'status="200"')]: '0+600x90',
      [of('crm_http_requests_total', 'status="404"')]: '0+600x90',
      [of('crm_http_requests_total', 'status="503"')]: '0+2x90',
    },
  },
  CrmSlow: {
    minutes: 20,
    fires: slow('crm_http_request_duration_seconds', ',route="/a"'),
    rests: { [of('crm_http_request_duration_seconds_bucket', 'le="0.1",route="/a"')]: '0+60x90' },
  },
  CrmCommitsSlow: { minutes: 20, fires: slow('crm_commit_duration_seconds'), rests: {} },
  CrmBusy: { minutes: 20, fires: slow('crm_event_loop_delay_seconds'), rests: {} },
  CrmWritesWait: {
    minutes: 10,
    fires: { [of('crm_write_queue_jobs')]: '300x20' },
    rests: { [of('crm_write_queue_jobs')]: '300 0x20' },
  },
  CrmWebhookLags: {
    minutes: 30,
    fires: { [of('crm_webhook_lag_seconds')]: '4000x60' },
    rests: { [of('crm_webhook_lag_seconds')]: '4000 0x60' },
  },
  CrmWebhookDisabled: {
    minutes: 20,
    fires: {
      [of('crm_webhooks', 'state="disabled"')]: '1x10 2x20',
      [of('crm_webhooks', 'state="enabled"')]: '2x40',
    },
    rests: {
      [of('crm_webhooks', 'state="disabled"')]: '1x40',
      [of('crm_webhooks', 'state="enabled"')]: '1x10 2x30',
    },
  },
  CrmBodiesWait: {
    minutes: 10,
    fires: { [of('crm_request_bodies_waiting')]: '1x20' },
    rests: { [of('crm_request_bodies_waiting')]: '1 0x20' },
  },
  CrmStoredAnswersFull: {
    minutes: 10,
    fires: { [of('crm_stored_answers_used_ratio')]: '0.95x20' },
    rests: { [of('crm_stored_answers_used_ratio')]: '0.5x20' },
  },
  CrmAnswersWait: {
    minutes: 10,
    fires: { [of('crm_answers_waiting')]: '1x20' },
    rests: { [of('crm_answers_waiting')]: '1 0x20' },
  },
  CrmRefuses: {
    minutes: 40,
    fires: { [of('crm_limit_refusals_total', 'limit="key"')]: '0+120x60' },
    rests: { [of('crm_limit_refusals_total', 'limit="key"')]: '0+30x60' },
  },
  CrmDiskFull: {
    minutes: 3,
    fires: { [of('crm_database_disk_free_bytes')]: '1000000x5' },
    rests: { [of('crm_database_disk_free_bytes')]: '100000000x5' },
  },
  CrmDiskLow: {
    minutes: 15,
    fires: { [of('crm_database_disk_free_bytes')]: '100x20', [of('crm_database_size_bytes')]: '60x20' },
    rests: { [of('crm_database_disk_free_bytes')]: '100x20', [of('crm_database_size_bytes')]: '40x20' },
  },
  CrmDiskFillsUp: {
    minutes: 8 * 60,
    fires: { [of('crm_database_disk_free_bytes')]: `${GB}-1000000x600` },
    rests: { [of('crm_database_disk_free_bytes')]: `${100 * GB}-1000000x600` },
  },
  CrmLogLarge: {
    minutes: 20,
    fires: { [of('crm_sqlite_wal_bytes')]: '300000000x30' },
    rests: { [of('crm_sqlite_wal_bytes')]: '60000000x30' },
  },
  CrmBackupOld: {
    minutes: 60,
    fires: {
      [of('crm_backup_last_success_timestamp_seconds')]: '0x90',
      [of('crm_backup_interval_seconds')]: '900x90',
    },
    rests: {
      [of('crm_backup_last_success_timestamp_seconds')]: '0x14 900x14 1800x14 2700x50',
      [of('crm_backup_interval_seconds')]: '900x90',
    },
  },
  CrmBackupFails: {
    minutes: 10,
    fires: { [of('crm_backups_total', 'result="failed"')]: '0 0 1x20' },
    rests: { [of('crm_backups_total', 'result="succeeded"')]: '0+1x20' },
  },
  CrmNoBackup: {
    minutes: 2 * DAY_MINUTES + 90,
    fires: { [of('crm_backup_last_success_timestamp_seconds')]: `0x${3 * DAY_MINUTES}` },
    rests: {
      [of('crm_backup_last_success_timestamp_seconds')]: `0x${3 * DAY_MINUTES}`,
      [of('crm_backup_interval_seconds')]: `86400x${3 * DAY_MINUTES}`,
    },
  },
  CrmDatabaseLost: {
    minutes: 10,
    fires: { [of('crm_postgres_connect_failures_total', 'pool="reading"')]: '0+5x20' },
    rests: { [of('crm_postgres_connect_failures_total', 'pool="reading"')]: '5x20' },
  },
  CrmPoolFull: {
    minutes: 20,
    fires: {
      [of('crm_postgres_pool_waiting', 'pool="reading"')]: '9x30',
      [of('crm_postgres_pool_size', 'pool="reading"')]: '4x30',
    },
    rests: {
      [of('crm_postgres_pool_waiting', 'pool="reading"')]: '9 0x30',
      [of('crm_postgres_pool_size', 'pool="reading"')]: '4x30',
    },
  },
  CrmFilesOpen: {
    minutes: 10,
    fires: { [of('process_open_fds')]: '900x20', [of('process_max_fds')]: '1000x20' },
    rests: { [of('process_open_fds')]: '500x20', [of('process_max_fds')]: '1000x20' },
  },
  CrmRestarts: {
    minutes: 10,
    fires: { [of('process_start_time_seconds')]: '1 2 3 4x20' },
    rests: { [of('process_start_time_seconds')]: '1 2 2x20' },
  },
};

test('each alert has a case', () => {
  expect(Object.keys(CASES).toSorted()).toEqual(rules.map(({ alert }) => alert).toSorted());
});

describe.skipIf(promtool === null)('as promtool sees them (needs Debian’s prometheus)', () => {
  /** Runs promtool where the alerts are in a file; gives its exit code with all that it said. */
  async function ran(sandbox: Sandbox, words: readonly string[]): Promise<{ code: number; output: string }> {
    const child = Bun.spawn([promtool ?? '', ...words], {
      cwd: sandbox.folder,
      stdout: 'pipe',
      stderr: 'pipe',
    });
    const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
    return { code: await child.exited, output: stdout + stderr };
  }

  test('both files are valid', async () => {
    using sandbox = new Sandbox();
    await sandbox.write('crm-alerts.yml', recipe('alerts'));
    await sandbox.write('prometheus.yml', recipe('prometheus'));
    expect(await ran(sandbox, ['check', 'config', 'prometheus.yml'])).toMatchObject({ code: 0 });
  });

  test('each alert fires when it should, and only then', async () => {
    using sandbox = new Sandbox();
    await sandbox.write('crm-alerts.yml', recipe('alerts'));
    const seriesOf = (values: Record<string, string>) =>
      Object.entries(values).map(([series, text]) => ({ series, values: text }));
    const isFiring = (alert: string, count: number) => ({
      expr: `count(ALERTS{alertname="${alert}",alertstate="firing"}) or vector(0)`,
      exp_samples: [{ labels: '{}', value: count }],
    });
    for (const [every, isLong] of [
      ['1m', false],
      ['30m', true],
    ] as const) {
      const cases = Object.entries(CASES).filter(([, { minutes }]) => minutes > LONG_MINUTES === isLong);
      const tests = cases.flatMap(([alert, { minutes, fires, rests }]) =>
        [fires, rests].map((values, index) => ({
          name: `${alert} ${index === 0 ? 'fires' : 'rests'}`,
          interval: '1m',
          input_series: seriesOf(values),
          promql_expr_test: [{ eval_time: `${minutes}m`, ...isFiring(alert, index === 0 ? 1 : 0) }],
        })),
      );
      const file = { rule_files: ['crm-alerts.yml'], evaluation_interval: every, tests };
      await sandbox.write('cases.yml', JSON.stringify(file));
      expect(await ran(sandbox, ['test', 'rules', 'cases.yml'])).toMatchObject({ code: 0 });
    }
  }, 300_000);
});
