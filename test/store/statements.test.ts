// What requests ask of the database, counted: one statement for what can be asked together, and no savepoint for what is refused.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { isPostgres } from '../support/fresh-databases.ts';
import { appOn, BASE_URL, type Harness, type Json, startHarness } from '../support/harness.ts';
import { unique } from '../support/keyed-requests.ts';
import { type Observed, observeConnections } from '../support/statement-log.ts';
import { uniqueEmail } from '../support/v2.ts';

let observed: Observed;
let harness: Harness;

beforeAll(async () => {
  observed = observeConnections();
  harness = await startHarness();
});
afterAll(async () => {
  await harness.close();
  observed[Symbol.dispose]();
});

interface Request {
  method: string;
  path: string;
  body?: Json;
  /** The key that it carries, if any, to be carried out once. */
  key?: string;
}

function send({ method, path, body, key }: Request) {
  const headers: Record<string, string> = key === undefined ? {} : { 'Idempotency-Key': key };
  return harness.send(method, `/api/v2${path}`, { body, headers });
}

const post = (path: string, body: Json, key?: string): Request => ({ method: 'POST', path, body, key });
const create = async (path: string, body: Json) => (await send(post(path, body))).body.data;

/** A statement as its verb and table, a command as it is. */
function nameOf(text: string): string {
  // Without what its columns look up.
  const looked = /\(\s*select [^()]*(?:"settings"|as record)[^()]*\)|extract\(epoch from/g;
  const plain = text.replaceAll(looked, '').trim();
  const [, verb, table] =
    /^(\w+)\b.*?(?:from|into|update) "?(\w+)/s.exec(`${plain.split(' ')[0]} ${plain}`) ?? [];
  return table === undefined ? text.toLowerCase().replace(' immediate', '') : `${verb} ${table}`;
}

// Of no request: the connection, the secrets that sign, which are looked at every few seconds, what PostgreSQL knows of the
// tables, what nodes tell each other of changes, or the time.
const TIMED = /^pragma|^select settings|pg_class|^analyze|pg_notify|clock_timestamp/;
// What concerns the credential of a request, or its limits.
const APART = /api_key|minute_counts/;

function allNamesOf(texts: readonly string[]): string[] {
  return texts.map(nameOf).filter((name) => !TIMED.test(name));
}

function namesOf(texts: readonly string[]): string[] {
  return allNamesOf(texts).filter((name) => !APART.test(name));
}

/** What a request asks, in order. */
async function statementsOf(request: Request, status = 201): Promise<string[]> {
  observed.asked.length = 0;
  observed.trips.length = 0;
  const reply = await send(request);
  expect(reply.status).toBe(status);
  return namesOf(observed.asked);
}

/** How often what was asked last went to the server and back, on PostgreSQL. */
function expectTrips(count: number): void {
  if (isPostgres) expect(namesOf(observed.trips)).toHaveLength(count);
}

const contact = () => ({ email: uniqueEmail(), first_name: 'A' });
const many = (count: number, make: () => Json): Json[] => Array.from({ length: count }, make);
const inTransaction = (...statements: string[]) => ['begin', 'select org_clocks', ...statements, 'commit'];
const written = (...statements: string[]) => inTransaction(...statements, 'insert org_clocks');
// With so many changes of records and links. On SQLite a statement has 25 rows, 5 or one.
const logged = (count: number, ...statements: string[]) => {
  const inserts = isPostgres ? 1 : Math.floor(count / 25) + Math.floor((count % 25) / 5) + (count % 5);
  return written(...statements, ...Array(inserts).fill('insert changes'));
};
// With records that the search index does not have yet, in one row.
const searched = (count: number, ...statements: string[]) =>
  logged(count, ...statements).toSpliced(-2, 0, 'insert search_pending');
// The answer that is stored under a key, with how much all of them take.
const lookUp = 'select org_clocks';
// Another node may have carried it out meanwhile.
const again = isPostgres ? [lookUp] : [];

test('a record, and a page of them, is one statement', async () => {
  const { id } = await create('/contacts', contact());
  expect(await statementsOf({ method: 'GET', path: `/contacts/${id}` }, 200)).toEqual(['select contacts']);
  const page = await statementsOf({ method: 'GET', path: '/contacts?limit=100' }, 200);
  expect(page).toEqual(['select contacts']);
  expectTrips(1);
});

test.skipIf(isPostgres)(
  'a record is answered in the turn in which it is asked for, once its key is known',
  async () => {
    const { id } = await create('/contacts', contact());
    const app = await appOn(harness.store, harness.clock);
    const ask = () => {
      const headers = { Authorization: `Bearer ${harness.v2}` };
      return app.fetch(new Request(`${BASE_URL}/api/v2/contacts/${id}`, { headers }));
    };
    await ask();
    expect(ask()).toBeInstanceOf(Response);
    // After it that app notes its first use of the key.
    await harness.store.write('accounts', async () => undefined);
  },
);

test('a create looks for what it may conflict with, and writes', async () => {
  expect(await statementsOf(post('/tasks', { name: 'T' }))).toEqual(searched(1, 'insert tasks'));
  expectTrips(2);
  expect(await statementsOf(post('/contacts', contact()))).toEqual(
    searched(1, 'select contact_emails', 'insert contacts', 'insert contact_emails'),
  );
  expectTrips(3);
});

test('an external ID is looked up with those of its record, and found by a list in one step more', async () => {
  const { id } = await create('/tasks', { name: 'T' });
  const path = `/tasks/${id}/external_ids`;
  const known = ['select tasks', 'select external_ids', 'select external_ids'];
  const body = { source: 'crm', id: unique() };
  expect(await statementsOf(post(path, body), 200)).toEqual(written(...known, 'insert external_ids'));
  expectTrips(4);
  expect(await statementsOf(post(path, body), 200)).toEqual(written(...known));
  const found = { method: 'GET', path: `/tasks?external_id=crm:${body.id}` };
  expect(await statementsOf(found, 200)).toEqual(['select external_ids', 'select tasks']);
  const list = { method: 'GET', path };
  expect(await statementsOf(list, 200)).toEqual(['select tasks', 'select external_ids']);
  const removal = { method: 'DELETE', path: `${path}/crm` };
  expect(await statementsOf(removal, 204)).toEqual(written('select tasks', 'delete external_ids'));
});

test('a create with a key looks it up first, and stores the answer with the record', async () => {
  const request = post('/tasks', { name: 'T' }, unique());
  expect(await statementsOf(request)).toEqual([
    lookUp,
    ...searched(1, ...again, 'insert tasks', 'insert idempotency_keys'),
  ]);
  expectTrips(4);
  expect(await statementsOf(request)).toEqual([lookUp, 'select idempotency_keys']);
  expectTrips(2);
  expect(await statementsOf({ ...request, body: { name: 'U' } }, 422)).toEqual([lookUp]);
  expectTrips(1);
});

test('a create that is refused asks what it needs to know, and writes nothing but the answer to its key', async () => {
  const taken = contact();
  await create('/contacts', taken);
  expect(await statementsOf(post('/contacts', { phone: 5 }), 422)).toEqual([]);
  const absent = await statementsOf(post('/tasks', { name: 'T', company_id: 'absent' }), 422);
  expect(absent).toEqual(inTransaction('select companies'));
  expectTrips(3);
  const looking = ['select contact_emails', 'select contacts'];
  expect(await statementsOf(post('/contacts', taken), 409)).toEqual(inTransaction(...looking));
  expect(await statementsOf(post('/contacts', taken, unique()), 409)).toEqual([
    lookUp,
    ...written(...again, ...looking, 'insert idempotency_keys'),
  ]);
});

test('an update writes the columns that change', async () => {
  const { id } = await create('/contacts', contact());
  const request = { method: 'PATCH', path: `/contacts/${id}`, body: { title: 'T', phone: null } };
  expect(await statementsOf(request, 200)).toEqual(searched(1, 'select contacts', 'update contacts'));
  expectTrips(3);
  const updates = observed.asked.filter((sql) => sql.startsWith('update'));
  expect(updates.map((sql) => sql.replaceAll(/\$\d|\+\?/g, '?'))).toEqual([
    'update "contacts" set "title" = ?, "updated_at" = ? where "org_id" = ? and "id" = ?',
  ]);
});

test('a page of a timeline takes as many statements however many entries it has', async () => {
  const { id } = await create('/contacts', contact());
  const path = `/contacts/${id}/timeline`;
  const page = async () => {
    const { id: note } = await create('/notes', { title: 'N' });
    await send(post(`/notes/${note}/records`, { record_type: 'contact', record_id: id }));
    await create('/tasks', { name: 'T', person_id: id });
    return statementsOf({ method: 'GET', path }, 200);
  };
  const few = await page();
  // The notes with their links to the contact, and the tasks.
  const shown = [
    'select timeline_entries',
    'with spans',
    'select tasks',
    'select notes',
    'select note_records',
  ];
  expect(few).toEqual(['select backfills', 'select contacts', 'select changes', ...shown]);
  for (let count = 0; count < 4; count++) expect(await page()).toEqual(few);
});

test('what is included takes as many statements for a few records as for a whole page', async () => {
  const batch = async (resource: string, make: (index: number) => Json): Promise<Json[]> => {
    const items = Array.from({ length: 100 }, (_, index) => make(index));
    const { body } = await send(post(`/${resource}/batch`, items));
    return body.data.items.map(({ data }: Json) => data);
  };
  for (let count = 0; count < 2; count++) {
    const companies = await batch('companies', () => ({ name: 'Of one' }));
    const owner_id = harness.alice;
    const contacts = await batch('contacts', (index) => ({
      ...contact(),
      company_id: companies[index].id,
      owner_id,
    }));
    await batch('deals', (index) => ({ name: 'Of one', point_of_contact_id: contacts[index].id }));
  }
  const list = (limit: number) =>
    statementsOf(
      { method: 'GET', path: `/contacts?include=company&include=owner&include=deals&limit=${limit}` },
      200,
    );
  // Both ways that lead to deals.
  const ways = ['select contacts', 'select deals', 'select deal_contacts'];
  const records = ['select companies', 'select users', 'select deals'];
  expect(await list(5)).toEqual([...ways, ...records]);
  // The first fifty records tell how large the others are.
  const whole = [...ways, ...records, 'select companies', 'select deals'];
  expect(await list(50)).toEqual(whole);
  expect(await list(200)).toEqual(whole);
  const [{ id }] = (await send({ method: 'GET', path: '/contacts?limit=1' })).body.data;
  const one = await statementsOf(
    { method: 'GET', path: `/contacts/${id}?include=company&include=segments` },
    200,
  );
  expect(one).toEqual(['select contacts', 'select segment_members', 'select companies']);
});

test('what two names include of one group is read together', async () => {
  const [company, other] = [
    await create('/companies', { name: 'One' }),
    await create('/companies', { name: 'Two' }),
  ];
  const { id } = await create('/deals', { name: 'Of both', company_id: company.id });
  await send(post(`/deals/${id}/companies`, { company_id: other.id }));
  const both = { method: 'GET', path: `/deals/${id}?include=company&include=companies` };
  expect(await statementsOf(both, 200)).toEqual([
    'select deals',
    'select deal_companies',
    'select companies',
  ]);
});

test('the members of segments are counted together', async () => {
  for (let count = 0; count < 10; count++) await create('/segments', { name: 'S' });
  const list = await statementsOf({ method: 'GET', path: '/segments?limit=10' }, 200);
  expect(list).toEqual(['select segments', 'select segment_members']);
});

test('a page of a company reads its entries once, although tasks show by themselves and through contacts', async () => {
  const { id: company_id } = await create('/companies', { name: 'C' });
  const { id: person_id } = await create('/contacts', { ...contact(), company_id });
  const items = many(30, () => ({ name: 'T', company_id, person_id }));
  expect((await send(post('/tasks/batch', items))).status).toBe(200);
  const asked = await statementsOf({ method: 'GET', path: `/companies/${company_id}/timeline` }, 200);
  const readings = ['timeline_entries', 'tasks', 'contacts'].map(
    (table) => asked.filter((name) => name === `select ${table}`).length,
  );
  expect(readings).toEqual([1, 1, 1]);
});

test('a batch of links looks up both ends and the links, and writes, each at once', async () => {
  const links = await Promise.all(
    many(20, () => null).map(async () => ({
      ...{ of: 'deals.contacts', parent_id: (await create('/deals', { name: 'D' })).id },
      id: (await create('/contacts', contact())).id,
    })),
  );
  const looking = ['select deal_contacts', 'select deals', 'select contacts'];
  // On SQLite a statement has 25 rows, 5 or one.
  const inserts = isPostgres ? 1 : 4;
  expect(await statementsOf(post('/links/batch', links), 200)).toEqual(
    logged(
      links.length,
      ...looking,
      ...Array(inserts).fill('insert deal_contacts'),
      'delete timeline_entries',
      ...Array(inserts).fill('insert timeline_entries'),
    ),
  );
  expectTrips(3);
  expect(await statementsOf(post('/links/batch', links), 200)).toEqual(written(...looking));
  expect(await statementsOf(post('/links/batch/delete', links), 200)).toEqual(
    logged(links.length, ...looking, 'delete deal_contacts', 'delete timeline_entries'),
  );
  expectTrips(3);
  expect(await statementsOf({ method: 'GET', path: '/links?of=deals.contacts' }, 200)).toEqual([
    'select deal_contacts',
  ]);
});

test('a batch of members looks for them where the segment has them, and nowhere else', async () => {
  const segment = await create('/segments', { name: 'S', record_type: 'company' });
  const companies = await Promise.all(many(5, () => create('/companies', { name: 'C' })));
  const members = companies.map(({ id }) => ({ of: 'segments.members', parent_id: segment.id, id }));
  const looking = ['select segment_members', 'select segments', 'select companies'];
  expect(await statementsOf(post('/links/batch', members), 200)).toEqual(
    logged(5, ...looking, 'insert segment_members'),
  );
  expectTrips(4);
});

test('a delete looks for all that depends on the records at once, and changes only what it finds', async () => {
  const deal = await create('/deals', { name: 'D' });
  const contacts = await Promise.all(many(20, contact).map((body) => create('/contacts', body)));
  const links = contacts.map(({ id }) => ({ of: 'deals.contacts', parent_id: deal.id, id }));
  await send(post('/links/batch', links));
  const dependents = [
    ...[
      'select deals',
      'select deal_contacts',
      'select deal_contacts',
      'select tasks',
      'select note_records',
    ],
    ...['select segment_members', 'select interactions', 'select interaction_contacts'],
  ];
  const deleted = (ids: number, looking: string[], entries: number) =>
    searched(
      2 * ids,
      ...[
        'select contacts',
        'select external_ids',
        'delete contact_emails',
        ...looking,
        'delete deal_contacts',
      ],
      ...['delete external_ids', 'delete contacts', ...Array(entries).fill('insert audit_log')],
    );
  const [first, ...others] = contacts.map(({ id }) => id);
  const removal = { method: 'DELETE', path: `/contacts/${first}` };
  expect(await statementsOf(removal, 204)).toEqual(deleted(1, dependents, 1));
  expectTrips(4);
  const names = isPostgres ? dependents.map(() => 'select json_array_elements_text') : dependents;
  // On SQLite a statement has 5 rows or one.
  const entries = isPostgres ? 1 : 7;
  expect(await statementsOf(post('/contacts/batch/delete', others), 200)).toEqual(
    deleted(19, names, entries),
  );
  expectTrips(4);
});

test('an interaction is tied to who was there, and they remember it', async () => {
  const { email } = await create('/contacts', contact());
  const interaction = { type: 'EMAIL', direction: 'INBOUND', title: 'T', main_contact_email: email };
  const involved = ['insert interactions', 'insert interaction_contacts', 'update contacts'];
  expect(await statementsOf(post('/interactions', interaction))).toEqual(
    searched(
      1,
      ...['select contact_emails', ...involved, 'insert interaction_companies', 'update companies'],
      ...['insert timeline_entries', 'select interaction_contacts', 'select interaction_companies'],
    ),
  );
  expectTrips(4);
  const withNobodyKnown = { ...interaction, main_contact_email: uniqueEmail() };
  expect(await statementsOf(post('/interactions', withNobodyKnown))).toEqual(
    searched(
      2,
      ...['select contact_emails', 'insert contacts', 'insert contact_emails', ...involved],
      'insert timeline_entries',
    ),
  );
  expectTrips(3);
  const [others, companies] = await Promise.all([
    Promise.all(many(20, () => create('/contacts', contact()))),
    Promise.all(many(20, () => create('/companies', { name: 'C' }))),
  ]);
  const ofSeveral = {
    ...{ ...interaction, contact_ids: others.map(({ id }) => id) },
    company_ids: companies.map(({ id }) => id),
  };
  const rows = (table: string, statements: number) =>
    Array(isPostgres ? 1 : statements).fill(`insert ${table}`);
  expect(await statementsOf(post('/interactions', ofSeveral))).toEqual(
    searched(
      1,
      ...['select contacts', 'select companies', 'select contact_emails', 'insert interactions'],
      // 21 contacts and 20 companies, 5 or 1 per statement.
      ...[...rows('interaction_contacts', 5), 'update contacts'],
      ...[...rows('interaction_companies', 4), 'update companies'],
      ...['insert interaction_companies', 'update companies', 'insert timeline_entries'],
      // 40 entries, 25 or 5 per statement.
      ...['select contacts', ...rows('timeline_entries', 4)],
      ...['select interaction_contacts', 'select interaction_companies'],
    ),
  );
  expectTrips(6);
});

test('a link looks at both ends, and is written once', async () => {
  const { id } = await create('/contacts', contact());
  const segment = await create('/segments', { name: 'S', record_type: 'contact' });
  const request = post(`/segments/${segment.id}/members`, { record_id: id });
  const ends = ['select segments', 'select contacts', 'select segment_members'];
  expect(await statementsOf(request, 200)).toEqual(logged(1, ...ends, 'insert segment_members'));
  expectTrips(4);
  expect(await statementsOf(request, 200)).toEqual(written(...ends));
  const removal = { method: 'DELETE', path: `/segments/${segment.id}/members/${id}` };
  expect(await statementsOf(removal, 204)).toEqual(
    logged(1, 'select segments', 'select segment_members', 'select contacts', 'delete segment_members'),
  );
});

test('a batch of 100 asks once for all items, and writes several by one statement', async () => {
  const company = await create('/companies', { name: 'C' });
  const items = many(100, () => ({ ...contact(), company_id: company.id }));
  const rows = (table: string) => Array(isPostgres ? 1 : 4).fill(`insert ${table}`);
  expect(await statementsOf(post('/contacts/batch', items), 200)).toEqual(
    // Fifty records that are created together take one row of the log.
    searched(
      2,
      ...['select companies', 'select contact_emails'],
      ...[...rows('contacts'), ...rows('contact_emails')],
    ),
  );
});

test('the items of a batch are looked up together', async () => {
  const taken = many(5, contact);
  await send(post('/contacts/batch', taken));
  const looked = async (path: string, items: Json[]) => {
    const statements = await statementsOf(post(path, items), 200);
    return statements.filter((name) => name.startsWith('select') && name !== 'select org_clocks');
  };
  expect(await looked('/contacts/batch', taken)).toEqual(['select contact_emails', 'select contacts']);
  const { id, stages } = await create('/pipelines', { name: 'P' });
  const deals = many(5, () => ({ name: 'D', pipeline_id: id }));
  expect(await looked('/deals/batch', deals)).toEqual(['select pipelines', 'select pipeline_stages']);
  const staged = deals.map((deal, index) => ({ ...deal, stage_id: stages[index % 2].id }));
  expect(await looked('/deals/batch', staged)).toEqual(['select pipelines', 'select pipeline_stages']);
  expectTrips(4);
  const owned = deals.map((deal, index) => ({ ...deal, owner_id: index % 2 ? harness.alice : harness.bob }));
  expect(await looked('/deals/batch', owned)).toEqual([
    ...['select pipelines', 'select users', 'select pipeline_stages'],
  ]);
  expectTrips(4);
  const interaction = { type: 'EMAIL', direction: 'INBOUND', title: 'T' };
  const interactions = [...taken, contact()].map(({ email }) => ({
    ...interaction,
    main_contact_email: email,
  }));
  expect(await looked('/interactions/batch', interactions)).toEqual([
    ...['select contact_emails', 'select interaction_contacts', 'select interaction_companies'],
  ]);
  expectTrips(4);
  const told = interactions.map((one) => ({ ...one, primary_id: unique() }));
  const shown = ['select interaction_contacts', 'select interaction_companies'];
  expect(await looked('/interactions/batch', told)).toEqual([
    ...['select contact_emails', 'select interactions', ...shown],
  ]);
  expectTrips(5);
});

// That the read goes on while the count is under way is shown with counts that are late.
test.if(isPostgres)('the exact limit is one way to the server, and so is the key', async () => {
  const { id } = await create('/contacts', contact());
  await statementsOf({ method: 'GET', path: `/contacts/${id}` }, 200);
  const asked = ['select api_key_secrets', 'insert minute_counts', 'select contacts'];
  const trimmed = (texts: readonly string[]) => texts.map((text) => text.trim());
  expect(allNamesOf(trimmed(observed.asked))).toEqual(asked);
  expect(allNamesOf(trimmed(observed.trips))).toEqual(asked);
});

test('items that are refused cost no savepoint', async () => {
  const taken = contact();
  await create('/contacts', taken);
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
    const statements = await statementsOf(post(`/${resource}/batch`, items), 200);
    expect(statements.filter((name) => !/^(?:select|insert|update) /.test(name))).toEqual([
      'begin',
      'commit',
    ]);
  }
});
