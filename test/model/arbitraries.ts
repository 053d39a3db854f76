// What fast-check draws: requests in which ids are still picks, to be resolved among the records there are by then.
import fc from 'fast-check';
import type { Json } from '../support/harness.ts';
import { fieldsOf, type Kind } from './fields.ts';
import { COLLECTIONS } from './links.ts';
import { FILTERS } from './lists.ts';
import { DOMAINS, EMAILS } from './values.ts';
import { type Data, RESOURCES } from './world.ts';

/** Stands for the id of one of the records of a resource, or for an id of none. */
export interface Pick {
  $of: string;
  pick: number;
}

interface By {
  /** Index of the actor. */
  actor: number;
  /** Milliseconds that pass before. */
  wait: number;
}

export type Request = By &
  (
    | { do: 'create'; resource: string; body: Data }
    | { do: 'batch'; resource: string; bodies: Data[] }
    | { do: 'update'; resource: string; id: Pick; body: Data }
    | { do: 'delete' | 'get'; resource: string; id: Pick }
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
    | { do: 'associate'; name: string; meeting: Pick; child: Pick | null }
    | { do: 'association'; name: string; meeting: Pick }
  );

const PICKS_MAX = 1_000;
const ABSENT = Symbol('left out');

const pickOf = ($of: string): fc.Arbitrary<Pick> => fc.nat(PICKS_MAX).map((pick) => ({ $of, pick }));
const by = { actor: fc.constantFrom(0, 0, 1, 1, 2), wait: fc.constantFrom(0, 0, 1, 2) };

/** Mostly one of the good values, at times null, seldom one of the bad. */
function drawn(good: fc.Arbitrary<Json>, ...bad: Json[]): fc.Arbitrary<Json> {
  const rare = bad.length === 0 ? [] : [{ weight: 1, arbitrary: fc.constantFrom(...bad) }];
  return fc.oneof({ weight: 60, arbitrary: good }, { weight: 5, arbitrary: fc.constant(null) }, ...rare);
}

const among = (...values: Json[]) => fc.constantFrom(...values);

const stage = fc.record(
  {
    keep: fc.nat(5),
    name: among('S', 'T'),
    type: among('open', 'won', 'lost'),
    probability: among(0, 0.5, null, 0.25, 1, 2),
    position: fc.nat(2),
  },
  { requiredKeys: ['name'] },
);

const stages = fc.array(
  fc.oneof(
    { weight: 8, arbitrary: stage.map(({ position: _, ...rest }) => rest) },
    { weight: 1, arbitrary: stage },
  ),
  { maxLength: 4 },
);

function arbitraryOf(kind: Kind): fc.Arbitrary<Json> {
  if (typeof kind === 'object') {
    if ('refersTo' in kind) return drawn(pickOf(kind.refersTo), 'absent', 5);
    return drawn(among(...kind.values), 'nonsense', 5);
  }
  const kinds: Record<Exclude<Kind, object>, fc.Arbitrary<Json>> = {
    text: drawn(among('A', 'B', 'a', ''), 5),
    'required text': drawn(among('A', 'B', 'a'), '', 5),
    email: drawn(among(...EMAILS), 'bad', 5),
    emails: drawn(fc.array(among(...EMAILS), { maxLength: 2 }), ['bad'], 5),
    domain: drawn(among(...Object.keys(DOMAINS)), '', 5),
    boolean: drawn(fc.boolean(), 0),
    count: drawn(among(0, 7), -1, 1.5, '7'),
    number: drawn(among(0, 1.5, -7), '5'),
    instant: drawn(among(0, 1_000, 2_000, 3_000), 1.5, '5'),
    date: drawn(among('2026-03-01', '2024-02-29'), '2026-02-30', 5),
    currency: drawn(among('EUR', 'USD'), 'eur', 5),
    custom: drawn(among({ a: 1 }, { a: null, b: 'x' }, { c: true, b: null }, {}), { a: {} }, 'x'),
    stages: fc.oneof({ weight: 20, arbitrary: stages }, { weight: 1, arbitrary: among(null) }),
  };
  return kinds[kind];
}

const OFTEN = ['email', 'domain', 'main_contact_email', 'interaction_date', 'stage_id', 'parent_id', 'done'];

