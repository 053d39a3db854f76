// Requests that nobody would think of: bodies and queries that mostly fit what an operation asks for, and now and then do not.
import fc from 'fast-check';
import type { Operation } from '../../../server/operation.ts';
import { anyCharacter } from '../../support/any-character.ts';
import type { Json } from '../../support/json.ts';

const ODD = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  1e15,
  -0,
  2 ** 53,
  '',
  ' ',
  '0',
  'true',
  '2026-01-31',
  'EUR',
  'EMAIL',
];
const MORE = [
  'INBOUND',
  'open',
  'contact',
  'x'.repeat(1_001),
  '\u0000',
  '😀',
  'b@fuzz.test',
  '%00',
  "'; --",
  [],
  {},
];

// What is known of the service that is asked, as it comes to be known.
let ids: readonly string[] = [''];
let idsOf: ReadonlyMap<string, readonly string[]> = new Map();

/** Says which ids and addresses stand in requests from now on, and which of them are those of a resource. */
export function drawFrom(list: readonly string[], byResource: typeof idsOf = new Map()): void {
  ids = list;
  idsOf = byResource;
}

/** A record of a resource, where one is known. */
export function knownOf(resource: string): fc.Arbitrary<string> {
  const list = idsOf.get(resource) ?? [];
  return list.length === 0 ? known : fc.constantFrom(...list.slice(-NEWEST));
}

// Most of those that were made before are deleted.
const NEWEST = 40;

/** Something known. */
export const known = fc.nat().map((index) => ids[index % ids.length] ?? '');
/** Any value that is neither list nor object, or an empty one. */
export const scalar = fc.oneof(
  fc.constantFrom<Json>(...ODD, ...MORE),
  known,
  fc.string({ unit: anyCharacter, maxLength: 12 }),
  fc.double({ noNaN: true }),
);

/** Mostly what the schema asks for, now and then something else. @param own resource of the path */
function fitting(schema: Json, own: string): fc.Arbitrary<Json> {
  return fc.oneof({ weight: 19, arbitrary: right(schema, own) }, { weight: 1, arbitrary: scalar });
}

function right(schema: Json, own: string): fc.Arbitrary<Json> {
  if (Array.isArray(schema.type)) {
    return fc.oneof(...schema.type.map((type: string) => right({ ...schema, type }, own)));
  }
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.format === 'email') return fc.nat(30).map((one) => `Person${one}@fuzz.test`);
  if (schema.format === 'date') return fc.constant('2026-02-28');
  if (schema.type === 'string') return fc.oneof(known, fc.string({ unit: 'grapheme', maxLength: 9 }));
  if (schema.type === 'integer') return fc.integer({ min: schema.minimum, max: schema.maximum });
  if (schema.type === 'number') return fc.double({ min: schema.minimum, max: schema.maximum, noNaN: true });
  if (schema.type === 'boolean') return fc.boolean();
  if (schema.type === 'array') return fc.array(fitting(schema.items, own), { maxLength: 3 });
  if (schema.type !== 'object') return fc.constant(null);
  const required = schema.required ?? [];
  const given = Object.entries<Json>(schema.properties ?? {}).map(([name, property]) => {
    const often = { weight: required.includes(name) ? 40 : 1, arbitrary: namedProperty(name, property, own) };
    return fc.oneof(often, { weight: 2, arbitrary: fc.constant(undefined) }).map((value) => [name, value]);
  });
  const more = fc.dictionary(fc.constantFrom('nope', 'constructor', '', 'a.b', 'id'), scalar, {
    maxKeys: 2,
    noNullPrototype: true,
  });
  const extra = fc.oneof({ weight: 9, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: more });
  return fc
    .tuple(fc.tuple(...given), extra)
    .map(([pairs, others]) => ({ ...Object.fromEntries(pairs), ...others }));
}

// The resources whose ids stand in fields of these names.
const REFERENCES: Record<string, string> = {
  ...{ company_id: 'companies', contact_id: 'contacts', person_id: 'contacts', deal_id: 'deals' },
  ...{
    point_of_contact_id: 'contacts',
    pipeline_id: 'pipelines',
    parent_id: 'notes',
    supervisor: 'contacts',
  },
  ...{ main_contact: 'contacts', mainContact: 'contacts', record_id: 'contacts' },
  ...{ owner_id: 'users', main_assignee_id: 'users' },
};

// And where they are the ends of links.
const ENDS: Record<string, string> = { parent_id: 'deals', id: 'contacts' };
/** The systems whose IDs records have. */
export const SOURCES = ['crm', 'erp'];

function namedProperty(name: string, schema: Json, own: string): fc.Arbitrary<Json> {
  if (name === 'external_id') return fc.oneof(externalId, fitting(schema, own));
  const resource = (own === 'links' && ENDS[name]) || (name === 'id' ? own : REFERENCES[name]);
  if (resource === undefined) return fitting(schema, own);
  return fc.oneof(
    { weight: 9, arbitrary: knownOf(resource) },
    { weight: 1, arbitrary: fitting(schema, own) },
  );
}

// Few, so that they meet.
const externalId = fc.record({ source: fc.constantFrom(...SOURCES), id: fc.nat(20).map(String) });

/** A body for an operation that takes one. */
export function bodyOf({ body, isBatch, path }: Operation): fc.Arbitrary<Json> {
  if (path.endsWith('/external_ids')) return fc.oneof(externalId, fitting(body, ''));
  const [, , , own = ''] = path.split('/');
  // Batches by ID take nothing else.
  const item =
    isBatch === true ? namedProperty((body as Json).type === 'string' ? 'id' : '', body, own) : null;
  return item === null ? fitting(body, own) : fc.array(item, { maxLength: 4 });
}

/** The query of a request, with its question mark. */
export function queryOf({ query }: Operation): fc.Arbitrary<string> {
  const names = [...Object.keys(query), 'nope', '__proto__', ''];
  const value = scalar.map((one) => encodeURIComponent(String(one).toWellFormed()));
  const pair = fc.tuple(fc.constantFrom(...names), value).map(([name, text]) => `${name}=${text}`);
  return fc.oneof(
    fc.constant(''),
    fc.array(pair, { maxLength: 3 }).map((pairs) => `?${pairs.join('&')}`),
  );
}
