// What requests ask of the database, counted: one statement for what can be asked together, and no savepoint for what is refused.
import { afterAll, beforeAll, expect, spyOn, test } from 'bun:test';
import { Connection } from '../../db/sqlite/connection.ts';
import { appOn, BASE_URL, type Harness, type Json, startHarness } from '../support/harness.ts';
import { uniqueEmail } from '../support/v2.ts';

const asked: string[] = [];
let harness: Harness;

beforeAll(async () => {
  const { bind, post } = Connection.prototype;
  spyOn(Connection.prototype, 'bind').mockImplementation(function (this: Connection, query) {
    const run = bind.call(this, query);
    return (values) => {
      asked.push(query.sql);
      return run(values) as never;
    };
  });
  spyOn(Connection.prototype, 'post').mockImplementation(function (this: Connection, sql) {
    asked.push(sql);
    post.call(this, sql);
  });
  harness = await startHarness();
});
afterAll(async () => {
  spyOn(Connection.prototype, 'bind').mockRestore();
  spyOn(Connection.prototype, 'post').mockRestore();
  await harness.close();
});

/** What a request asks, in order: the verb and the table, or the command. What concerns its key is left out. */
async function statementsOf(method: string, path: string, body?: Json): Promise<string[]> {
  asked.length = 0;
  const reply = await harness.send(method, `/api/v2${path}`, { body });
  expect(reply.status).toBeLessThan(300);
  const named = asked.map((sql) => {
    const [, verb, table] =
      /^(\w+)\b.*?(?:from|into|update) "(\w+)"/.exec(`${sql.split(' ')[0]} ${sql}`) ?? [];
    return table === undefined ? sql : `${verb} ${table}`;
  });
  return named.filter((name) => !/^PRAGMA|api_key/.test(name));
}

const contact = () => ({ email: uniqueEmail(), first_name: 'A' });
const many = (count: number, make: () => Json): Json[] => Array.from({ length: count }, make);
const inTransaction = (...statements: string[]) => [
  'BEGIN IMMEDIATE',
  'select org_clocks',
  ...statements,
  'insert org_clocks',
  'COMMIT',
];

test('a record, and a page of them, is one statement', async () => {
  const { id } = (await harness.send('POST', '/api/v2/contacts', { body: contact() })).body.data;
  expect(await statementsOf('GET', `/contacts/${id}`)).toEqual(['select contacts']);
  expect(await statementsOf('GET', '/contacts?limit=100')).toEqual(['select contacts']);
});

test('a record is answered in the turn in which it is asked for, once its key is known', async () => {
  const { id } = (await harness.send('POST', '/api/v2/contacts', { body: contact() })).body.data;
  const app = await appOn(harness.store, harness.clock);
  const ask = () => {
    const headers = { Authorization: `Bearer ${harness.v2}` };
    return app.fetch(new Request(`${BASE_URL}/api/v2/contacts/${id}`, { headers }));
  };
  await ask();
  expect(ask()).toBeInstanceOf(Response);
});

test('a create looks for what it may conflict with, and writes', async () => {
  expect(await statementsOf('POST', '/tasks', { name: 'T' })).toEqual(inTransaction('insert tasks'));
  const written = ['select contact_emails', 'insert contacts', 'insert contact_emails'];
  expect(await statementsOf('POST', '/contacts', contact())).toEqual(inTransaction(...written));
});

test('an update writes the columns that change', async () => {
  const { id } = (await harness.send('POST', '/api/v2/contacts', { body: contact() })).body.data;
  const statements = await statementsOf('PATCH', `/contacts/${id}`, { title: 'T', phone: null });
  expect(statements).toEqual(inTransaction('select contacts', 'update contacts'));
  expect(asked.filter((sql) => sql.startsWith('update'))).toEqual([
    'update "contacts" set "title" = ?, "updated_at" = ? where "org_id" = ? and "id" = ?',
  ]);
});

test('a batch of 100 asks once for all items, and writes several by one statement', async () => {
  const company = (await harness.send('POST', '/api/v2/companies', { body: { name: 'C' } })).body.data.id;
  const items = many(100, () => ({ ...contact(), company_id: company }));
  expect(await statementsOf('POST', '/contacts/batch', items)).toEqual(
    inTransaction(
      ...['select companies', 'select contact_emails'],
      ...Array(4).fill('insert contacts'),
      ...Array(4).fill('insert contact_emails'),
    ),
  );
});

test('items that are refused cost no savepoint', async () => {
  const taken = contact();
  await harness.send('POST', '/api/v2/contacts', { body: taken });
  const contacts = [contact(), taken, { phone: 5 }, { ...contact(), company_id: 'absent' }, contact()];
  const interaction = { type: 'EMAIL', direction: 'INBOUND', title: 'T' };
  const interactions = [
    { ...interaction, main_contact_email: uniqueEmail() },
    { ...interaction, main_contact: 'absent' },
    { ...interaction, main_contact_email: taken.email },
  ];
  const pipelines = [{ name: 'P' }, { name: 'P', stages: [] }, { name: 'Q' }];
  const batches = { contacts, interactions, pipelines };
  for (const [resource, items] of Object.entries(batches)) {
    const statements = await statementsOf('POST', `/${resource}/batch`, items);
    expect(statements.filter((name) => !/^(?:select|insert|update) /.test(name))).toEqual([
      'BEGIN IMMEDIATE',
      'COMMIT',
    ]);
  }
});
