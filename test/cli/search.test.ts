// `crm search`: a table for people, results as they came for everything else, and refusals before anything is sent.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { shortIdOf } from '../../cli/input/short-id.ts';
import { ndjson, Sandbox } from '../support/command.ts';

const LONG = 300_000;

let sandbox: Sandbox;
let ada: string;
let note: string;
beforeAll(async () => {
  sandbox = await Sandbox.serving();
  note = await create(
    'notes',
    'title=Wants',
    `content=${'Several other words. '.repeat(9)}Two engines of brass.`,
  );
  ada = await create('contacts', 'first_name=Ada', 'last_name=Lovelace', 'email=ada@engines.example');
  const names = Array.from({ length: 25 }, (_, count) => `Repeated ${count}`);
  await sandbox.write('tasks.csv', ['name', ...names].join('\n'));
  await sandbox.ok(['import', 'tasks', 'tasks.csv']);
}, LONG);
afterAll(() => sandbox[Symbol.asyncDispose]());

async function create(resource: string, ...pairs: string[]): Promise<string> {
  return JSON.parse(await sandbox.ok(['create', resource, ...pairs, '-o', 'json'])).id;
}

const search = (...args: string[]) => sandbox.ok(['search', ...args]);

test(
  'prints results as they came in a pipe',
  async () => {
    const found = ndjson(await search('ENG'));
    expect(found).toEqual([
      {
        record_type: 'contacts',
        record_id: ada,
        match: { tier: 'name', field: 'email', snippet: 'ada@engines.example' },
        record: expect.objectContaining({ id: ada, first_name: 'Ada' }),
      },
      expect.objectContaining({
        record_id: note,
        match: { tier: 'text', field: 'content', snippet: expect.stringContaining('Two engines of brass.') },
      }),
    ]);
    expect(ndjson(await search('engines', '--types', 'notes,tasks')).map((one) => one.record_id)).toEqual([
      note,
    ]);
    // Given several times, a list is all of them.
    expect(ndjson(await search('engines', '--types', 'contacts', '--types', 'notes'))).toHaveLength(2);
    expect(JSON.parse(await search('ada', 'lov', '-o', 'json'))).toHaveLength(1);
    expect((await search('lovelace', '-o', 'csv')).split('\n')[0]).toBe(
      'record_type,record_id,match.tier,match.field,match.snippet,record',
    );
    const [, line = ''] = (await search('lovelace', '-o', 'csv')).split('\n');
    expect(line).toStartWith(`contacts,${ada},name,last_name,Lovelace,`);
  },
  LONG,
);

test(
  'prints a table with what crm get takes, and the hit on the line',
  async () => {
    const lines = (await search('engines', '-o', 'table')).trimEnd().split('\n');
    expect(lines.map((line) => line.split(/ {2,}/).slice(0, 3))).toEqual([
      ['TYPE', 'ID', 'NAME'],
      ['contacts', ada, 'Ada Lovelace'],
      ['notes', note, 'Wants'],
    ]);
    const { output } = await sandbox.onTerminal(['search', 'engines'], { columns: 100 });
    const shown = Bun.stripANSI(output).split(/\r?\n/);
    expect(Math.max(...shown.map((line) => Bun.stringWidth(line)))).toBeLessThanOrEqual(100);
    expect(shown.find((line) => line.includes(shortIdOf(note)))).toContain(
      'other words. Two engines of brass.',
    );
  },
  LONG,
);

test(
  'finds a record by the short ID that tables show',
  async () => {
    expect(ndjson(await search(shortIdOf(note))).map((one) => one.record_id)).toEqual([note]);
    expect(await search(shortIdOf(note), '--types', 'contacts')).toBe('');
    const scopes = ['keys', 'issue', '--org', 'Example', '--scopes', 'contacts:read,notes:read'];
    const env = { CRM_API_KEY: await sandbox.ok(scopes) };
    const found = ndjson(await sandbox.ok(['search', shortIdOf(note)], { env }));
    expect(found.map((one) => one.record_id)).toEqual([note]);
  },
  LONG,
);

test(
  'stops at the limit, and says so',
  async () => {
    const cut = await sandbox.crm(['search', 'repeated']);
    expect([cut.code, ndjson(cut.stdout).length]).toEqual([0, 20]);
    expect(cut.stderr).toContain('--all');
    const all = await sandbox.crm(['search', 'repeated', '--all']);
    expect([ndjson(all.stdout).length, all.stderr]).toEqual([25, '']);
    expect(ndjson(await search('repeated', '--limit', '3'))).toHaveLength(3);
  },
  LONG,
);

test(
  'says when nothing was found',
  async () => {
    for (const format of ['table', 'ndjson']) {
      const run = await sandbox.crm(['search', 'nowhere', '-o', format]);
      expect([run.code, run.stdout, run.stderr]).toEqual([
        0,
        '',
        expect.stringContaining('No records found.'),
      ]);
    }
    expect((await sandbox.crm(['search', 'nowhere', '-o', 'json'])).stdout).toBe('[]\n');
  },
  LONG,
);

test(
  'refuses what is wrong before it asks, and says what to do',
  async () => {
    for (const [args, said] of [
      [['ada', '--types', 'contact'], 'Did you mean contacts?'],
      [['ada', '--types', 'contacts,segments'], 'Use one or more of: contacts, companies, deals'],
      [['?!'], 'must contain a letter or a digit'],
      ['a b c d e f g h i j k'.split(' '), 'must have at most 10 words; it has 11'],
      [[], "missing required argument 'words'"],
      [['ada', '--all', '--limit', '3'], '--all'],
    ] as const) {
      const run = await sandbox.crm(['search', ...args], { env: { CRM_API_KEY: '' } });
      expect([run.code, run.stderr.toLowerCase()]).toEqual([2, expect.stringContaining(said.toLowerCase())]);
    }
  },
  LONG,
);
