// Stages that a file names and a pipeline lacks: replaced or created, and never created for a row that is rejected.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Client } from '../../cli/api/client.ts';
import { createStage } from '../../cli/import/rows/stages.ts';
import { type RunningServer, Sandbox } from '../support/command.ts';

let sandbox: Sandbox;
let server: RunningServer;

beforeAll(async () => {
  sandbox = await Sandbox.withDatabase();
  server = await sandbox.serveOrganization();
});
afterAll(async () => {
  await server.stop();
  await sandbox[Symbol.asyncDispose]();
});

const pipelines = async () => JSON.parse(await sandbox.ok(['list', 'pipelines', '-o', 'json']));
const stages = async (): Promise<string[]> =>
  (await pipelines())[0].stages.map(({ name, type }: { name: string; type: string }) => `${name} ${type}`);

const ROWS = [
  'Deal Name,Deal Stage,Company Name',
  'Loom,Engaging,',
  'Spindle,engaging,',
  'Bobbin,On Hold,Nobody Inc',
  'Shuttle,Closed Lost - Price,',
].join('\n');

test('--create-stages adds them where they belong, and only for rows that are imported', async () => {
  await sandbox.write('deals.csv', ROWS);
  const plain = ['import', 'deals', 'deals.csv'];
  const first = await sandbox.crm(plain);
  expect(first.code).toBe(3);
  // Only a stage that is like one of the file replaces it, the others are created, unless the user wants otherwise.
  expect(first.stderr).toContain(
    "Next: crm import deals deals.csv --map-value 'Deal Stage:Closed Lost - Price=Closed Lost' --create-missing --create-stages\n",
  );
  expect(first.stderr).toMatch(
    /Or, if that is what you want: crm import deals deals\.csv --map-value 'Deal Stage:Engaging=Prospecting' .*--create-missing\n/,
  );

  const tried = await sandbox.crm([...plain, '--create-stages', '--dry-run', '-o', 'json']);
  expect(JSON.parse(tried.stdout)).toMatchObject({ created: 3, rejected: 1, stages_created: 2 });
  expect((await stages()).length).toBe(6);

  const done = await sandbox.crm([...plain, '--create-stages']);
  expect(done.stderr).toContain('Imported 3 of 4 deals: 3 created, 1 rejected, 2 missing stages created');
  expect(await stages()).toEqual([
    'Prospecting open',
    'Discovery open',
    'Proposal open',
    'Negotiation open',
    'Engaging open',
    'Closed Won won',
    'Closed Lost lost',
    'Closed Lost - Price lost',
  ]);
  const deals = await sandbox.ok(['list', 'deals', '--fields', 'name,status', '-o', 'csv']);
  expect(deals.split('\n').toSorted()).toEqual(['Loom,open', 'Shuttle,lost', 'Spindle,open', 'name,status']);
});

test('two imports that add stages at the same time lose none', async () => {
  const client = new Client({ url: server.url, apiKey: sandbox.env.CRM_API_KEY ?? '' });
  const [{ id }] = await pipelines();
  const names = ['Demo', 'Trial', 'Legal'];
  await Promise.all(names.map((name) => createStage(client, id, name)));
  expect(await stages()).toEqual(expect.arrayContaining(names.map((name) => `${name} open`)));
});

test('a pipeline that is full rejects the row and says why', async () => {
  const [{ id }] = await pipelines();
  const full = Array.from({ length: 50 }, (_, at) => ({ name: `Stage ${at}` }));
  const { id: other } = JSON.parse(
    await sandbox.ok([
      'create',
      'pipelines',
      '-d',
      JSON.stringify({ name: 'Full', stages: full }),
      '-o',
      'json',
    ]),
  );
  expect(other).not.toBe(id);
  const client = new Client({ url: server.url, apiKey: sandbox.env.CRM_API_KEY ?? '' });
  expect(createStage(client, other, 'One more')).rejects.toThrow('the stage "One more" cannot be created: ');

  await sandbox.write('full.csv', 'Deal Name,Pipeline,Deal Stage\nLoom,Full,One more\n');
  const rejected = await sandbox.crm(['import', 'deals', 'full.csv', '--create-stages', '-o', 'json']);
  expect(JSON.parse(rejected.stdout)).toMatchObject({ rejected: 1, stages_created: 0 });
});

test('a deal that was won or lost goes to a stage of that type, whatever stage it was in', async () => {
  await sandbox.write(
    'closed.csv',
    [
      'Deal - Title,Deal - Stage,Deal - Status',
      'Status 1,Negotiation,Won',
      'Status 2,Closed Lost - Price,Lost',
      'Status 3,Proposal,Open',
      'Status 4,,Lost',
      'Status 5,Never heard of,Won',
    ].join('\n'),
  );
  const run = await sandbox.crm([
    'import',
    'deals',
    'closed.csv',
    '--custom',
    '--create-stages',
    '-o',
    'json',
  ]);
  expect(run.stderr).toContain('Deal - Status → stage_id, of the won or lost stage');
  expect(JSON.parse(run.stdout)).toMatchObject({ created: 5, rejected: 0, stages_created: 0 });
  const all = (await pipelines()).flatMap(({ stages }: { stages: object[] }) => stages);
  const nameOf = (id: string) => all.find((stage: { id: string }) => stage.id === id)?.name;
  const deals = JSON.parse(await sandbox.ok(['list', 'deals', '--all', '-o', 'json']))
    .filter(({ name }: { name: string }) => name.startsWith('Status'))
    .map(({ name, status, stage_id, custom }: Record<string, string>) => [
      name,
      status,
      nameOf(String(stage_id)),
      custom,
    ])
    .toSorted();
  expect(deals).toEqual([
    ['Status 1', 'won', 'Closed Won', { 'Deal - Stage': 'Negotiation' }],
    ['Status 2', 'lost', 'Closed Lost - Price', {}],
    ['Status 3', 'open', 'Proposal', {}],
    ['Status 4', 'lost', 'Closed Lost', {}],
    ['Status 5', 'won', 'Closed Won', { 'Deal - Stage': 'Never heard of' }],
  ]);

  await sandbox.write('open.csv', 'Deal Name,Pipeline,Status\nStatus 6,Full,Won\n');
  const rejected = await sandbox.crm(['import', 'deals', 'open.csv']);
  expect([rejected.code, rejected.stderr]).toEqual([
    3,
    expect.stringContaining('status: the pipeline "Full" does not have a stage of type won; add one to it'),
  ]);
});
