// `crm history` and `crm undelete`: what they print, and that all that a request deleted comes back as it was.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'kysely';
import { openStore } from '../../db/store.ts';
import { ndjson, Sandbox } from '../support/command.ts';
import { ABSENT } from '../support/v2.ts';

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await Sandbox.serving();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

async function create(resource: string, ...pairs: string[]): Promise<string> {
  return JSON.parse(await sandbox.ok(['create', resource, ...pairs, '-o', 'json'])).id;
}

const list = async (path: string) => ndjson(await sandbox.ok(['list', path, '--all', '-o', 'ndjson']));
const withoutTimes = (records: Record<string, unknown>[]) =>
  records.map(({ updated_at: _, ...rest }) => rest);

/** Deletes the records of a resource in one request, and returns its ID. */
async function deleteAll(resource: string, ids: string[]): Promise<string> {
  const run = await sandbox.crm(['delete', resource, '--from', '-', '--yes', '-o', 'json'], {
    stdin: `${ids.join('\n')}\n`,
  });
  expect(run.code).toBe(0);
  const { request_ids } = JSON.parse(run.stdout);
  expect(request_ids).toHaveLength(1);
  return request_ids[0];
}

/** Moves the changes after one to higher sequence numbers, as if others had come between. */
async function moveChangesAfter(sequence: number, by: number): Promise<void> {
  const store = await openStore(sandbox.database);
  await store.write('accounts', async (trx) => {
    await sql`update changes set sequence = sequence + ${by}, cause = cause + ${by} where sequence > ${sequence}`.execute(
      trx,
    );
    await sql`update org_clocks set last_change = last_change + ${by} where last_change > 0`.execute(trx);
  });
  await store.close();
}

describe('crm history', () => {
  test('prints changes newest first: NDJSON in a pipe, lines as a table, columns as CSV', async () => {
    const id = await create('deals', 'name=Engine');
    await sandbox.ok(['update', 'deals', id, 'name=Difference engine', 'currency=GBP']);
    const changes = ndjson(await sandbox.ok(['history', 'deals', id]));
    expect(changes.map(({ action }) => action)).toEqual(['updated', 'created']);
    expect(changes[0]).toMatchObject({
      record_id: id,
      after: { name: 'Difference engine', currency: 'GBP' },
    });
    expect(changes[0]).not.toHaveProperty('record');
    const [first, second, ...rest] = (await sandbox.ok(['history', 'deals', id, '-o', 'table'])).split('\n');
    expect(first).toMatch(
      /^(?:[\d-]{10} )?\d\d:\d\d:\d\d {2}key …\w{6} {2}updated deal Difference engine: name Engine → Difference engine, currency \(none\) → GBP/,
    );
    expect(second).toContain('created deal Difference engine');
    expect(rest).toEqual([]);
    expect(JSON.parse(await sandbox.ok(['history', 'deals', id, '-o', 'json']))).toEqual(changes);
    const csv = await sandbox.ok(['history', 'deals', id, '-o', 'csv']);
    expect(csv).toStartWith('sequence,at,action,resource,record_id,actor,request_id,cause,before,after,link');
    const one = await sandbox.crm(['history', 'deals', id, '--limit', '1']);
    expect([ndjson(one.stdout).length, one.stderr]).toEqual([1, expect.stringContaining('--all')]);
    expect(ndjson(await sandbox.ok(['history', 'deals', id, '--all']))).toEqual(changes);
  });

  test('of a deleted record goes on; of an unknown one says what to do', async () => {
    const id = await create('tasks', 'name=T');
    await sandbox.ok(['delete', 'tasks', id, '--yes']);
    const [deleted] = ndjson(await sandbox.ok(['history', 'tasks', id]));
    expect(deleted).toMatchObject({ action: 'deleted', before: { id, name: 'T' } });
    const run = await sandbox.crm(['history', 'tasks', ABSENT]);
    expect([run.code, run.stderr]).toEqual([1, expect.stringContaining('Next: ')]);
    const wrong = await sandbox.crm(['history', 'task', ABSENT]);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('Did you mean tasks?')]);
  });
});

