// An assistant can do what its key can, and nothing else: scopes, and the records of one user.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Assistant, recordsIn } from '../support/assistant.ts';
import { Sandbox } from '../support/command.ts';

const FLAGS = ['--write', '--allow-delete'];

let sandbox: Sandbox;
let whole: Assistant;
beforeAll(async () => {
  sandbox = await Sandbox.serving();
  whole = await Assistant.start(sandbox, FLAGS);
});
afterAll(async () => {
  await whole[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
});

async function withKey(...flags: string[]): Promise<Assistant> {
  const key = await sandbox.ok(['keys', 'issue', ...flags]);
  return Assistant.start(sandbox, FLAGS, { CRM_API_KEY: key });
}

async function created(resource: string, ...pairs: string[]): Promise<string> {
  return JSON.parse(await sandbox.ok(['create', resource, ...pairs, '-o', 'json'])).id;
}

describe('a key that reads contacts', () => {
  let reader: Assistant;
  let ada: string;
  beforeAll(async () => {
    reader = await withKey('--scopes', 'contacts:read');
    ada = await created('contacts', 'first_name=Ada', 'email=ada@x.example');
  });
  afterAll(() => reader[Symbol.asyncDispose]());

  test('gets them, and is told what it may do', async () => {
    expect(recordsIn(await reader.ok('get', { resource: 'contacts', id: ada }))).toMatchObject([{ id: ada }]);
    const text = await reader.ok('describe');
    expect(text).toContain('contacts (read): ');
    expect(text).toContain('deals (nothing): ');
    expect(await reader.ok('describe', { resource: 'deals' })).toContain('may not read pipelines');
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['get', { resource: 'deals', id: 'x' }, 'deals:read'],
    ['get', { resource: 'contacts', id: 'ADA', include: ['company'] }, 'companies:read'],
    ['timeline', { resource: 'contacts', id: 'ADA', kinds: ['note'] }, 'notes:read'],
    ['upsert', { resource: 'contacts', email: 'b@x.example' }, 'contacts:write'],
    ['update', { resource: 'contacts', id: 'ADA', title: 'x' }, 'contacts:write'],
    ['update', { resource: 'deals', id: 'x', stage: 'Won' }, 'pipelines:read'],
    [
      'log_interaction',
      { type: 'MEMO', direction: 'INTERNAL', title: 'x', main_contact: 'ADA' },
      'interactions:write',
    ],
    ['add_note', { title: 'x', records: [{ record_type: 'contact', record_id: 'ADA' }] }, 'notes:write'],
    ['add_task', { name: 'x' }, 'tasks:write'],
    ['link', { of: 'deals.contacts', parent_id: 'x', id: 'ADA' }, 'deals:write'],
    ['delete', { resource: 'contacts', id: 'ADA' }, 'contacts:delete'],
  ])('cannot %s %j', async (name, given, scope) => {
    const named = JSON.parse(JSON.stringify(given).replaceAll('ADA', ada));
    const text = await reader.refusal(name, named);
    expect(text).toMatch(/^AUTH_INSUFFICIENT_SCOPE: /);
    expect(text).toContain(scope);
    expect(text).toContain('Next: The API key of crm mcp lacks this scope');
    expect(await sandbox.ok(['list', 'notes'])).toBe('');
  });
});

test('a key of one user neither sees nor changes what others own', async () => {
  await using bound = await withKey('--all-scopes', '--access', 'user', '--user', 'ada@example.com');
  const user = JSON.parse(await sandbox.ok(['users', 'list', '-o', 'json']))[0].id;
  const own = await created('contacts', 'first_name=Own', `owner_id=${user}`);
  const hidden = await created('contacts', 'first_name=Hidden', 'email=hidden@x.example');
  expect(recordsIn(await bound.ok('get', { resource: 'contacts', id: own }))).toMatchObject([
    { first_name: 'Own' },
  ]);
  for (const [tool, given] of [
    ['get', { resource: 'contacts', id: hidden }],
    ['timeline', { resource: 'contacts', id: hidden }],
    ['update', { resource: 'contacts', id: hidden, title: 'x' }],
    ['delete', { resource: 'contacts', id: hidden }],
    ['add_note', { title: 'x', records: [{ record_type: 'contact', record_id: hidden }] }],
  ] as const)
    expect(await bound.refusal(tool, given)).toStartWith('RESOURCE_NOT_FOUND: ');
  const conflict = await bound.refusal('upsert', { resource: 'contacts', email: 'hidden@x.example' });
  expect(conflict).toStartWith('RESOURCE_CONFLICT: ');
  expect(conflict).not.toContain(hidden);
  // What it adds belongs to its user, also by that name.
  const [task] = recordsIn(await bound.ok('add_task', { name: 'Mine', owner: 'me' }));
  expect(task).toMatchObject({ main_assignee_id: user });
  expect(await bound.ok('describe')).toContain(`the key sees and changes only what user ${user} owns`);
  const pipeline = await bound.refusal('upsert', {
    resource: 'pipelines',
    name: 'x',
    external_id: { source: 'a', id: 'b' },
  });
  expect(pipeline).toStartWith('OPERATION_FORBIDDEN: ');
});

test('a key that is revoked is told so, without the key', async () => {
  await using late = await withKey('--scopes', 'contacts:read', '--name', 'late');
  const keys = JSON.parse(await sandbox.ok(['keys', 'list', '-o', 'json']));
  await sandbox.ok(['keys', 'revoke', keys.find((one: { name: string }) => one.name === 'late').id]);
  const text = await late.refusal('describe');
  expect(text).toMatch(/^AUTH_INVALID_API_KEY: /);
  expect(text + late.stderr).not.toContain('service_live_');
});

test('what an assistant deletes is in the audit log with its key', async () => {
  const id = await created('contacts', 'first_name=Audited');
  await whole.ok('delete', { resource: 'contacts', id });
  expect(await sandbox.ok(['audit', 'list', '-o', 'ndjson'])).toContain(id);
});
