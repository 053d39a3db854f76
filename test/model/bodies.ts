// The bodies that fast-check draws: good values mostly, and few enough that records meet and conflict.
import fc from 'fast-check';
import type { Json } from '../support/harness.ts';
import { fieldsOf, type Kind } from './fields.ts';
import { DOMAINS, EMAILS } from './values.ts';
import type { Data } from './world.ts';

/** Stands for the id of one of the records of a resource, or for an id of none. */
export interface Pick {
  $of: string;
  pick: number;
}

/** The largest pick. */
export const PICKS_MAX = 1_000;
/** Stands for a property that is left out. */
export const ABSENT = Symbol('left out');

/** A pick among the records of a resource. */
export const pickOf = ($of: string): fc.Arbitrary<Pick> => fc.nat(PICKS_MAX).map((pick) => ({ $of, pick }));

/** Mostly one of the good values, at times null, seldom one of the bad. */
export function drawn(good: fc.Arbitrary<Json>, ...bad: Json[]): fc.Arbitrary<Json> {
  const rare = bad.length === 0 ? [] : [{ weight: 1, arbitrary: fc.constantFrom(...bad) }];
  return fc.oneof({ weight: 60, arbitrary: good }, { weight: 5, arbitrary: fc.constant(null) }, ...rare);
}

/** One of these values. */
export const among = (...values: Json[]) => fc.constantFrom(...values);

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

// All stages as they are, but for the type of one: what a change of a pipeline that is in use can do.
const retyped = fc.record({ retype: fc.nat(5), type: among('open', 'won', 'lost') });

function arbitraryOf(kind: Kind): fc.Arbitrary<Json> {
  if (typeof kind === 'object') {
    if ('refersTo' in kind) return drawn(pickOf(kind.refersTo), 'absent', 5);
    if ('listOf' in kind)
      return drawn(fc.array(pickOf(kind.listOf), { maxLength: 3 }), 'absent', ['absent'], [5]);
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
    stages: fc.oneof(
      { weight: 10, arbitrary: stages },
      { weight: 10, arbitrary: retyped },
      { weight: 1, arbitrary: among(null) },
    ),
  };
  return kinds[kind];
}

const OFTEN = [
  'email',
  'domain',
  'main_contact_email',
  'interaction_date',
  'stage_id',
  'parent_id',
  'done',
  'stages',
];

/** A body of a create or a change. */
export function bodyOf(resource: string, isNew: boolean): fc.Arbitrary<Data> {
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

/** An object without what was left out. */
export function present(body: Data): Data {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== ABSENT));
}

/** Bodies of creates, so that most of them name their record. */
export function newBodyOf(resource: string): fc.Arbitrary<Data> {
  const body = bodyOf(resource, true);
  const named = resource === 'contacts' ? { first_name: 'A' } : { name: 'A' };
  if (resource === 'contacts' || resource === 'companies')
    return fc.oneof(
      { weight: 1, arbitrary: body },
      { weight: 4, arbitrary: body.map((one) => ({ ...named, ...one })) },
    );
  return resource === 'interactions' ? newInteraction(body) : body;
}

// About someone mostly, and often much like another.
function newInteraction(body: fc.Arbitrary<Data>): fc.Arbitrary<Data> {
  const contact = fc.oneof(
    { weight: 8, arbitrary: pickOf('contacts').map((main_contact) => ({ main_contact })) },
    { weight: 8, arbitrary: among(...EMAILS).map((main_contact_email) => ({ main_contact_email })) },
  );
  const common = { type: 'EMAIL', direction: 'INBOUND', title: 'A' };
  const alike = fc.oneof(
    fc.constant({ ...common, interaction_date: 1_000 }),
    fc.constant({ ...common, interaction_date: 0 }),
    fc.constant(common),
    fc.record({ type: among('EMAIL'), primary_id: among('m1', 'm2'), secondary_id: among(null, null, 'n') }),
  );
  const usual = fc.tuple(body, contact).map(([one, who]) => {
    const { main_contact: _, main_contact_email: __, primary_id: ___, interaction_date: ____, ...rest } = one;
    return { ...rest, ...who };
  });
  return fc.oneof(
    { weight: 1, arbitrary: body },
    { weight: 3, arbitrary: usual },
    { weight: 9, arbitrary: fc.tuple(usual, alike).map(([one, more]) => ({ ...one, ...more })) },
  );
}
