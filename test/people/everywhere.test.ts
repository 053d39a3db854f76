// A person's address in random company, in every kind of place that takes text: all of it is found and goes, and nothing else.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { sql } from 'kysely';
import { issueKey } from '../../db/accounts/keys.ts';
import { listTables } from '../../db/maintenance.ts';
import { erasePerson } from '../../db/people/erase.ts';
import { findRemainingTexts } from '../../db/people/erasure-check.ts';
import { exportPerson, type PersonDocument } from '../../db/people/export.ts';
import { findPerson } from '../../db/people/person.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { insertReadOnly, insertTranscribed } from '../support/read-only.ts';
import { type Client, clientOf } from '../support/v2.ts';

const EMAIL = 'ada.l@hidden.example';
const FORMS = [
  ...[EMAIL, EMAIL.toUpperCase(), encodeURIComponent(`<${EMAIL}>`)],
  ...['%40', '=40', '\\u0040', '\\x40'].map((at) => EMAIL.replace('@', at)),
];
// What belongs to others, and ends or begins alike.
const OTHERS = ['bada.l@hidden.example', 'x.ada.l@hidden.example', 'ada.l@hidden.example.org'];
const SEED = Number(process.env.CRM_TEST_SEED ?? 16_007);
const TEXTS = 120;

const text = fc.string({ unit: 'grapheme', maxLength: 12 });
const edge = fc.constantFrom(
  ...[
    '',
    ' ',
    '\n',
    '\t',
    '\r\n',
    '-',
    '_',
    '<',
    '=',
    ',',
    '"',
    "'",
    '\\',
    '\\n',
    '%3C',
    '%2C',
    '%3D',
    '%0A',
    '=3D',
    '=0A',
    '\\x3c',
    '%5Cn',
    '%u003c',
  ],
);
const company = fc
  .record({ head: text, before: edge, form: fc.constantFrom(...FORMS), after: edge, tail: text })
  // What random text does to make it another address is the table of neighbours' to tell.
  .map(({ head, before, form, after, tail }) => {
    const left = before === '' ? `${head} ` : head + before;
    return left + form + (after === '' ? ` ${tail}` : after + tail);
  });
const texts = fc.sample(company, { numRuns: TEXTS, seed: SEED });

let here: Harness;
let api: Client;
let ada = '';
const made: { resource: string; id: string }[] = [];
let document: PersonDocument;
let before: string;
let columns: Set<string>;

/** Every text of the organization, in all tables. */
async function everything(): Promise<string> {
  const tables = (await listTables()).filter(({ columns }) => columns.includes('org_id'));
  const rows = await Promise.all(
    tables.map(({ name }) =>
      sql`select * from ${sql.table(name)} where org_id = ${here.orgNumber}`.execute(here.store.read),
    ),
  );
  return JSON.stringify(rows.map((one) => one.rows));
}

async function make(resource: string, body: Json): Promise<void> {
  made.push({ resource, id: (await api.create(resource, body)).id });
}