describe('crm undelete', () => {
  test('restores a record and prints it; crm delete names the command for that', async () => {
    const id = await create('contacts', 'first_name=Ada');
    const deleted = await sandbox.crm(['delete', 'contacts', id, '--yes']);
    const [, requestId = ''] = /To undo: crm undelete --request (req_\S+)/.exec(deleted.stderr) ?? [];
    expect([deleted.stdout, requestId]).toEqual(['', expect.stringMatching(/^req_/)]);
    const tried = await sandbox.crm(['undelete', 'contacts', id, '--dry-run']);
    expect([tried.code, tried.stderr]).toEqual([0, expect.stringContaining('nothing was written')]);
    const [record] = ndjson(await sandbox.ok(['undelete', 'contacts', id]));
    expect(record).toMatchObject({ id, first_name: 'Ada' });
    const again = await sandbox.crm(['undelete', 'contacts', id]);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining(`crm history contacts ${id}`)]);
    const run = await sandbox.crm(['undelete', '--request', requestId]);
    expect([run.code, ndjson(run.stdout)]).toEqual([
      0,
      [{ resource: 'contacts', id, status: 'unchanged', error: null }],
    ]);
    expect(run.stderr).toContain('Restored 0 of 1 record. 1 existed already.');
    const json = await sandbox.ok(['delete', 'contacts', id, '--yes', '-o', 'json']);
    expect(JSON.parse(json)).toEqual({
      ...{ resource: 'contacts', id, status: 'deleted', request_id: expect.stringMatching(/^req_/) },
    });
  });

  test('of a tree of notes, deleted in one request, restores the tree in whatever order they were deleted', async () => {
    const root = await create('notes', 'title=root');
    const middle = await create('notes', 'title=middle', `parent_id=${root}`);
    const leaf = await create('notes', 'title=leaf', `parent_id=${middle}`);
    for (const order of [
      [root, middle, leaf],
      [leaf, middle, root],
      [middle, leaf, root],
    ]) {
      const before = await list('notes');
      const requestId = await deleteAll('notes', order);
      const run = await sandbox.crm(['undelete', '--request', requestId]);
      expect([run.code, run.stderr]).toEqual([0, expect.stringContaining('Restored 3 of 3 records.')]);
      expect(withoutTimes(await list('notes'))).toEqual(withoutTimes(before));
    }
  });

  test('of contacts who supervise each other restores their links as they were', async () => {
    const deal = await create('deals', 'name=D');
    const people = [await create('contacts', 'first_name=A'), await create('contacts', 'first_name=B')];
    for (const [index, id] of people.entries())
      await sandbox.ok(['link', `deals/${deal}/contacts`, id, `supervisor=${people[1 - index]}`]);
    const before = await list(`deals/${deal}/contacts`);
    expect(before.map(({ supervisor }) => supervisor).toSorted()).toEqual(people.toSorted());
    const requestId = await deleteAll('contacts', people);
    await sandbox.ok(['undelete', '--request', requestId]);
    expect(withoutTimes(await list(`deals/${deal}/contacts`))).toEqual(withoutTimes(before));
  });

  test('completes links also when thousands of other changes lie between', async () => {
    const deal = await create('deals', 'name=Far');
    const people = [await create('contacts', 'first_name=A'), await create('contacts', 'first_name=B')];
    for (const [index, id] of people.entries())
      await sandbox.ok(['link', `deals/${deal}/contacts`, id, `supervisor=${people[1 - index]}`]);
    const before = await list(`deals/${deal}/contacts`);
    const first = await create('contacts', 'first_name=X');
    const requestId = await deleteAll('contacts', [first, ...people]);
    const [change] = ndjson(await sandbox.ok(['history', 'contacts', first, '-o', 'ndjson']));
    await moveChangesAfter(Number(change?.sequence), 30_000);
    await sandbox.ok(['undelete', '--request', requestId]);
    expect(withoutTimes(await list(`deals/${deal}/contacts`))).toEqual(withoutTimes(before));
  });

  test('of what cannot be restored reports it and ends with 3; run again, it restores the rest', async () => {
    const taken = await create('contacts', 'email=taken@x.example');
    const other = await create('contacts', 'email=free@x.example');
    const requestId = await deleteAll('contacts', [taken, other]);
    const thief = await create('contacts', 'email=taken@x.example');
    const args = ['undelete', '--request', requestId];
    const run = await sandbox.crm(args);
    expect(run.code).toBe(3);
    expect(ndjson(run.stdout)).toEqual([
      {
        resource: 'contacts',
        id: taken,
        status: 'error',
        error: expect.stringContaining('RESOURCE_CONFLICT'),
      },
      { resource: 'contacts', id: other, status: 'restored', error: null },
    ]);
    expect(run.stderr).toContain('Restored 1 of 2 records.');
    await sandbox.ok(['delete', 'contacts', thief, '--yes']);
    const again = await sandbox.crm(args);
    expect([again.code, ndjson(again.stdout).map(({ status }) => status)]).toEqual([
      0,
      ['restored', 'unchanged'],
    ]);
  });

  test.each([
    [['undelete'], 2, 'Specify what to restore'],
    [['undelete', 'contacts'], 2, 'crm undelete RESOURCE ID'],
    [['undelete', 'meetings', ABSENT], 2, 'meetings cannot be undeleted'],
    [['undelete', 'contacts', '--request', 'req_x'], 2, 'not both'],
    [['undelete', '--request', 'req_unknown'], 1, 'crm audit list --action record.deleted'],
  ])('%p ends with %i', async (args, exitCode, message) => {
    const run = await sandbox.crm(args);
    expect([run.code, run.stderr]).toEqual([exitCode, expect.stringContaining(message)]);
  });
});
