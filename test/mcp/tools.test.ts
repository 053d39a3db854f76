// The tools of crm mcp: which there are, how much their list takes, what clients show of them, and what they refuse.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { toolsFor } from '../../cli/mcp/run.ts';
import { Assistant } from '../support/assistant.ts';
import { Sandbox } from '../support/command.ts';

const READ = ['search', 'get', 'query', 'count', 'timeline', 'describe'];
const WRITE = ['upsert', 'update', 'link', 'log_interaction', 'add_note', 'add_task'];
const CHARACTERS_MAX = 24_000;

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await Sandbox.serving();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

describe.each([
  [[], READ],
  [['--write'], [...READ, ...WRITE]],
  [
    ['--write', '--allow-delete'],
    [...READ, ...WRITE, 'delete'],
  ],
])('with the flags %p', (flags: string[], names) => {
  test('the list has its tools, in less than 24,000 characters', async () => {
    await using assistant = await Assistant.start(sandbox, flags);
    const listed = await assistant.client.listTools();
    expect(listed.tools.map(({ name }) => name)).toEqual(names);
    expect(JSON.stringify(listed).length).toBeLessThan(CHARACTERS_MAX);
    for (const { name, annotations, title, description } of listed.tools) {
      expect([name, annotations?.readOnlyHint]).toEqual([name, READ.includes(name)]);
      expect([name, title?.length, description?.length]).toEqual([
        name,
        expect.any(Number),
        expect.any(Number),
      ]);
    }
  });

  test('every other tool is unknown to it, and is an error', async () => {
    await using assistant = await Assistant.start(sandbox, flags);
    for (const name of [...WRITE, 'delete', 'drop'].filter((one) => !names.includes(one)))
      await expect(assistant.call(name, { resource: 'contacts', id: 'x' })).rejects.toThrow(
        name === 'drop' ? 'Unknown tool drop' : `Tool ${name} is off: crm mcp was started without --`,
      );
    expect(await sandbox.ok(['list', 'contacts'])).toBe('');
  });
});

test('hints say what can overwrite or remove, and what can be repeated', () => {
  const hinted = Object.fromEntries(
    toolsFor({ write: true, allowDelete: true }).map(({ name, hints }) => [name, hints]),
  );
  for (const name of READ) expect(hinted[name]).toMatchObject({ readOnlyHint: true, destructiveHint: false });
  for (const name of ['upsert', 'update', 'link', 'delete'])
    expect(hinted[name]).toMatchObject({ destructiveHint: true, idempotentHint: true });
  for (const name of ['log_interaction', 'add_note', 'add_task'])
    expect(hinted[name]).toMatchObject({
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: false,
    });
});

test('every object in the arguments is closed, but for those whose keys are free', () => {
  const FREE = ['filter', 'custom', 'stages'];
  const open: string[] = [];
  const walk = (schema: unknown, path: string[]): void => {
    if (typeof schema !== 'object' || schema === null) return;
    const { type, additionalProperties } = schema as Record<string, unknown>;
    if (type === 'object' && additionalProperties !== false) open.push(path.join('.'));
    for (const [key, value] of Object.entries(schema)) walk(value, [...path, key]);
  };
  for (const { name, input } of toolsFor({ write: true, allowDelete: true })) walk(input, [name]);
  expect(open.filter((path) => !FREE.some((key) => path.includes(`.${key}`)))).toEqual([]);
});

test('every argument has a type, without which some clients refuse an enum', () => {
  for (const { name, input } of toolsFor({ write: true, allowDelete: true }))
    for (const [argument, schema] of Object.entries((input as { properties?: object }).properties ?? {}))
      expect([name, argument, (schema as { type?: unknown }).type]).toEqual([
        name,
        argument,
        expect.anything(),
      ]);
});

test('every time says in which forms it can be given', () => {
  const TIMES = ['due_date', 'interaction_date', 'since', 'until'];
  for (const { name, input } of toolsFor({ write: true }))
    for (const [argument, schema] of Object.entries((input as { properties?: object }).properties ?? {}))
      if (TIMES.includes(argument))
        expect([name, argument, (schema as { description?: string }).description]).toEqual([
          name,
          argument,
          expect.stringContaining('RFC 3339, a day, or Unix milliseconds'),
        ]);
});

test('--allow-delete without --write is a usage error, and no key one of authentication', async () => {
  const { code, stderr, stdout } = await sandbox.crm(['mcp', '--allow-delete']);
  expect([code, stdout]).toEqual([2, '']);
  expect(stderr).toContain('--allow-delete needs --write.');
  const keyless = await sandbox.crm(['mcp'], { env: { CRM_API_KEY: '' }, stdin: '' });
  expect([keyless.code, keyless.stdout]).toEqual([4, '']);
});

describe('arguments that do not fit', () => {
  let assistant: Assistant;
  beforeAll(async () => {
    assistant = await Assistant.start(sandbox, ['--write']);
  });
  afterAll(() => assistant[Symbol.asyncDispose]());

  test.each<[string, Record<string, unknown>, string[]]>([
    ['get', {}, ['resource: is required', 'id: is required']],
    ['get', { resource: 'people', id: 'x' }, ['resource: must be one of: companies, contacts']],
    ['get', { resource: 'contacts', id: 7 }, ['id: must be a string']],
    [
      'get',
      { resource: 'contacts', id: 'x', ids: [] },
      ['ids: is not allowed here; allowed: resource, id, include'],
    ],
    ['search', { q: 'ada', limit: 101 }, ['limit: must be at most 100']],
    ['search', { q: 'ada', limit: '5' }, ['limit: must be an integer']],
    ['search', { q: 'ada', types: 'contacts' }, ['types: must be an array']],
    ['query', { resource: 'deals', filter: [] }, ['filter: must be an object']],
    ['timeline', { resource: 'tasks', id: 'x' }, ['resource: must be one of: contacts, companies, deals']],
    ['timeline', { resource: 'deals', id: 'x', kinds: ['call'] }, ['kinds.0: must be one of: interaction']],
    ['add_task', { due_date: true }, ['name: is required', 'due_date: must be']],
    [
      'add_note',
      { title: 'x', records: [{ record_type: 'task', record_id: 'x' }] },
      ['records.0.record_type: must be'],
    ],
    ['link', { of: 'deals.tasks', parent_id: 'x', id: 'y' }, ['of: must be one of: deals.contacts']],
    ['get', { resource: 'contacts', id: '..' }, ['id: must be the ID of a record']],
  ])('%s %j is told what is allowed', async (name, given, words) => {
    const text = await assistant.refusal(name, given);
    for (const word of words) expect(text).toContain(word);
  });
});