async function fill(): Promise<void> {
  ada = (await api.create('contacts', { email: EMAIL, first_name: 'Ada' })).id;
  const bob = (await api.create('contacts', { first_name: 'Bob' })).id;
  const kinds: ((text: string) => Promise<void>)[] = [
    (said) => make('notes', { title: 'N', content: said }),
    (said) => make('contacts', { first_name: 'B', remarks: said }),
    async (said) => {
      await make('tasks', { name: 'External' });
      const body = { source: 'other', id: said };
      const { status } = await api.post(`/tasks/${made.at(-1)?.id}/external_ids`, body);
      expect(status).toBe(200);
    },
    (said) => make('companies', { name: 'C', custom: { [said.slice(0, 99)]: 1, b: said } }),
    (said) => make('deals', { name: 'D', custom: { via: said } }),
    (said) => make('tasks', { name: 'T', description: said }),
    (said) => make('segments', { name: 'S', description: said }),
    (said) =>
      make('interactions', {
        type: 'EMAIL',
        direction: 'INBOUND',
        title: 'I',
        summary: said,
        main_contact: bob,
      }),
    async (said) => {
      const stages = [{ name: said.trim() }, { name: 'Next' }];
      const pipeline = await api.create('pipelines', { name: 'P', stages });
      const { id } = await api.create('deals', { name: 'D', pipeline_id: pipeline.id });
      await api.update('deals', id, { stage_id: pipeline.stages[1].id });
    },
    async (said) => {
      const attendees = [{ name: said, email: 'bob@x.example', contact_id: null }];
      const id = await insertReadOnly(here, 'meetings', { external_id: said, description: said, attendees });
      made.push({ resource: 'meetings', id });
    },
    async (said) => {
      const recording = await insertTranscribed(here, { external_id: `r${said}`, title: 'R' });
      const segment = { speaker: { name: 'Bob', email: null }, start_time: 0, end_time: 1, speech: said };
      await here.store.write(here.orgNumber, (trx) =>
        trx
          .updateTable('recording_transcripts')
          .set({ segments: JSON.stringify([segment]) })
          .where('recording_id', '=', recording)
          .execute(),
      );
      made.push({ resource: 'recordings', id: recording });
    },
    async (said) => {
      const key = `key-${Bun.hash(said)}`;
      const headers = { 'Idempotency-Key': key };
      // Long enough for the answer to be compressed.
      const body = { title: 'K', content: `${said} ${'and so on '.repeat(400)}` };
      expect((await here.send('POST', '/api/v2/notes', { body, headers })).status).toBe(201);
    },
    async (said) => {
      const options = {
        orgNumber: here.orgNumber,
        api: 'v2',
        name: said,
        scopes: [],
        access: 'organization',
      } as const;
      await here.store.write('accounts', (trx) =>
        issueKey(trx, { ...options, userId: null, expiresAt: null, now: here.clock.now }),
      );
    },
    async (said) => {
      const url = 'https://hooks.example.com/';
      const body = { url, events: ['deals.*'], description: said, is_enabled: false };
      await api.create('webhooks', body);
    },
  ];
  for (const [index, said] of texts.entries()) await kinds[index % kinds.length]?.(said);
  // JSON, as in a stored response, has another backslash in each.
  for (const form of FORMS) {
    const headers = { 'Idempotency-Key': `key-${Bun.hash(form)}` };
    const body = { first_name: 'K', remarks: form, custom: { via: form, [form]: 1 } };
    expect((await here.send('POST', '/api/v2/contacts', { body, headers })).status).toBe(201);
  }
  // What somebody has as the key of a request, and what is somebody else's.
  const headers = { 'Idempotency-Key': `for:${EMAIL}` };
  await here.send('POST', '/api/v2/notes', { body: { title: 'Keyed' }, headers });
  for (const other of OTHERS) await api.create('notes', { title: 'Others', content: `Of ${other}.` });
  await api.create('contacts', {
    email: 'mary-ada.l@hidden.example',
    alt_emails: ['x_ada.l@hidden.example'],
  });
  for (const [index, id] of OTHERS.entries())
    await api.post(`/contacts/${bob}/external_ids`, { source: `s${index}`, id });
}

beforeAll(async () => {
  here = await startHarness();
  api = clientOf(here);
  await fill();
  before = await everything();
  const person = await findPerson(here.store.read, here.orgNumber, EMAIL);
  const found = await findRemainingTexts(here.store.read, person.addresses, { orgNumber: here.orgNumber });
  columns = new Set(found.map(({ table, column }) => `${table}.${column}`));
  document = await exportPerson(here.store.read, person, () => {});
  await erasePerson(here.store, person, { isDryRun: false, onProgress: () => {}, finish: async () => {} });
}, 300_000);
afterAll(() => here.close());

const isLeft = (said: string): string[] =>
  OTHERS.concat('mary-ada.l@hidden.example', 'x_ada.l@hidden.example')
    .reduce(
      (rest, other) => rest.replaceAll(other, ''),
      said.toLowerCase().replaceAll(/%40|=40|\\+(?:u00|x)40/g, '@'),
    )
    .match(/.{0,20}ada\.l@hidden\.example.{0,10}/g) ?? [];

describe(`in ${TEXTS} texts (seed ${SEED})`, () => {
  test('a document has every record, and says in which field', () => {
    for (const { resource, id } of made) {
      if (resource !== 'recordings')
        expect(document.mentioned_in).toContainEqual(expect.objectContaining({ resource, id }));
      const known = resource === 'recordings' ? document.transcripts.map((one) => one.recording_id) : [];
      const records = document.records[resource]?.map((one) => String(one.id)) ?? [];
      expect([...records, ...known]).toContain(id);
    }
  });

  test('erasing leaves none in any row, nor what an answer would replay', async () => {
    expect(isLeft(before).length).toBeGreaterThan(TEXTS);
    for (const one of [
      'idempotency_keys.packed',
      'idempotency_keys.key',
      'external_ids.external_id',
      'pipeline_stages.name',
      'timeline_entries.detail',
      'api_keys.name',
    ])
      expect(columns).toContain(one);
    expect(isLeft(await everything())).toEqual([]);
    const person = await findPerson(here.store.read, here.orgNumber, EMAIL);
    expect(
      await findRemainingTexts(here.store.read, person.addresses, { orgNumber: here.orgNumber }),
    ).toEqual([]);
    const answers = here.store.read.selectFrom('idempotency_keys').where('org_id', '=', here.orgNumber);
    expect(await answers.select('key').execute()).toEqual([]);
  });

  test('and every address of others', async () => {
    const after = await everything();
    for (const other of [...OTHERS, 'mary-ada.l@hidden.example', 'x_ada.l@hidden.example'])
      expect(after).toContain(other);
    expect(after).not.toContain(ada);
  });
});
