// What fast-check draws: requests in which ids are still picks, to be resolved among the records there are by then.
import fc from 'fast-check';
import type { Json } from '../support/harness.ts';
import { ABSENT, among, bodyOf, drawn, newBodyOf, PICKS_MAX, type Pick, pickOf, present } from './bodies.ts';
import { KINDS } from './bulk-links.ts';
import { FIELDS } from './fields.ts';
import { COLLECTIONS } from './links.ts';
import { FILTERS } from './lists.ts';
import { MATCHED_BY } from './upserts.ts';
import { type Data, RESOURCES } from './world.ts';

interface By {
  /** Index of the actor. */
  actor: number;
  /** Milliseconds that pass before. */
  wait: number;
}

export type Request = By &
  (
    | { do: 'create'; resource: string; body: Data }
    | { do: 'upsert'; resource: string; body: Data }
    | { do: 'batch'; verb: BatchVerb; resource: string; items: BatchItem[] }
    | { do: 'attach'; resource: string; id: Pick; externalIds: Data[] }
    | { do: 'detach'; resource: string; id: Pick; source: string }
    | { do: 'attached'; resource: string; id: Pick; limit: number }
    | { do: 'update'; resource: string; id: Pick; body: Data }
    | { do: 'delete' | 'undelete' | 'get'; resource: string; id: Pick }
    | { do: 'history'; resource: string; id: Pick; isOfDeleted: boolean; limit: number }
    | {
        do: 'list';
        resource: string;
        filters: Data;
        since: Data;
        sortBy: string;
        direction: string;
        limit: number;
      }
    | { do: 'link'; collection: number; parent: Pick; child: Pick; body: Data }
    | { do: 'unlink'; collection: number; parent: Pick; link: number }
    | { do: 'linked'; collection: number; parent: Pick; link: number; limit: number }
    | { do: 'links'; verb: 'link' | 'unlink'; items: LinkItem[] }
    | { do: 'kind'; kind: number; parents: Pick[] | null; limit: number }
    | { do: 'associate'; name: string; meeting: Pick; child: Pick | null }
    | { do: 'association'; name: string; meeting: Pick }
  );

/** What a batch does with its items. */
export type BatchVerb = 'create' | 'update' | 'upsert' | 'delete' | 'get';

/** What is sent of a record, each part as far as the verb takes it. */
export interface BatchItem {
  id: Pick;
  body: Data;
}

/** An item that links or unlinks, of one of the kinds. */
export interface LinkItem {
  kind: number;
  parent: Pick;
  child: Pick;
  own: Data;
  /** Stands for one of the links that there are. */
  link: number;
}

const ITEMS_MAX = 4;

const by = { actor: fc.constantFrom(0, 0, 1, 1, 2), wait: fc.constantFrom(0, 0, 1, 2, -5) };

const CREATABLE = Object.keys(FIELDS);

function filtersOf(resource: string): fc.Arbitrary<Data> {
  const filters = Object.entries(FILTERS[resource] ?? {}).map(
    ([name, { values, refersTo = [] }]): [string, fc.Arbitrary<Json>] => {
      const value = values === undefined ? fc.oneof(...refersTo.map(pickOf)) : among(...values);
      return [name, fc.oneof({ weight: 5, arbitrary: fc.constant(ABSENT) }, { weight: 1, arbitrary: value })];
    },
  );
  return fc.record(Object.fromEntries(filters)).map(present);
}

function listOf(resource: string): fc.Arbitrary<Request> {
  const sorts = resource === 'pipelines' ? ['created_at'] : ['created_at', 'updated_at'];
  const since = fc.oneof(
    { weight: 6, arbitrary: fc.constant(ABSENT) },
    { weight: 1, arbitrary: pickOf(resource) },
  );
  return fc.record({
    ...by,
    do: fc.constant('list' as const),
    resource: fc.constant(resource),
    filters: filtersOf(resource),
    since: fc
      .record(Object.fromEntries(sorts.map((name) => [name.replace('_at', '_since'), since])))
      .map(present),
    sortBy: fc.constantFrom(...sorts),
    direction: fc.constantFrom('asc', 'desc'),
    limit: fc.constantFrom(200, 20, 5, 3),
  });
}

