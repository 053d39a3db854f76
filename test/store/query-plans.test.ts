// How the database finds what it is asked for: every search goes by an index that narrows it down further than to the organization.
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { RESOURCES } from '../../db/resources/index.ts';
import type { Db } from '../../db/schema.ts';
import { findByExternalIds } from '../../db/tables/external-ids.ts';
import { findDuplicate, listInvolved } from '../../db/tables/interactions.ts';
import { deleteLink, findLink, listLinks } from '../../db/tables/links.ts';
import { listStages } from '../../db/tables/pipelines.ts';
import { listRecords } from '../../db/tables/query.ts';
import { listRecordingsOf } from '../../db/tables/recordings.ts';
import { deleteRecord, findRecords } from '../../db/tables/records.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { ObservedConnection } from '../support/observed.ts';

let harness: Harness;
let raw: Database;
let connection: ObservedConnection;
let db: Db;

beforeAll(async () => {
  harness = await startHarness();
  raw = new Database(harness.dbPath);
  connection = new ObservedConnection(harness.dbPath, { readwrite: true, create: false });
  db = connection.db;
});
afterAll(async () => {
  raw.close();
  connection.close();
  await harness.close();
});

interface Step {
  detail: string;
}

/** The steps of what was asked that go through a whole table (not the list given), or all of it that is the organization's. */
async function wideSteps(ask: () => Promise<unknown>): Promise<string[]> {
  connection.asked.length = 0;
  await ask();
  expect(connection.asked).not.toEqual([]);
  return [...new Set(connection.asked)].flatMap((text) => {
    const values = Array(text.split('?').length - 1).fill(null);
    const steps = raw.query<Step, null[]>(`EXPLAIN QUERY PLAN ${text}`).all(...values);
    const wide = steps.filter(({ detail }) => /^SCAN (?!CONSTANT|json_each)|\(org_id=\?\)$/.test(detail));
    return wide.map(({ detail }) => `${detail}: ${text}`);
  });
}

const list = { orgId: 1, ownerId: null, createdSince: null, updatedSince: null, after: null, limit: 20 };

for (const resource of RESOURCES) {
  // Members of a segment are many: their records are gone through in the order of the list.
  const filters = Object.keys(resource.filters).filter((name) => name !== 'segment_id');
  for (const filter of filters) {
    for (const sortBy of resource.sorts) {
      test(`a list of ${resource.name} by ${filter}, in the order of ${sortBy}`, async () => {
        const query = { ...list, filters: { [filter]: 'x' }, sortBy, direction: 'desc' as const };
        expect(await wideSteps(() => listRecords(db, resource, query))).toEqual([]);
        const ofUser = { ...query, filters: {}, ownerId: 'u' };
        if (resource.owner !== null)
          expect(await wideSteps(() => listRecords(db, resource, ofUser))).toEqual([]);
      });
    }
  }

  test(`a delete from ${resource.name}`, async () => {
    expect(await wideSteps(() => deleteRecord(db, resource, { orgId: 1, id: 'x' }, 0))).toEqual([]);
  });
}

test('whether an interaction is a duplicate', async () => {
  const candidate = {
    orgId: 1,
    createdBy: 'k',
    instant: () => 0,
    type: 'EMAIL',
    direction: 'INBOUND',
    title: 'T',
    summary: null,
    interactionDate: 0,
    isDated: true,
    mainContact: 'c',
    secondaryId: null,
    visibleTo: null,
  };
  for (const primaryId of ['p', null])
    expect(await wideSteps(() => findDuplicate(db, { ...candidate, primaryId }))).toEqual([]);
});

test('what is asked for a list of ids', async () => {
  for (const resource of RESOURCES)
    expect(await wideSteps(() => findRecords(db, resource, 1, ['a', 'b']))).toEqual([]);
  expect(await wideSteps(() => listStages(db, 1, ['a', 'b']))).toEqual([]);
  expect(await wideSteps(() => listRecordingsOf(db, 1, ['a', 'b']))).toEqual([]);
  for (const resource of RESOURCES.filter(({ fields }) => 'external_id' in fields))
    expect(await wideSteps(() => findByExternalIds(db, resource, 1, ['a', 'b']))).toEqual([]);
});

test('the links of a record', async () => {
  const parent = { orgId: 1, id: 'p' };
  const page = { after: null, limit: 20 };
  for (const link of RESOURCES.flatMap(({ links }) => Object.values(links))) {
    for (const ownerId of [null, 'u'])
      expect(await wideSteps(() => listLinks(db, link, parent, { ...page, ownerId }))).toEqual([]);
    expect(await wideSteps(() => findLink(db, link, parent, 'c'))).toEqual([]);
    expect(await wideSteps(() => deleteLink(db, link, parent, 'c'))).toEqual([]);
  }
});

test('who is involved in interactions', async () => {
  expect(await wideSteps(() => listInvolved(db, 1, ['a', 'b']))).toEqual([]);
});
