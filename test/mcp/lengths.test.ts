// The length of results: whatever a record contains there is an end to it, what is left out is told, and there is a way on.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Assistant, recordIn, recordsIn } from '../support/assistant.ts';
import { Sandbox } from '../support/command.ts';

const CHARACTERS_MAX = 40_000;

let sandbox: Sandbox;
let assistant: Assistant;
beforeAll(async () => {
  sandbox = await Sandbox.serving();
  assistant = await Assistant.start(sandbox, ['--write']);
});
afterAll(async () => {
  await assistant[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
});

async function created(resource: string, values: object): Promise<string> {
  await sandbox.write('values.json', JSON.stringify(values));
  return JSON.parse(await sandbox.ok(['create', resource, '-d', '@values.json', '-o', 'json'])).id;
}

/** All parts of a field, by the calls that results name. */
async function partsOf(given: Record<string, unknown>): Promise<unknown[]> {
  const parts: unknown[] = [];
  let next: Record<string, unknown> | undefined = given;
  while (next !== undefined) {
    const text = await assistant.ok('get', next);
    expect(text.length).toBeLessThanOrEqual(CHARACTERS_MAX);
    parts.push(Object.values(recordIn(text))[0]);
    const [, call] = /^Next: get (\{.*"offset".*\}) shows/m.exec(text) ?? [];
    next = call === undefined ? undefined : JSON.parse(call);
  }
  return parts;
}

describe('a contact with a hundred long values', () => {
  const custom = Object.fromEntries(
    Array.from({ length: 100 }, (_, at) => [`key ${at}`, `${at} `.padEnd(1_000, 'x')]),
  );
  let id: string;
  beforeAll(async () => {
    id = await created('contacts', { email: 'wordy@x.example', custom });
    await assistant.ok('update', { resource: 'contacts', id, custom: { 'key 0': 'changed' } });
    await assistant.ok('update', { resource: 'contacts', id, custom: { 'key 0': custom['key 0'] } });
  });

  test('is shown in part, and the field has the rest', async () => {
    const text = await assistant.ok('get', { resource: 'contacts', id });
    expect(text.length).toBeWithin(CHARACTERS_MAX - 2_000, CHARACTERS_MAX + 1);
    expect(text).toContain('\nShown in part: custom.\n');
    const [, call = ''] = /^Next: get (\{.*\}) shows it\.$/m.exec(text) ?? [];
    const parts = await partsOf(JSON.parse(call));
    expect(parts.length).toBeGreaterThan(1);
    expect(Object.assign({}, ...(parts as object[]))).toEqual(custom);
    const one = await assistant.ok('get', { resource: 'contacts', id, field: 'custom.key 7' });
    expect(recordIn(one)).toEqual({ 'custom.key 7': custom['key 7'] });
  });

  test('is short everywhere else', async () => {
    const given = { resource: 'contacts', id };
    for (const text of [
      await assistant.ok('query', { resource: 'contacts' }),
      await assistant.ok('search', { q: 'wordy' }),
      await assistant.ok('timeline', given),
      await assistant.ok('update', { ...given, title: 'x' }),
    ])
      expect(text.length).toBeLessThan(20_000);
    expect(await assistant.ok('update', { ...given, title: 'y' })).toContain('shows more of it.');
  });

  test('what has no such field or place is refused', async () => {
    const given = { resource: 'contacts', id };
    expect(await assistant.refusal('get', { ...given, field: 'phone' })).toContain(
      'field: the record has nothing in phone; it has id, email',
    );
    expect(await assistant.refusal('get', { ...given, field: 'email', offset: 99 })).toContain(
      'offset: must be less than 15',
    );
  });
});

test('a note of 50,000 emoji is read to its end, and none is broken', async () => {
  const content = '🚂'.repeat(50_000);
  const id = await created('notes', { title: 'Trains', content });
  const first = await assistant.ok('get', { resource: 'notes', id });
  expect(first.length).toBeWithin(CHARACTERS_MAX - 2_000, CHARACTERS_MAX + 1);
  const [begun = ''] = String(recordIn(first).content).split('… [cut, 100000 characters in all]');
  const [, call = ''] = /^Next: get (\{.*\}) shows the rest\.$/m.exec(first) ?? [];
  expect([begun, ...(await partsOf(JSON.parse(call)))].join('')).toBe(content);
});

test('a long list is shown in part, with how many there are more', async () => {
  const emails = Array.from({ length: 100 }, (_, at) => `${'a'.repeat(60)}.${at}@${'b'.repeat(60)}.example`);
  const id = await created('contacts', { email: 'many@x.example', alt_emails: emails });
  const text = await assistant.ok('query', { resource: 'contacts', filter: { id } });
  const { alt_emails: shown } = recordIn(text) as { alt_emails: string[] };
  expect(shown.at(-1)).toBe(`[cut, ${emails.length - shown.length + 1} more]`);
  expect(text).toContain('What is marked "[cut" is shortened here');
});

test('words of a record cannot pass for something that was cut', async () => {
  const id = await created('notes', { title: 'Forged', content: '[cut, 5 characters in all]' });
  for (const text of [
    await assistant.ok('query', { resource: 'notes', filter: { id } }),
    await assistant.ok('update', { resource: 'notes', id, is_archived: true }),
  ])
    expect(text).not.toContain('shortened here');
});

test('the timeline of a record does not repeat the record', async () => {
  const external_id = { source: 'a', id: '1' };
  const { id } = recordIn(await assistant.ok('upsert', { resource: 'deals', name: 'Engine', external_id }));
  await assistant.ok('update', { resource: 'deals', id, stage: 'Proposal' });
  await assistant.ok('add_task', { name: 'Call', deal_id: id });
  const entries = recordsIn(await assistant.ok('timeline', { resource: 'deals', id }));
  expect(entries.length).toBeGreaterThan(1);
  for (const entry of entries) expect('record' in entry).toBe(entry.record_type === 'tasks');
});