function requestsOf(resource: string): fc.WeightedArbitrary<Request>[] {
  const isShared = resource === 'pipelines';
  const actor = isShared ? fc.constantFrom(0, 0, 0, 0, 1) : by.actor;
  const common = { ...by, actor, resource: fc.constant(resource) };
  const id = pickOf(resource);
  const isChangeable = CREATABLE.includes(resource) && resource !== 'interactions';
  const batchOf = (verb: BatchVerb, body: fc.Arbitrary<Data> = fc.constant({})) =>
    fc.record({
      ...common,
      do: fc.constant('batch' as const),
      verb: fc.constant(verb),
      items: fc.array(fc.record({ id, body }), { maxLength: ITEMS_MAX }),
    });
  const kinds: [weight: number, arbitrary: fc.Arbitrary<Request>][] = [
    [1, batchOf('get')],
    [3, listOf(resource)],
    [1, fc.record({ ...common, do: fc.constant('get' as const), id })],
    [
      0.5,
      fc.record({
        ...{ ...common, do: fc.constant('history' as const), id, isOfDeleted: fc.boolean() },
        limit: fc.constantFrom(200, 3, 1),
      }),
    ],
  ];
  if (CREATABLE.includes(resource)) {
    const body = newBodyOf(resource);
    kinds.push([isShared ? 2 : 10, fc.record({ ...common, do: fc.constant('create' as const), body })]);
    kinds.push([1, batchOf('create', body)]);
  }
  if (isChangeable) {
    const body = bodyOf(resource, false);
    kinds.push([5, fc.record({ ...common, do: fc.constant('update' as const), id, body })]);
    kinds.push([2, fc.record({ ...common, do: fc.constant('delete' as const), id })]);
    kinds.push([1.5, fc.record({ ...common, do: fc.constant('undelete' as const), id })]);
    kinds.push([2, batchOf('update', body)]);
    kinds.push([0.25, batchOf('delete')]);
    kinds.push(...externalIdRequests({ ...common, id }));
    const upserted = upsertBodyOf(resource);
    kinds.push([5, fc.record({ ...common, do: fc.constant('upsert' as const), body: upserted })]);
    kinds.push([3, batchOf('upsert', upserted)]);
  }
  return kinds.map(([weight, arbitrary]) => ({ weight, arbitrary }));
}

const SOURCES = ['crm', 'erp'];
const IDS = ['1', 'a:b'];
// More of them than a record can have.
const MANY = Array.from({ length: 21 }, (_, index) => ({ source: `s${index}`, id: '1' }));

const externalId: fc.Arbitrary<Data> = fc.oneof(
  { weight: 40, arbitrary: fc.record({ source: among(...SOURCES), id: among(...IDS) }) },
  {
    weight: 1,
    arbitrary: fc.record({ source: drawn(among('CRM', 5)), id: drawn(among('', 5)) }, { requiredKeys: [] }),
  },
);

// Bodies that mostly say what to find a record by.
function upsertBodyOf(resource: string): fc.Arbitrary<Data> {
  const names = MATCHED_BY[resource] ?? [];
  const seldom = (value: fc.Arbitrary<Json>, weight = 4) =>
    fc.oneof({ weight, arbitrary: fc.constant<Json>(ABSENT) }, { weight: 1, arbitrary: value });
  const named: fc.Arbitrary<string[]> = fc.shuffledSubarray(names, { minLength: 1 });
  const options: fc.Arbitrary<Data> = fc.record({
    external_id: fc.oneof(
      { weight: 30, arbitrary: externalId },
      { weight: names.length === 1 ? 1 : 12, arbitrary: fc.constant<Json>(ABSENT) },
      { weight: 1, arbitrary: fc.constant(null) },
    ),
    match: seldom(fc.oneof({ weight: 9, arbitrary: named }, { weight: 1, arbitrary: fc.constant([]) })),
    on_match: seldom(among('update', 'fill', 'keep'), 1),
    on_missing: seldom(among('create', 'fail', 'fail')),
  });
  const body = fc.oneof(newBodyOf(resource), bodyOf(resource, true));
  return fc.tuple(body, options).map(([fields, more]) => present({ ...fields, ...more }));
}

function externalIdRequests(common: {
  actor: fc.Arbitrary<number>;
  wait: fc.Arbitrary<number>;
  resource: fc.Arbitrary<string>;
  id: fc.Arbitrary<Pick>;
}): [weight: number, arbitrary: fc.Arbitrary<Request>][] {
  const one = externalId.map((body) => [body]);
  const attach = { ...common, do: fc.constant('attach' as const) };
  return [
    [2, fc.record({ ...attach, externalIds: one })],
    [0.05, fc.record({ ...attach, externalIds: fc.constant(MANY) })],
    [1, fc.record({ ...common, do: fc.constant('detach' as const), source: fc.constantFrom(...SOURCES) })],
    [1, fc.record({ ...common, do: fc.constant('attached' as const), limit: fc.constantFrom(200, 2, 1) })],
  ];
}

