// How the database finds what it is asked for: every search goes by an index that narrows it down further than to the organization.
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Resource } from '../../db/declare/resource.ts';
import { RESOURCES } from '../../db/resources/index.ts';
import { type Db, linkTable } from '../../db/schema.ts';
import { deleteRecord } from '../../db/tables/deletion.ts';
import { findByExternalIds } from '../../db/tables/external-ids.ts';
import { findDuplicate, listInvolved } from '../../db/tables/interactions.ts';
import { deleteLink, findLink, listLinks } from '../../db/tables/links.ts';
import { listStages } from '../../db/tables/pipelines.ts';
import { type ListQuery, listRecords } from '../../db/tables/query.ts';
import { listRecordingsOf } from '../../db/tables/recordings.ts';
import { findRecords } from '../../db/tables/records.ts';
import { findOwners } from '../../db/tables/unique.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { ObservedConnection } from '../support/observed.ts';
import { clientOf } from '../support/v2.ts';

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

/** The steps of the plans of what was asked. */
async function stepsOf(ask: () => Promise<unknown>): Promise<string[]> {
  connection.asked.length = 0;
  await ask();
  expect(connection.asked).not.toEqual([]);
  return [...new Set(connection.asked)].flatMap((text) => {
    const values = Array(text.split('?').length - 1).fill(null);
    const steps = raw.query<Step, null[]>(`EXPLAIN QUERY PLAN ${text}`).all(...values);
    return steps.map(({ detail }) => `${detail}: ${text}`);
  });
}

const isWide = (step: string): boolean =>
  /^(?:SCAN (?!CONSTANT|json_each)|SEARCH [^:]*\(org_id=\?\):)/.test(step);
const isSort = (step: string): boolean => /^USE TEMP B-TREE FOR .*ORDER BY/.test(step);

/** The steps of what was asked that go through a whole table (not the list given), or all of it that is the organization's. */
async function wideSteps(ask: () => Promise<unknown>): Promise<string[]> {
  return (await stepsOf(ask)).filter(isWide);
}

// Filters by updated_at whose value has few records, so that those that are found can be sorted.
const FEW: Record<string, string[]> = {
  companies: ['domain', 'name', 'segment_id'],
  contacts: ['email', 'phone', 'segment_id'],
  deals: ['company_id', 'contact_id'],
  tasks: ['deal_id', 'person_id'],
  notes: ['parent_id', 'record_id'],
  interactions: ['contact_id', 'company_id'],
  meetings: ['deal_id'],
  recordings: ['meeting_id'],
  bookings: ['attendee_email'],
};
// In whatever order, what is found by range has to be sorted.
const RANGE = /_(?:before|after)$/;

const list = { orgId: 1, ownerId: null, createdSince: null, updatedSince: null, after: null, limit: 20 };
const after = { value: 0, id: 'x' };
const since = { createdSince: 0, updatedSince: 0 };

/** The steps of each page of a list, in either direction. */
async function pagesOf(resource: Resource, query: Partial<ListQuery> & Pick<ListQuery, 'sortBy'>) {
  const steps: string[] = [];
  for (const page of [{}, { after }, since, { ...since, after }]) {
    for (const direction of ['asc', 'desc'] as const) {
      const asked = { ...list, filters: {}, ...page, ...query, direction };
      steps.push(...(await stepsOf(() => listRecords(db, resource, asked))));
    }
  }
  return steps;
}

for (const resource of RESOURCES) {
  for (const sortBy of resource.sorts) {
    test(`a list of ${resource.name} in the order of ${sortBy} is read off an index`, async () => {
      expect((await pagesOf(resource, { sortBy })).filter(isSort)).toEqual([]);
      if (resource.owner === null) return;
      const ofUser = await pagesOf(resource, { sortBy, ownerId: 'u' });
      expect(ofUser.filter((step) => isSort(step) || isWide(step))).toEqual([]);
    });

    for (const filter of Object.keys(resource.filters)) {
      test(`a list of ${resource.name} by ${filter}, in the order of ${sortBy}`, async () => {
        const filters = { [filter]: 'x' };
        const steps = await pagesOf(resource, { filters, sortBy });
        expect(steps.filter(isWide)).toEqual([]);
        const isFew = sortBy === 'updated_at' && FEW[resource.name]?.includes(filter);
        if (!isFew && !RANGE.test(filter)) expect(steps.filter(isSort)).toEqual([]);
        if (resource.owner === null) return;
        const ofUser = await pagesOf(resource, { filters, sortBy, ownerId: 'u' });
        expect(ofUser.filter(isWide)).toEqual([]);
      });
    }
  }

  test(`a delete from ${resource.name}`, async () => {
    expect(await wideSteps(() => deleteRecord(db, resource, { orgId: 1, id: 'x' }, 0))).toEqual([]);
  });
}

test('the members of a large segment are not sorted, nor gone through for those of a user', async () => {
  const segment = await clientOf(harness).create('segments');
  const made = { org_id: harness.orgId, segment_id: segment.id, created_at: 0 };
  const members = Array.from({ length: 1_001 }, (_, count) => ({ ...made, record_id: `c${count}` }));
  await harness.store.write(harness.orgId, (trx) =>
    trx.insertInto(linkTable('segment_members')).values(members).execute(),
  );
  const query = { orgId: harness.orgId, filters: { segment_id: segment.id } };
  for (const resource of RESOURCES.filter((one) => 'segment_id' in one.filters)) {
    expect((await pagesOf(resource, { ...query, sortBy: 'updated_at' })).filter(isSort)).toEqual([]);
    for (const sortBy of resource.sorts) {
      const steps = await pagesOf(resource, { ...query, sortBy, ownerId: 'u' });
      expect(steps.filter((step) => isSort(step) || isWide(step))).toEqual([]);
      expect(steps.filter((step) => step.includes('owner_id=?'))).not.toEqual([]);
    }
  }
});

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

test('whose unique values are', async () => {
  for (const resource of RESOURCES) {
    for (const filter of Object.keys(resource.unique)) {
      const values = ['a', 'b'].map((key) => ({ filter, key, value: key, path: filter }));
      for (const some of [values, values.slice(1)])
        expect(await wideSteps(() => findOwners(db, resource, 1, [{ unique: some }]))).toEqual([]);
    }
  }
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
    for (const ownerId of [null, 'u']) {
      const steps = await stepsOf(() => listLinks(db, link, parent, { ...page, ownerId }));
      expect(steps.filter((step) => isWide(step) || isSort(step))).toEqual([]);
    }
    expect(await wideSteps(() => findLink(db, link, parent, 'c'))).toEqual([]);
    expect(await wideSteps(() => deleteLink(db, link, parent, 'c'))).toEqual([]);
  }
});

test('who is involved in interactions', async () => {
  expect(await wideSteps(() => listInvolved(db, 1, ['a', 'b']))).toEqual([]);
});
