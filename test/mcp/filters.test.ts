// Filters as assistants write them: names where IDs belong, days where instants do, and no silence when nothing passes.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Assistant, recordIn, recordsIn } from '../support/assistant.ts';
import { Sandbox } from '../support/command.ts';

let sandbox: Sandbox;
let assistant: Assistant;
let user: string;
beforeAll(async () => {
  sandbox = await Sandbox.serving();
  user = JSON.parse(await sandbox.ok(['users', 'list', '-o', 'json']))[0].id;
  assistant = await Assistant.start(sandbox, ['--write']);
  const firm = await upserted('companies', { domain: 'cancity.example', name: 'Cancity', owner_id: user });
  const ada = await upserted('contacts', {
    ...{ email: 'ada@cancity.example', first_name: 'Ada', last_name: 'Lovelace', company_id: firm },
  });
  const values = { company_id: firm, owner_id: user, point_of_contact_id: ada };
  for (const [name, stage] of Object.entries({ Won: 'Closed Won', Offered: 'Proposal' }))
    await upserted('deals', { ...values, name, stage, external_id: { source: 'a', id: name } });
  await assistant.ok('add_task', {
    name: 'Call',
    due_date: '2999-12-31T09:00:00Z',
    owner: 'ada@example.com',
  });
});
afterAll(async () => {
  await assistant[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
});

async function upserted(resource: string, values: object): Promise<string> {
  return String(recordIn(await assistant.ok('upsert', { resource, ...values })).id);
}

async function named(resource: string, filter: object): Promise<unknown[]> {
  const text = await assistant.ok('query', { resource, filter, sort_direction: 'asc' });
  const names = recordsIn(text).map(({ name }) => name);
  const count = await assistant.ok('count', { resource, filter });
  expect(count).toStartWith(`${names.length} `);
  return names;
}

describe('a name where an ID belongs is found', () => {
  test.each<[object, string[]]>([
    [{ stage: 'proposal' }, ['Offered']],
    [{ stage_id: 'Closed Won' }, ['Won']],
    [{ stage: { in: ['Proposal', 'Closed Won'] } }, ['Won', 'Offered']],
    [{ not: { stage: { in: ['Proposal'] } } }, ['Won']],
    [{ pipeline: 'Sales', or: [{ stage: 'Proposal' }, { name: 'x' }] }, ['Offered']],
    [{ company_id: 'Cancity' }, ['Won', 'Offered']],
    [{ company: { ne: 'cancity.example' } }, []],
    [{ owner_id: 'ada@example.com' }, ['Won', 'Offered']],
    [{ contact: 'ada@cancity.example' }, ['Won', 'Offered']],
    [{ companies: { has: 'Cancity' } }, ['Won', 'Offered']],
    [{ and: [{ contacts: { any_of: ['Ada Lovelace'] } }] }, ['Won', 'Offered']],
  ])('%j', async (filter, names) => {
    expect(await named('deals', filter)).toEqual(names);
  });

  test('in the pipeline to which the filter is limited', async () => {
    const stages = [{ name: 'Proposal' }];
    await sandbox.ok(['create', 'pipelines', '-d', JSON.stringify({ name: 'Partners', stages })]);
    const text = await assistant.refusal('count', { resource: 'deals', filter: { stage: 'Proposal' } });
    expect(text).toContain('filter.stage: several pipelines have a stage "Proposal"; also send pipeline');
    expect(await named('deals', { pipeline: 'Sales', stage: 'Proposal' })).toEqual(['Offered']);
    expect(await named('deals', { and: [{ pipeline: 'Partners' }, { stage: 'Proposal' }] })).toEqual([]);
  });
});

describe('a name that nothing has is told, with its path', () => {
  test.each<[string, object, string[]]>([
    ['deals', { stage: 'Dreaming' }, ['filter.stage: no pipeline has a stage "Dreaming"; the stages are']],
    ['deals', { company_id: { in: ['Nobody'] } }, ['filter.company_id.in.0: no company has the name']],
    ['deals', { and: [{ companies: { has: 'Nobody' } }] }, ['filter.and.0.companies.has: no company has']],
    ['deals', { owner_id: 'Bob Jones' }, ['filter.owner_id: no owner of a record', 'known: ada@example.com']],
    ['tasks', { main_assignee_id: 'me' }, ['filter.main_assignee_id: this key is not bound to a user']],
    ['deals', { id: 'Won' }, ['filter.id: must be an ID, and "Won" is not one', 'Next: Find the ID']],
    ['notes', { deals: { has: 'Won' } }, ['filter.deals.has: must be an ID, and "Won" is not one']],
    ['deals', { stage: 'Proposal', stage_id: 'x' }, ['filter.stage: send either stage or stage_id']],
    ['deals', { company_id: { contains: 'Can' } }, ['filter.company_id.contains: ']],
    ['contacts', { stage: 'Proposal' }, ['filter.stage: is not a field']],
    ['deals', { and: { stage: 'Proposal' } }, ['filter.and: must be an array']],
  ])('%s %j', async (resource, filter, words) => {
    const text = await assistant.refusal('query', { resource, filter });
    for (const word of words) expect(text).toContain(word);
  });
});

test.each<[object | string, boolean]>([
  ['2999-12-31', true],
  ['2999-12-30', false],
  [{ eq: '2999-12-31' }, true],
  [{ lte: '2999-12-31' }, true],
  [{ lt: '2999-12-31' }, false],
  [{ gte: '2999-12-31' }, true],
  [{ gt: '2999-12-31' }, false],
  [{ gt: '2999-12-30', lt: '3000-01-01' }, true],
  [{ between: ['2999-12-30', '2999-12-31'] }, true],
  [{ between: ['2999-12-29', '2999-12-30'] }, false],
  [{ eq: '2999-12-31T09:00:00Z' }, true],
  [{ in: ['2999-12-31T09:00Z'] }, true],
  [{ gte: { ago: '1d' } }, true],
])('a day is all of it: due_date %j', async (due_date, isFound) => {
  expect(await named('tasks', { due_date })).toEqual(isFound ? ['Call'] : []);
});

test('when nothing passes, it is said what to try next', async () => {
  const text = await assistant.ok('query', { resource: 'contacts', filter: { first_name: 'Grace' } });
  expect(text).toMatch(/^No contacts\.\nNext: try fewer conditions, /);
  expect(await assistant.ok('query', { resource: 'notes' })).toBe('No notes.');
});