function linkRequests(): fc.WeightedArbitrary<Request>[] {
  return COLLECTIONS.flatMap(({ parent: resource, children, saysType }, index) => {
    const common = { ...by, collection: fc.constant(index), parent: pickOf(resource) };
    const targets = typeof children === 'string' ? { '': children } : children;
    const linking = Object.entries(targets).map(([record_type, name]) => {
      const extra: Record<string, fc.Arbitrary<Json>> = index === 0
        ? { supervisor: drawn(pickOf('contacts'), 'absent') }
        : { nonsense: among(1) };
      const own = fc.oneof(
        { weight: 16, arbitrary: fc.constant({}) },
        { weight: index === 0 ? 4 : 1, arbitrary: fc.record(extra) },
      );
      const body = own.map((one) => (saysType === 'body' ? { record_type, ...one } : one));
      return fc.record({ ...common, do: fc.constant('link' as const), child: pickOf(name), body });
    });
    const unlink = fc.record({ ...common, do: fc.constant('unlink' as const), link: fc.nat(PICKS_MAX) });
    const linked = fc.record({
      ...common,
      do: fc.constant('linked' as const),
      link: fc.nat(PICKS_MAX),
      limit: fc.constantFrom(200, 2, 1),
    });
    return [
      { weight: 8, arbitrary: fc.oneof(...linking) },
      { weight: 2, arbitrary: unlink },
      { weight: 3, arbitrary: linked },
    ];
  });
}

const linkItem: fc.Arbitrary<LinkItem> = fc.oneof(
  ...KINDS.flatMap(({ parent, ...kind }, index) => {
    const targets = kind.at === null ? kind.child : kind.at.children;
    const own = (more: Data) =>
      fc
        .oneof(
          { weight: 30, arbitrary: fc.constant<Data>({}) },
          {
            weight: kind.at?.name === 'contacts' ? 12 : 1,
            arbitrary: fc.record({ supervisor: drawn(pickOf('contacts')) }),
          },
          { weight: 1, arbitrary: fc.constant<Data>({ nonsense: 1 }) },
        )
        .map((one) => ({ ...more, ...one }));
    const item = { kind: fc.constant(index), parent: pickOf(parent), link: fc.nat(PICKS_MAX) };
    return Object.entries(typeof targets === 'string' ? { '': targets } : targets).map(
      ([record_type, name]) =>
        fc.record({
          ...item,
          child: pickOf(name),
          own: own(kind.at?.saysType === 'body' ? { record_type } : {}),
        }),
    );
  }),
);

function bulkLinkRequests(): fc.WeightedArbitrary<Request>[] {
  const batch = fc.record({
    ...by,
    do: fc.constant('links' as const),
    verb: fc.constantFrom('link' as const, 'link' as const, 'unlink' as const),
    items: fc.array(linkItem, { maxLength: 2 * ITEMS_MAX }),
  });
  const lists = KINDS.map(({ parent }, index) =>
    fc.record({
      ...by,
      do: fc.constant('kind' as const),
      kind: fc.constant(index),
      parents: fc.option(fc.array(pickOf(parent), { minLength: 1, maxLength: 3 }), { freq: 2 }),
      limit: fc.constantFrom(200, 2, 1),
    }),
  );
  return [
    { weight: 8, arbitrary: batch },
    { weight: 6, arbitrary: fc.oneof(...lists) },
  ];
}

function associationRequests(): fc.WeightedArbitrary<Request>[] {
  return ['deal', 'company'].flatMap((name) => {
    const common = { ...by, name: fc.constant(name), meeting: pickOf('meetings') };
    const target = pickOf(name === 'deal' ? 'deals' : 'companies');
    const child = fc.oneof({ weight: 4, arbitrary: target }, { weight: 1, arbitrary: fc.constant(null) });
    const associate = fc.record({ ...common, do: fc.constant('associate' as const), child });
    const association = fc.record({ ...common, do: fc.constant('association' as const) });
    return [
      { weight: 2, arbitrary: associate },
      { weight: 1, arbitrary: association },
    ];
  });
}

/** Any request. */
export const anyRequest: fc.Arbitrary<Request> = fc.oneof(
  ...[
    ...RESOURCES.flatMap(requestsOf),
    ...linkRequests(),
    ...bulkLinkRequests(),
    ...associationRequests(),
  ].map(
    // Whole numbers are wanted.
    ({ weight, arbitrary }) => ({ weight: weight * 20, arbitrary }),
  ),
);
