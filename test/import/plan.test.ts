// Which column goes where: names of other products, what the user says, and what is refused.
import { afterAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describePlan } from '../../cli/import/plan/describe.ts';
import { planKey } from '../../cli/import/plan/plan.ts';
import { destinations, type Options, planFor, refusal } from '../fixtures/import/plan.ts';

const folder = mkdtempSync(join(tmpdir(), 'crm-plan-test-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('headers of exports', () => {
  test.each([
    [
      'HubSpot',
      {
        'First Name': 'first_name',
        'Last Name': 'last_name',
        Email: 'email',
        'Phone Number': 'phone',
        'Job Title': 'title',
        'Associated Company': 'company?',
      },
    ],
    [
      'Google',
      {
        'Given Name': 'first_name',
        'Family Name': 'last_name',
        'E-mail 1 - Value': 'email',
        'Phone 1 - Value': 'phone',
        'Organization 1 - Name': 'company?',
        'Organization 1 - Title': 'title',
      },
    ],
    [
      'Outlook',
      {
        'First Name': 'first_name',
        'E-mail Address': 'email',
        'E-mail 2 Address': 'alt_emails',
        'Business Phone': 'phone',
        'Mobile Phone': 'personal_phone',
        Company: 'company?',
      },
    ],
    [
      'Salesforce',
      { FIRST_NAME: 'first_name', 'Account Name': 'company?', Email: 'email', Mobile: 'personal_phone' },
    ],
    [
      'Pipedrive',
      {
        'Person - First name': 'first_name',
        'Person - Email - Work': 'email',
        'Person - Organization': 'company?',
        'Person - Phone - Mobile': 'personal_phone',
      },
    ],
  ])('contacts of %s', (_, expected) => {
    expect(destinations('contacts', Object.keys(expected))).toEqual(expected);
  });

  test.each([
    [
      'HubSpot',
      {
        'Deal Name': 'name',
        Amount: 'estimated_value',
        'Close Date': 'estimated_close_date',
        'Deal Stage': 'stage?',
        Pipeline: 'pipeline?',
      },
    ],
    [
      'Salesforce',
      { 'Opportunity Name': 'name', 'Account Name': 'company?', Stage: 'stage?', Amount: 'estimated_value' },
    ],
    [
      'Pipedrive',
      {
        'Deal - Title': 'name',
        'Deal - Value': 'estimated_value',
        'Deal - Stage': 'stage?',
        'Deal - Organization': 'company?',
      },
    ],
  ])('deals of %s', (_, expected) => {
    expect(destinations('deals', Object.keys(expected))).toEqual(expected);
  });

  test('in companies the account is the name; a contact of an interaction is its email', () => {
    expect(destinations('companies', ['Account', 'Website'])).toEqual({ Account: 'name', Website: 'domain' });
    expect(destinations('interactions', ['Contact'])).toEqual({ Contact: 'main_contact_email' });
    expect(destinations('tasks', ['Account', 'Contact'])).toEqual({
      Account: 'company?',
      Contact: 'contact?',
    });
  });

  test('what an export of ours has read-only is left out; the same word in other spelling is not', () => {
    expect(destinations('deals', ['id', 'name', 'status', 'created_at', 'custom.tier'])).toEqual({
      id: '-',
      name: 'name',
      status: '-',
      created_at: '-',
      'custom.tier': 'custom.tier',
    });
    expect(refusal(() => planFor('deals', ['Name', 'Status'])).message).toContain('"Status"');
  });
});

