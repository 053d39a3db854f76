// What operators learn about webhooks: `crm doctor` names one that gets nothing, `crm restore` how many are enabled.
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Finding } from '../../cli/doctor/finding.ts';
import { ndjson, Sandbox } from '../support/command.ts';

const HOUR_MS = 60 * 60 * 1_000;

const sandbox = new Sandbox();
const ids: string[] = [];
beforeAll(async () => {
  const server = await sandbox.serveOrganization();
  for (const path of ['a', 'b']) {
    const words = ['webhooks', 'create', `url=https://hooks.invalid/${path}`, 'events=*'];
    ids.push(JSON.parse(await sandbox.ok(words)).id);
  }
  await server.stop();
});
afterAll(() => sandbox[Symbol.dispose]());

/** Sets columns of the first so many webhooks, as servers do. */
function set(count: number, columns: { is_enabled?: number; reason?: string; failingSince?: number }): void {
  using db = new Database(sandbox.path('crm.db'));
  const { is_enabled = 1, reason = null, failingSince = null } = columns;
  const update = db.query(
    'UPDATE webhooks SET is_enabled = ?, disabled_reason = ?, failing_since = ? WHERE id = ?',
  );
  for (const [index, id] of ids.entries())
    update.run(...(index < count ? [is_enabled, reason, failingSince] : [1, null, null]), id);
}

async function finding(): Promise<Finding | undefined> {
  const rows = ndjson(await sandbox.ok(['doctor', '-o', 'ndjson'])) as unknown as Finding[];
  return rows.find(({ check }) => check === 'webhooks');
}

test('crm doctor counts webhooks that get what they subscribe to', async () => {
  set(1, { failingSince: Date.now() - HOUR_MS / 2 });
  expect(await finding()).toMatchObject({ status: 'ok', found: '2 webhooks', next: null });
  set(1, { is_enabled: 0 });
  expect(await finding()).toMatchObject({ status: 'ok', found: '2 webhooks' });
});

test.each([
  ['key_revoked', 'its key was revoked'],
  ['key_expired', 'its key has expired'],
  ['gone', 'its URL responded with 410'],
  ['failing', 'nothing could be delivered for 5 days'],
])('crm doctor says why a webhook was disabled: %s', async (reason, words) => {
  set(1, { is_enabled: 0, reason });
  expect(await finding()).toMatchObject({
    status: 'warn',
    found: `2 webhooks: ${ids[0]} was disabled, because ${words}`,
    next: `When that is resolved, run: crm webhooks update ${ids[0]} is_enabled=true`,
  });
});

test('crm doctor says since when a webhook has failed, and how many more there are', async () => {
  const failingSince = Date.now() - 2 * HOUR_MS;
  set(2, { failingSince });
  const time = new Date(failingSince).toISOString();
  expect(await finding()).toMatchObject({
    status: 'warn',
    found: `2 webhooks: ${ids[0]} has failed since ${time}, and 1 other`,
    next: `See why: crm webhooks deliveries ${ids[0]}`,
  });
});

test('crm restore says that webhooks are enabled, so that a copy does not send unnoticed', async () => {
  const told = async (name: string) => {
    await sandbox.ok(['backup', name, '--quiet']);
    const words = ['restore', name, '--confirm', '--db', `restored-${name}`];
    const { stderr } = await sandbox.crm([...words, '-o', 'table']);
    return /^.*webhook.*$/m.exec(stderr)?.[0];
  };
  set(0, {});
  expect(await told('two.db')).toBe(
    '2 webhooks are enabled: "crm serve" sends changes to them, even if this database is a copy.',
  );
  set(1, { is_enabled: 0 });
  expect(await told('one.db')).toStartWith('1 webhook is enabled: ');
  set(2, { is_enabled: 0 });
  expect(await told('none.db')).toBe(undefined);
});
