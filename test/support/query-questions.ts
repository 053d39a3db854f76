// What queries ask of a database: each order, each index that can lead, and each way to look at links.

import type { RecordTrx } from '../../db/engine/schema.ts';
import type { JsonValue } from '../../db/model/json.ts';
import { type QueryField, queryFields } from '../../db/model/query/fields.ts';
import { conditionsIn, readFilter } from '../../db/model/query/filter.ts';
import { getQuerySort, type QueryPlace, type QuerySort, querySorts } from '../../db/model/query/sorts.ts';
import type { Resource } from '../../db/model/resource.ts';
import { RESOURCES } from '../../db/model/resources/registry.ts';
import { countAll } from '../../db/queries/count-all.ts';
import { Examination } from '../../db/queries/examination.ts';
import { ALL_IDS } from '../../db/queries/id-ranges.ts';
import { findIds, listIds } from '../../db/queries/id-sources.ts';
import { IndexScan, type ScanQuery } from '../../db/queries/index-scan.ts';
import { type Lead, leadsOf } from '../../db/queries/leads.ts';
import { findLinked, linkConditions } from '../../db/queries/linked.ts';
import { hasVisibleLink } from '../../db/queries/visible-links.ts';
import { idOf, instantOf, type Question, sampleOf } from './table-queries.ts';

const DIRECTIONS = ['asc', 'desc'] as const;
const LIMIT = 20;
// No part of an order has more statements.
const STEPS_MAX = 4;
const NO_BOUNDS = { from: null, to: null };

async function goThrough(db: RecordTrx, query: ScanQuery): Promise<void> {
  const scan = new IndexScan(query);
  for (let step = 0; step < STEPS_MAX && !scan.isDone; step++) await scan.next(db, LIMIT);
}

function placesIn({ by, isText }: QuerySort): (QueryPlace | null)[] {
  const value = isText ? (by === 'text' ? sampleOf('name', 1_000) : '2026-06-01') : instantOf(1_000);
  const id = idOf(1_000);
  return by === 'id' ? [null, { value: null, id }] : [null, { value, id }, { value: null, id }];
}

function ordersOf(resource: Resource): Question[] {
  return querySorts(resource).map((name) => {
    const sort = getQuerySort(resource, name);
    const forms = placesIn(sort).flatMap((after) =>
      DIRECTIONS.map(
        (direction) => (db: RecordTrx, org: number) =>
          goThrough(db, {
            ...{ resource, org, sort, direction, columns: [], ids: ALL_IDS },
            bounds: NO_BOUNDS,
            lead: null,
            after,
          }),
      ),
    );
    return {
      title: `a query of ${resource.name} by ${name}`,
      forms,
      isOfAll: true,
      maySort: false,
      maySift: false,
    };
  });
}

const SAMPLES: Readonly<Record<string, JsonValue>> = {
  boolean: true,
  number: 1,
  instant: instantOf(1),
  date: '2026-01-01',
};

function sampleValue({ name, family, field }: QueryField): JsonValue {
  const { enum: values } = (field?.schema ?? {}) as { enum?: string[] };
  return values?.[0] ?? SAMPLES[family] ?? sampleOf(name);
}

function filterOf(resource: Resource, field: QueryField) {
  const operator = ['texts', 'ids', 'link'].includes(field.family) ? 'has' : 'eq';
  const { filter, faults } = readFilter(resource, { [field.name]: { [operator]: sampleValue(field) } }, 0);
  if (faults.length > 0) throw new Error(JSON.stringify(faults));
  return filter;
}

function leadQuestions(resource: Resource): Question[] {
  return [...queryFields(resource)].flatMap((field) =>
    leadsOf(resource, filterOf(resource, field), null).flatMap((lead) => leadQuestion(resource, field, lead)),
  );
}

function leadQuestion(resource: Resource, { name }: QueryField, { sources, column }: Lead): Question[] {
  if (sources.length === 0) return [];
  const isRange = sources.some(({ given }) => typeof given === 'object');
  const found = sources.map((source) => (db: RecordTrx, org: number) => findIds(db, org, source, LIMIT));
  const listed = DIRECTIONS.flatMap((direction) => {
    const ordered = sources.filter(({ isOrdered }) => isOrdered);
    const page = { range: ALL_IDS, direction, limit: LIMIT };
    return ordered.length === 0 ? [] : [(db: RecordTrx, org: number) => listIds(db, org, ordered, page)];
  });
  const led = DIRECTIONS.flatMap((direction) =>
    ['created_at', 'updated_at'].map(
      (sort) => (db: RecordTrx, org: number) =>
        goThrough(db, {
          ...{
            resource,
            org,
            direction,
            columns: [],
            ids: ALL_IDS,
            bounds: NO_BOUNDS,
            lead: column,
            after: null,
          },
          sort: getQuerySort(resource, sort),
        }),
    ),
  );
  return [
    {
      title: `a query of ${resource.name} that ${name} leads${isRange ? ' by range' : ''}`,
      forms: [...found, ...listed, ...(column === null ? [] : led)],
      ...{ isOfAll: false, maySort: false, maySift: false },
    },
  ];
}

function linkQuestions(resource: Resource): Question[] {
  return [...queryFields(resource)].flatMap((field): Question[] => {
    const { relation, name } = field;
    if (relation === null) return [];
    const read = (operator: string, value: JsonValue) =>
      linkConditions(
        resource,
        conditionsIn(readFilter(resource, { [name]: { [operator]: value } }, 0).filter),
      );
    const forms = [read('any_of', [sampleOf('a'), sampleOf('b')]), read('is_null', true)].flatMap(
      (conditions) =>
        [null, sampleOf('owner_id')].map(
          (userId) => (db: RecordTrx, org: number) =>
            findLinked(db, { org, userId }, conditions, [idOf(1), idOf(2)], new Examination(1_000)),
        ),
    );
    const owner = relation.target.owner ?? '';
    const all = relation.ways.map((way) => (db: RecordTrx, org: number) => {
      const links = {
        org,
        way,
        owned: { table: relation.name, owner },
        userId: sampleOf(owner),
        own: idOf(1),
      };
      return hasVisibleLink(db, links, new Examination(1_000));
    });
    const title = `which ${resource.name} have ${name}`;
    return [{ title, forms: [...forms, ...all], isOfAll: false, maySort: false, maySift: true }];
  });
}

function countQuestion(resource: Resource): Question {
  const forms = [null, sampleOf(resource.owner ?? '')].map(
    (ownerId) => (db: RecordTrx, org: number) => countAll(db, resource, { org, ownerId, limit: LIMIT }),
  );
  return { title: `a count of all ${resource.name}`, forms, isOfAll: true, maySort: false, maySift: false };
}

/** The questions of queries. */
export const QUERY_QUESTIONS: readonly Question[] = RESOURCES.flatMap((resource) => [
  countQuestion(resource),
  ...ordersOf(resource),
  ...leadQuestions(resource),
  ...linkQuestions(resource),
]);