describe('what the user says', () => {
  test('--map names fields, lookups, custom fields, factors and nothing', () => {
    const map = ['a=name', 'b=custom.b', 'c=-', 'd=estimated_value*1000', 'e=company', 'f=g=currency'];
    const plan = planFor('deals', ['a', 'b', 'c', 'd', 'e', 'f=g'], { map });
    expect(describePlan(plan).map((line) => line.trim().replace(/ +/g, ' '))).toEqual([
      'a → name',
      'b → custom.b',
      'c → left out (requested)',
      'd → estimated_value, multiplied by 1000',
      'e → company_id, looked up by company',
      'f=g → currency',
    ]);
  });

  test('--map-file has fields and values; flags win; headers that are not there are no mistake', () => {
    const mapFile = join(folder, 'map.json');
    const content = {
      Titel: 'name',
      Phase: { field: 'stage', values: { Neu: 'Discovery' } },
      Other: 'currency',
    };
    writeFileSync(mapFile, JSON.stringify(content));
    const headers = ['Titel', 'Phase'];
    expect(destinations('deals', headers, { mapFile })).toEqual({ Titel: 'name', Phase: 'stage?' });
    expect(destinations('deals', headers, { mapFile, map: ['Titel=-'] })).toEqual({
      Titel: '-',
      Phase: 'stage?',
    });
    expect(planFor('deals', headers, { mapFile }).values.get('Phase')?.get('neu')).toBe('Discovery');
  });

  test('--map finds a column written otherwise, unless it could be several', () => {
    const map = ['some_phase=stage'];
    expect(destinations('deals', ['name', 'Some Phase'], { map })['Some Phase']).toBe('stage?');
    const { message } = refusal(() => planFor('deals', ['name', 'Some Phase', 'some-phase'], { map }));
    expect(message).toContain('the column "some_phase", which is not in the input');
  });

  test('--map-value takes a header with a colon', () => {
    const plan = planFor('deals', ['name', 'Deal: Stage'], {
      map: ['Deal: Stage=stage'],
      mapValue: ['Deal: Stage:In Progress=Discovery'],
    });
    expect(plan.values.get('Deal: Stage')?.get('in progress')).toBe('Discovery');
  });

  test('--custom keeps what is not known, and only that', () => {
    expect(destinations('companies', ['name', 'Region code'], { custom: true })).toEqual({
      name: 'name',
      'Region code': 'custom.Region code',
    });
  });

  test('plans differ in their key exactly if they differ in what they do', () => {
    const headers = ['name', 'zone'];
    const key = (options: Options) => planKey(planFor('companies', headers, options));
    expect(key({ custom: true })).toBe(key({ map: ['zone=custom.zone'] }));
    const keys = [
      { custom: true },
      { map: ['zone=-'] },
      { map: ['zone=city'] },
      { custom: true, set: ['city=Rome'] },
    ].map(key);
    expect(new Set(keys).size).toBe(keys.length);
  });
});

describe('what is refused, with exit 2', () => {
  test('unknown columns, all of them by name, with what to do', () => {
    const { message, exitCode, next } = refusal(() => planFor('contacts', ['Email', 'Fax', 'Lead Score']));
    expect(message).toBe('input.csv has 2 unknown columns: "Fax", "Lead Score".');
    expect(exitCode).toBe(2);
    expect(next).toStartWith('crm import contacts input.csv --custom\n');
    expect(next).toContain('--map Fax=FIELD');
  });

  test.each<[string, Options, string]>([
    [
      'two columns for one field',
      { map: ['b=name'] },
      'Several columns map to the same field: name from "a", "b".',
    ],
    ['a column and --set for one field', { map: ['b=-'], set: ['name=x'] }, 'name from --set name, "a".'],
    ['a column that is not there', { map: ['c=name'] }, 'the column "c", which is not in the input'],
    ['a field that is not there', { map: ['b=nonsense'] }, '"nonsense" is not a field'],
    ['a field that is read-only', { map: ['b=created_at'] }, '"created_at" is a read-only field'],
    ['a factor for text', { map: ['b=currency*2'] }, 'not a number, so it cannot be multiplied'],
    ['a factor that is missing', { map: ['b=estimated_value*'] }, 'does not have a number after *'],
    ['a factor that is no number', { map: ['b=estimated_value*x'] }, 'does not have a number after *'],
    ['a factor for a lookup', { map: ['b=company*2'] }, 'not a number, so it cannot be multiplied'],
    ['a malformed --map', { map: ['b'] }, 'does not have the form Header=field'],
    [
      'a malformed --map-value',
      { map: ['b=-'], mapValue: ['b=x'] },
      'does not have the form Header:value=new value',
    ],
    ['a malformed --set', { map: ['b=-'], set: ['x'] }, 'does not have the form field=value'],
    ['a map file that is not there', { mapFile: '/nonexistent/map.json' }, 'no such file'],
    ['a map file that is not JSON', { mapFile: import.meta.path }, 'is not valid JSON: '],
  ])('%s', (_, options, message) => {
    const map = ['a=name', ...(options.map ?? [])];
    expect(refusal(() => planFor('deals', ['a', 'b'], { ...options, map })).message).toContain(message);
  });

  test('--custom where there are no custom fields', () => {
    expect(refusal(() => planFor('tasks', ['name', 'x'], { custom: true })).message).toBe(
      'tasks do not have custom fields.',
    );
  });
});
