// `crm audit list`: who did what, beside a running server, with what the command line and requests leave.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hostname } from 'node:os';
import { ndjson, type RunningServer, Sandbox } from '../support/command.ts';

interface Entry {
  id: string;
  action: string;
  target_id: string;
  created_at: string;
}

let sandbox: Sandbox;
let server: RunningServer;
beforeAll(async () => {
  sandbox = await Sandbox.withDatabase();
  server = await sandbox.serveOrganization('Acme');
});
afterAll(async () => {
  await server.stop();
  await sandbox[Symbol.asyncDispose]();
});

const entries = async (...args: string[]) =>
  ndjson(await sandbox.ok(['audit', 'list', '-o', 'ndjson', ...args])) as unknown as Entry[];
const actions = async (...args: string[]) => (await entries(...args)).map(({ action }) => action);

describe('the audit log', () => {
  test('tells what operators do, newest first', async () => {
    const flags = ['--org', 'Acme', '--scopes', 'deals:read', '-o', 'json'];
    const { id } = JSON.parse(await sandbox.ok(['keys', 'issue', ...flags, '--name', 'ada@example.com']));
    await sandbox.ok(['keys', 'rotate', id, '--grace', '1h']);
    await sandbox.ok(['keys', 'revoke', id]);
    await sandbox.ok(['keys', 'revoke', id]);
    await sandbox.ok(['users', 'create', 'bob@acme.example', '--org', 'Acme']);
    await sandbox.ok(['orgs', 'create', 'Other']);
    expect(await actions()).toEqual([
      ...['organization.created', 'user.created', 'key.revoked', 'key.rotated', 'key.issued'],
      ...['key.issued', 'user.created', 'organization.created'],
    ]);
    const [issued] = await entries('--action', 'key.issued', '--limit', '1');
    expect(issued).toMatchObject({
      ...{ actor_type: 'operator', origin: 'command line', user_id: null, request_id: null },
      actor: expect.stringMatching(new RegExp(`^\\S+@${hostname()}$`)),
      ...{ target_type: 'keys', target_id: id, org_id: expect.any(String) },
      details: {
        api: 'v2',
        access: 'organization',
        scopes: ['deals:read'],
        networks: null,
        expires_at: null,
      },
    });
    expect(await entries('--action', 'key.rotated')).toMatchObject([{ details: { grace_seconds: 3_600 } }]);
  });

  test('tells of an export and of a delete who asked and from where', async () => {
    const { id } = JSON.parse(await sandbox.ok(['create', 'contacts', 'first_name=Ada', '-o', 'json']));
    await sandbox.ok(['export', 'contacts', '--out', 'contacts.csv']);
    await sandbox.ok(['delete', 'contacts', id, '--yes']);
    const [deleted, exported] = await entries('--limit', '2');
    expect(deleted).toMatchObject({ action: 'record.deleted', target_id: id, origin: '127.0.0.1' });
    expect(exported).toMatchObject({ action: 'export.started', target_type: 'contacts', actor_type: 'key' });
  });

  test('of an export of everything has an entry for each list that it read', async () => {
    await sandbox.ok(['create', 'deals', 'name=D', '-o', 'json']);
    await sandbox.ok(['export', 'all', '--out', 'everything']);
    const exported = (await entries('--action', 'export.started')) as unknown as { target_type: string }[];
    const lists = exported.map((entry) => entry.target_type);
    expect(lists).toContain('deals');
    for (const of of ['deals.contacts', 'segments.members']) expect(lists).toContain(`links/${of}`);
    expect(lists.filter((list) => list === 'deals')).toHaveLength(1);
  });

  test('is searched by time, organization, action and actor', async () => {
    const all = await entries('--all');
    const last = all.at(-1)?.created_at ?? '';
    expect(await entries('--since', '1h', '--all')).toEqual(all);
    expect(await entries('--since', last, '--all')).toEqual(all);
    expect(await entries('--since', '2999-01-01')).toEqual([]);
    expect(await actions('--org', 'Other')).toEqual(['organization.created']);
    const keys = ndjson(await sandbox.ok(['keys', 'list', '--org', 'Acme', '-o', 'ndjson']));
    expect(await actions('--actor', String(keys[0]?.id), '--action', 'record.deleted')).toHaveLength(1);
    const { stdout, stderr } = await sandbox.crm(['audit', 'list', '--limit', '2', '-o', 'csv']);
    expect(stdout.split('\n')[0]).toStartWith('id,created_at,action,actor_type,actor,user_id,origin,org_id,');
    expect(stderr).toBe('More entries exist. To list them, add --limit N or --all.\n');
  });

  test.each([
    [['--since', 'soon'], 'is not a valid time'],
    [['--action', 'key.lost'], 'Unknown action "key.lost"'],
    [['--limit', '2', '--all'], 'cannot be used with'],
  ])('with %j is refused', async (args, said) => {
    const { code, stderr } = await sandbox.crm(['audit', 'list', ...args]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(said)]);
  });

  test('holds no name, address or key of anybody', async () => {
    const all = await sandbox.ok(['audit', 'list', '--all', '-o', 'ndjson']);
    // What is random may have any letters.
    const said = all.replaceAll(/"request_id":"[^"]*"/g, '');
    const key = sandbox.env.CRM_API_KEY ?? '';
    for (const word of ['Ada', 'example', 'Acme', 'service_', key.slice(13, 40)])
      expect(said).not.toContain(word);
  });

  test('has the client IP of every request that it notes, also while requests are not logged', async () => {
    const { id } = JSON.parse(await sandbox.ok(['create', 'tasks', 'name=T', '-o', 'json']));
    await sandbox.ok(['delete', 'tasks', id, '--yes']);
    await sandbox.ok(['undelete', 'tasks', id]);
    const hook = ['url=https://example.com/hooks', 'events=tasks.*', '-o', 'json'];
    const webhook = JSON.parse(await sandbox.ok(['webhooks', 'create', ...hook])).id;
    await sandbox.ok(['webhooks', 'update', webhook, 'description=D']);
    await sandbox.ok(['webhooks', 'rotate', webhook]);
    await sandbox.ok(['webhooks', 'replay', webhook, '--since', '1h']);
    await sandbox.ok(['webhooks', 'delete', webhook, '--yes']);
    const noted = (await entries('--limit', '7')) as unknown as { action: string; origin: string }[];
    const expected = [
      ...['webhook.deleted', 'webhook.replayed', 'webhook.rotated', 'webhook.changed', 'webhook.created'],
      ...['record.undeleted', 'record.deleted'],
    ];
    expect(noted.map(({ action, origin }) => [action, origin])).toEqual(
      expected.map((action) => [action, '127.0.0.1']),
    );
  });
});

test.each(['1d', '29d', 'long'])('is not kept for %s', async (keep) => {
  const { code, stderr } = await sandbox.crm(['serve', '--port', '0', '--audit-keep', keep]);
  expect([code, stderr]).toEqual([2, expect.stringContaining('Use 30d or more, like 365d')]);
});
