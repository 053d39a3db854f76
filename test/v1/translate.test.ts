// The translation between v1 and v2 by itself: pure, and the way back leads to where it began.
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { companies } from '../../db/model/resources/companies.ts';
import { contacts } from '../../db/model/resources/contacts.ts';
import { interactions } from '../../db/model/resources/interactions.ts';
import {
  COMPANY_READ_ONLY_FIELDS,
  COMPANY_WRITABLE_FIELDS,
  fromCompany,
  toCompany,
  toInteraction,
  toPerson,
  toV2,
  v1Name,
  v1Path,
  v2Name,
} from '../../server/v1/translate.ts';
import type { Json } from '../support/harness.ts';

const RUNS = { numRuns: 200, seed: 42 };

/** Fails at any attempt to change what is given. */
function frozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(value).forEach(frozen);
  return Object.freeze(value);
}

const NAMES: [v1: string, v2: string][] = [
  ['id', 'id'],
  ['email', 'email'],
  ['firstName', 'first_name'],
  ['personalPhone', 'personal_phone'],
  ['altEmails', 'alt_emails'],
  ['companyId', 'company_id'],
  ['owner', 'owner_id'],
  ['createdBy', 'created_by'],
  ['creationTime', 'created_at'],
  ['lastInteraction', 'last_interaction_at'],
  ['mainContact', 'main_contact'],
  ['mainContactEmail', 'main_contact_email'],
  ['interactionDate', 'interaction_date'],
  ['primaryId', 'primary_id'],
  ['contactId', 'contact_id'],
];

describe('names', () => {
  for (const [v1, v2] of NAMES) {
    test(`${v1} is ${v2}`, () => expect([v2Name(v1), v1Name(v2)]).toEqual([v2, v1]));
  }

  test('every field of v2 has a v1 name that leads back', () => {
    for (const { fields } of [contacts, companies, interactions])
      for (const name of Object.keys(fields)) expect(v2Name(v1Name(name))).toBe(name);
  });

  test('paths of faults', () => {
    expect(v1Path('alt_emails.0')).toBe('altEmails.0');
    expect(v1Path('owner_id')).toBe('owner');
    expect(v1Path('custom.any_key')).toBe('any_key');
    expect(v1Path('custom')).toBe('');
    expect(v1Path('')).toBe('');
  });
});

const text = fc.string({ unit: 'grapheme', maxLength: 8 });
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: null });
const timestamp = fc.integer({ min: 0, max: 4e12 }).map((ms) => new Date(ms).toISOString());
const common = { id: fc.uuid(), created_by: fc.uuid(), created_at: timestamp, updated_at: timestamp };
const SOCIAL = ['linkedin', 'twitter', 'facebook', 'instagram'];
const texts = (...names: string[]) => Object.fromEntries(names.map((name) => [name, maybe(text)]));
const scalar = fc.oneof(text, fc.integer(), fc.boolean());
const custom = fc.dictionary(fc.string({ maxLength: 6 }), scalar, { noNullPrototype: true });

const contact = fc.record({
  ...common,
  ...texts(
    'email',
    'first_name',
    'last_name',
    'title',
    'phone',
    'personal_phone',
    'whatsapp',
    'remarks',
    ...SOCIAL,
  ),
  alt_emails: fc.array(text, { maxLength: 3 }),
  company_id: maybe(fc.uuid()),
  owner_id: maybe(fc.uuid()),
  keep_in_touch: fc.boolean(),
  custom,
  last_interaction_at: maybe(timestamp),
});
const company = fc.record({
  ...common,
  ...texts('domain', 'name', 'crunchbase', 'industry', 'city', ...SOCIAL),
  employee_count: maybe(fc.nat()),
  custom,
  last_interaction_at: maybe(timestamp),
});

describe('a contact as a person', () => {
  test('has all that v1 knows of it, in v1 names, and nothing that is unset', () => {
    fc.assert(
      fc.property(contact, (record) => {
        const person = toPerson(frozen(record) as Json);
        const back = toV2(frozen(person));
        for (const [name, value] of Object.entries(back)) expect(value).toEqual((record as Json)[name]);
        for (const value of Object.values(person)) expect(value).not.toBeNull();
        const { updated_at, keep_in_touch, custom: _, ...known } = record;
        for (const [name, value] of Object.entries(known)) {
          const isUnset = value === null || (Array.isArray(value) && value.length === 0);
          expect(name in back).toBe(!isUnset);
        }
        expect(Object.keys(person)).not.toContain('custom');
        expect(toPerson(back)).toEqual(person);
      }),
      RUNS,
    );
  });
});

describe('a company', () => {
  const reserved: readonly string[] = [...COMPANY_READ_ONLY_FIELDS, ...COMPANY_WRITABLE_FIELDS];

  test('comes back from v1 with its fields and its additional properties', () => {
    fc.assert(
      fc.property(company, (record) => {
        const shown = toCompany(frozen(record) as Json);
        const body = Object.fromEntries(
          Object.entries(shown).filter(([name]) => !COMPANY_READ_ONLY_FIELDS.some((one) => one === name)),
        );
        const { custom: additional = {}, ...fields } = fromCompany(frozen(body)) as Json;
        for (const name of COMPANY_WRITABLE_FIELDS)
          expect(fields[name] ?? null).toEqual((record as Json)[name] ?? null);
        const expected = Object.entries(record.custom).filter(([name]) => !reserved.includes(name));
        expect(additional).toEqual(Object.fromEntries(expected));
      }),
      RUNS,
    );
  });

  test('in a v1 body everything that is not a field is additional', () => {
    const body = {
      domain: 'a.test',
      name: 'A',
      industry: 'Mills',
      owner_id: 'x',
      custom: 5,
      firstName: null,
    };
    expect(fromCompany(frozen(body))).toEqual({
      domain: 'a.test',
      name: 'A',
      custom: { industry: 'Mills', owner_id: 'x', custom: 5, firstName: null },
    });
    expect(fromCompany({ name: 'A' })).toEqual({ name: 'A' });
  });
});

test('an interaction has its date as text, and only what is set', () => {
  const record = {
    ...{
      id: 'i',
      type: 'EMAIL',
      direction: 'INBOUND',
      title: '',
      summary: null,
      interaction_date: 1_700_000_000_000,
    },
    ...{ main_contact: null, primary_id: 'p', secondary_id: null, contact_ids: [], company_ids: ['c'] },
    ...{ created_by: 'u', created_at: '2026-01-01T00:00:00.000Z', updated_at: '2026-01-02T00:00:00.000Z' },
  };
  expect(toInteraction(frozen(record))).toEqual({
    ...{
      id: 'i',
      type: 'EMAIL',
      direction: 'INBOUND',
      title: '',
      primaryId: 'p',
      companyIds: ['c'],
      createdBy: 'u',
    },
    ...{ interactionDate: '2023-11-14T22:13:20.000Z', creationTime: '2026-01-01T00:00:00.000Z' },
  });
});
