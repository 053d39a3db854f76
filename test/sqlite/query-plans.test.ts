// How SQLite finds what it is asked for: every search goes by an index that narrows it down further than to the organization.
import { Database } from 'bun:sqlite';
import { afterAll, beforeAll, expect } from 'bun:test';
import { actingAs } from '../../db/engine/acting.ts';
import { OPERATOR } from '../../db/engine/author.ts';
import { linkTable, type Trx } from '../../db/engine/schema.ts';
import { getLinkKind } from '../../db/model/resources/link-kinds.ts';
import { RESOURCES } from '../../db/model/resources/registry.ts';
import { listLinksOfKind } from '../../db/tables/link-lists.ts';
import { isPostgres } from '../support/fresh-databases.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { test } from '../support/on-sqlite.ts';
import { QUERY_QUESTIONS } from '../support/query-questions.ts';
import { ObservedConnection } from '../support/statement-log.ts';
import { pagesOf, QUESTIONS, type Question } from '../support/table-queries.ts';
import { clientOf } from '../support/v2.ts';

const ASKED = [...QUESTIONS, ...QUERY_QUESTIONS];

let harness: Harness;
let raw: Database;
let connection: ObservedConnection;
let db: Trx;

beforeAll(async () => {
  if (isPostgres) return;
  harness = await startHarness();
  raw = new Database(harness.dbPath);
  connection = new ObservedConnection(harness.dbPath, { readwrite: true, create: false });
  db = connection.db;
});
afterAll(async () => {
  raw?.close();
  connection?.close();
  await harness?.close();
});

interface Step {
  detail: string;
}

/** The steps of the plans of what was asked. */
async function stepsOf(forms: Question['forms'], orgNumber: number): Promise<string[]> {
  connection.asked.length = 0;
  for (const ask of forms) await ask(actingAs(db, OPERATOR), orgNumber);
  expect(connection.asked).not.toEqual([]);
  return [...new Set(connection.asked)].flatMap((text) => {
    const values = Array(text.split('?').length - 1).fill(null);
    const steps = raw.query<Step, null[]>(`EXPLAIN QUERY PLAN ${text}`).all(...values);
    return steps.map(({ detail }) => `${detail}: ${text}`);
  });
}

/** Whether a step goes through a whole table (not a list that was given, or a part already narrowed down), or all of it that is the organization's. */
const isWide = (step: string): boolean =>
  /^(?:SCAN (?!CONSTANT|json_each|few\b|near\b|newest\b|pair\b|steps\b|spans\b|\(subquery)|SEARCH [^:]*\(org_id=\?(?: AND (?:resource|source)=\?)*\):)/.test(
    step,
  );
const isSort = (step: string): boolean => /^USE TEMP B-TREE FOR .*ORDER BY/.test(step);

for (const { title, forms, isOfAll, readsAll = false, maySort } of ASKED) {
  test(title, async () => {
    const steps = await stepsOf(forms, 1);
    const mayBeWide = isOfAll || readsAll;
    expect(steps.filter((step) => (!mayBeWide && isWide(step)) || (!maySort && isSort(step)))).toEqual([]);
  });
}

test('a plan depends on the value of no parameter: otherwise each other value would need another plan', async () => {
  connection.asked.length = 0;
  for (const { forms } of ASKED) for (const ask of forms) await ask(actingAs(db, OPERATOR), 1);
  expect(connection.asked.length).toBeGreaterThan(500);
  expect(connection.asked.filter((text) => /(?<!\+)\?/.test(text))).toEqual([]);
});

test('links of parents with many of them are read in order, not sorted', async () => {
  const { key } = await harness.issue({ userId: harness.alice });
  const segment = await clientOf(harness, key).create('segments');
  const made = { org_id: harness.orgNumber, segment_id: segment.id, created_at: 0 };
  const members = Array.from({ length: 5_001 }, (_, count) => ({ ...made, record_id: `c${count}` }));
  await harness.store.write(harness.orgNumber, (trx) =>
    trx.insertInto(linkTable('segment_members')).values(members).execute(),
  );
  const page = { orgNumber: harness.orgNumber, parentIds: null, after: null, limit: 20 };
  const kind = getLinkKind('segments.members');
  for (const limits of [
    { ownerId: harness.alice, parentTypes: null },
    { ownerId: null, parentTypes: ['contact'] },
    { ownerId: harness.alice, parentTypes: ['contact'] },
  ]) {
    const steps = await stepsOf(
      [(db) => listLinksOfKind(db, kind, { ...page, ...limits })],
      harness.orgNumber,
    );
    expect(steps.filter((step) => isSort(step) || isWide(step))).toEqual([]);
    expect(steps.filter((step) => step.includes('segment_members_created_at'))).not.toEqual([]);
  }
});

test('the members of a large segment are not sorted, nor gone through for those of a user', async () => {
  const segment = await clientOf(harness).create('segments');
  const made = { org_id: harness.orgNumber, segment_id: segment.id, created_at: 0 };
  const members = Array.from({ length: 1_001 }, (_, count) => ({ ...made, record_id: `c${count}` }));
  await harness.store.write(harness.orgNumber, (trx) =>
    trx.insertInto(linkTable('segment_members')).values(members).execute(),
  );
  const filters = { segment_id: segment.id };
  for (const resource of RESOURCES.filter((one) => 'segment_id' in one.filters)) {
    const pages = pagesOf(resource, { filters, sortBy: 'updated_at' });
    expect((await stepsOf(pages, harness.orgNumber)).filter(isSort)).toEqual([]);
    for (const sortBy of resource.sorts) {
      const steps = await stepsOf(pagesOf(resource, { filters, sortBy, ownerId: 'u' }), harness.orgNumber);
      expect(steps.filter((step) => isSort(step) || isWide(step))).toEqual([]);
      expect(steps.filter((step) => step.includes('owner_id=?'))).not.toEqual([]);
    }
  }
});
