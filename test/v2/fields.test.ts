// Every field that clients write, generated from the declarations: what it takes, refuses, defaults to, and how null clears it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Field } from '../../db/model/fields.ts';
import { getResource } from '../../db/model/resources/registry.ts';
import { COMMON_FIELDS, CONTRACT, type Contract, CREATABLE } from '../support/contract.ts';
import { acceptedValues, makeTargets, refusedValues, type Targets } from '../support/field-samples.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { type Client, clientOf, expectFault, minimalBody } from '../support/v2.ts';

// What a create stores when the client leaves the field out, where that is not null.
const DEFAULTS: Record<string, Json> = {
  'contacts.alt_emails': [],
  'contacts.keep_in_touch': false,
  'contacts.custom': {},
  'companies.custom': {},
  'deals.custom': {},
  'tasks.done': false,
  'notes.is_archived': false,
  'segments.record_type': 'contact',
  'interactions.company_ids': [],
};
// Fields that a test of their own covers: what is stored when they are left out follows from other records.
const DERIVED = [
  'deals.pipeline_id',
  'deals.stage_id',
  'interactions.contact_ids',
  'interactions.interaction_date',
  'pipelines.stages',
];

let harness: Harness;
let api: Client;
let targets: Targets;

beforeAll(async () => {
  harness = await startHarness();
  api = clientOf(harness);
  targets = await makeTargets(api, harness.alice);
});
afterAll(() => harness.close());

function hasDefault(resource: string, name: string): boolean {
  const { inputs = [] } = CONTRACT[resource] as Contract;
  const isGiven = name in minimalBody(resource) || name === 'main_contact' || inputs.includes(name);
  return !isGiven && !DERIVED.includes(`${resource}.${name}`);
}

function valuesOf(name: string, field: Field): Json[] {
  const values = acceptedValues(name, field, targets);
  if (values.length === 0 && name !== 'stages') throw new Error(`no values are known for ${name}`);
  return values;
}

/** A body with the field, and without the field that it would contradict. */
function bodyWith(resource: string, name: string, value: Json): Json {
  const { main_contact_email, ...least } = minimalBody(resource);
  if (name === 'main_contact') return { ...least, [name]: value };
  // The main contact is one of them.
  if (name === 'contact_ids') return { ...least, main_contact: targets.contacts, [name]: value };
  return { ...least, ...(main_contact_email && { main_contact_email }), [name]: value };
}

for (const resource of CREATABLE) {
  const { fixed = [], inputs = [], required, writable, readOnly } = CONTRACT[resource] as Contract;
  const isFixed = (name: string) => fixed.includes(name) || resource === 'interactions';
  const fields = Object.entries(getResource(resource).fields).filter(([, field]) =>
    ['write', 'create', 'input'].includes(field.access),
  );

  describe(resource, () => {
    test('the declaration has the writable fields of the contract', () => {
      expect(fields.map(([name]) => name)).toEqual(expect.arrayContaining(writable));
    });

    for (const [name, field] of fields) {
      test(`${name} refuses what it cannot hold`, async () => {
        for (const { value, code, below } of refusedValues(name, field)) {
          const path = below === undefined ? name : `${name}.${below}`;
          expectFault(await api.post(`/${resource}`, bodyWith(resource, name, value)), code, path);
        }
      });

      if (!isFixed(name)) {
        test(`${name} refuses the same in a change`, async () => {
          const { id } = await api.create(resource);
          for (const { value, code, below } of refusedValues(name, field)) {
            const path = below === undefined ? name : `${name}.${below}`;
            expectFault(await api.patch(`/${resource}/${id}`, { [name]: value }), code, path);
          }
        });
      }

      if (!inputs.includes(name)) {
        test(`${name} takes and shows what it can hold`, async () => {
          for (const value of valuesOf(name, field)) {
            const created = await api.create(resource, bodyWith(resource, name, value));
            expect({ [name]: created[name] }).toEqual({ [name]: value });
            expect((await api.fetch(resource, created.id))[name]).toEqual(value);
          }
        });
      }
      if (hasDefault(resource, name)) {
        test(`${name} has its default`, async () => {
          expect((await api.create(resource))[name]).toEqual(DEFAULTS[`${resource}.${name}`] ?? null);
        });
      }

      if (!isFixed(name)) testNull(resource, name, field, required.includes(name));
    }

    test('shown identically in every response', async () => {
      const given = fields.filter(([name]) => !inputs.includes(name) && name !== 'stages');
      const values = given.map(([name, field]) => [name, valuesOf(name, field).at(-1)]);
      const { main_contact_email, ...least } = minimalBody(resource);
      const body = { ...least, ...Object.fromEntries(values) };
      const { is_duplicate, ...created } = await api.create(resource, body);
      const shown = JSON.stringify(created);
      expect(JSON.stringify(await api.fetch(resource, created.id))).toBe(shown);
      expect(JSON.stringify((await api.list(`/${resource}?limit=1`))[0])).toBe(shown);
      if (resource === 'interactions') return;
      expect(JSON.stringify(await api.update(resource, created.id, {}))).toBe(shown);
      const changed = await api.update(resource, created.id, minimalBody(resource));
      expect(JSON.stringify(await api.fetch(resource, created.id))).toBe(JSON.stringify(changed));
    });

    const inResponse = [...COMMON_FIELDS, ...readOnly];
    test(`${inResponse.join(', ')} cannot be written`, async () => {
      for (const name of [...inResponse, ...(resource === 'interactions' ? ['is_duplicate'] : [])])
        expectFault(await api.post(`/${resource}`, bodyWith(resource, name, 'x')), 'VALIDATION_FAILED', name);
    });

    if (resource !== 'interactions') {
      test(`${[...inResponse, ...fixed].join(', ')} cannot be changed`, async () => {
        const record = await api.create(resource);
        for (const name of [...inResponse, ...fixed]) {
          const reply = await api.patch(`/${resource}/${record.id}`, { [name]: record[name] });
          expectFault(reply, 'VALIDATION_FAILED', name);
        }
        expect(await api.fetch(resource, record.id)).toEqual(record);
      });
    }
  });
}

// Booleans, required fields, and a deal's place in its pipeline take no null.
function testNull(resource: string, name: string, field: Field, isRequired: boolean): void {
  const takesNone =
    isRequired || field.kind === 'boolean' || name === 'stages' || /^(pipeline|stage)_id$/.test(name);
  if (takesNone) {
    test(`${name} cannot be cleared`, async () => {
      const before = await api.create(resource);
      expectFault(await api.patch(`/${resource}/${before.id}`, { [name]: null }), 'VALIDATION_FAILED', name);
      expect(await api.fetch(resource, before.id)).toEqual(before);
    });
    return;
  }
  test(`${name} is cleared by null`, async () => {
    const cleared = DEFAULTS[`${resource}.${name}`] ?? null;
    const value = valuesOf(name, field).at(-1);
    const { id } = await api.create(resource, { ...standingBody(resource), [name]: value });
    expect((await api.update(resource, id, { [name]: null }))[name]).toEqual(cleared);
    expect((await api.fetch(resource, id))[name]).toEqual(cleared);
    const created = await api.create(resource, { ...standingBody(resource), [name]: null });
    expect(created[name]).toEqual(cleared);
  });
}

let companies = 0;

/** A body that still names its record when one field of it is null. */
function standingBody(resource: string): Json {
  companies += 1;
  if (resource === 'contacts') return { first_name: 'Ada', phone: '1' };
  return resource === 'companies'
    ? { name: 'Acme', domain: `standing-${companies}.example` }
    : minimalBody(resource);
}