function bodyOf(resource: string, isNew: boolean): fc.Arbitrary<Data> {
  const fields = Object.entries(fieldsOf(resource)).map(([name, kind]): [string, fc.Arbitrary<Json>] => {
    const isNeeded = isNew && (kind === 'required text' || (typeof kind === 'object' && 'required' in kind));
    const present = isNeeded ? 100 : OFTEN.includes(name) ? 3 : 1;
    const absent = { weight: isNeeded ? 1 : 5, arbitrary: fc.constant(ABSENT) };
    return [name, fc.oneof(absent, { weight: present, arbitrary: arbitraryOf(kind) })];
  });
  fields.push([
    'nonsense',
    fc.oneof({ weight: 100, arbitrary: fc.constant(ABSENT) }, { weight: 1, arbitrary: among(1) }),
  ]);
  return fc.record(Object.fromEntries(fields)).map(present);
}

function present(body: Data): Data {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== ABSENT));
}

/** Bodies of creates, so that most of them name their record. */
function newBodyOf(resource: string): fc.Arbitrary<Data> {
  const body = bodyOf(resource, true);
  if (resource === 'contacts')
    return fc.oneof(
      body,
      body.map((one) => ({ first_name: 'A', ...one })),
    );
  if (resource === 'companies')
    return fc.oneof(
      body,
      body.map((one) => ({ name: 'A', ...one })),
    );
  if (resource !== 'interactions') return body;
  const contact = fc.oneof(
    { weight: 8, arbitrary: pickOf('contacts').map((main_contact) => ({ main_contact })) },
    { weight: 8, arbitrary: among(...EMAILS).map((main_contact_email) => ({ main_contact_email })) },
    { weight: 1, arbitrary: fc.constant(null) },
  );
  const origin = fc.oneof(
    { weight: 3, arbitrary: fc.constant({}) },
    { weight: 2, arbitrary: fc.record({ primary_id: among('m1', 'm2'), secondary_id: among(null, 'n') }) },
  );
  return fc.tuple(body, contact, origin).map(([one, who, from]) => {
    if (who === null) return one;
    const { main_contact: _, main_contact_email: __, primary_id: ___, secondary_id: ____, ...rest } = one;
    return { ...rest, ...who, ...from };
  });
}

const CHANGEABLE = RESOURCES.filter((name) => fieldsOf(name).name || fieldsOf(name).title).filter(
  (name) => name !== 'interactions',
);
const CREATABLE = [...CHANGEABLE, 'interactions'];
const LISTED = RESOURCES;

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
  const common = { ...by, resource: fc.constant(resource) };
  const id = pickOf(resource);
  const isChangeable = CHANGEABLE.includes(resource);
  const kinds: [weight: number, arbitrary: fc.Arbitrary<Request>][] = [
    [3, listOf(resource)],
    [1, fc.record({ ...common, do: fc.constant('get' as const), id })],
  ];
  if (CREATABLE.includes(resource)) {
    const body = newBodyOf(resource);
    kinds.push([
      resource === 'pipelines' ? 2 : 10,
      fc.record({ ...common, do: fc.constant('create' as const), body }),
    ]);
    const bodies = fc.array(body, { maxLength: 4 });
    kinds.push([1, fc.record({ ...common, do: fc.constant('batch' as const), bodies })]);
  }
  if (isChangeable) {
    const body = bodyOf(resource, false);
    kinds.push([
      resource === 'pipelines' ? 3 : 5,
      fc.record({ ...common, do: fc.constant('update' as const), id, body }),
    ]);
    kinds.push([1, fc.record({ ...common, do: fc.constant('delete' as const), id })]);
  }
  return kinds.map(([weight, arbitrary]) => ({ weight, arbitrary }));
}

function linkRequests(): fc.WeightedArbitrary<Request>[] {
  return COLLECTIONS.flatMap(({ parent: resource, children, saysType }, index) => {
    const common = { ...by, collection: fc.constant(index), parent: pickOf(resource) };
    const targets = typeof children === 'string' ? { '': children } : children;
    const children$ = Object.entries(targets).map(([record_type, name]) => {
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
      { weight: 8, arbitrary: fc.oneof(...children$) },
      { weight: 2, arbitrary: unlink },
      { weight: 3, arbitrary: linked },
    ];
  });
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
  ...LISTED.flatMap(requestsOf),
  ...linkRequests(),
  ...associationRequests(),
);
