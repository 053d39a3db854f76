// Whole exports of other products come in with --custom --create-missing: every column has a place, nothing is lost.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { createNewOrganization, type NewOrganization } from '../fixtures/import/new-organization.ts';
import { type ImportService, startImportService } from '../fixtures/import/service.ts';

let service: ImportService;
let organization: NewOrganization;

beforeAll(async () => {
  service = await startImportService();
});
afterAll(() => service.close());
beforeEach(async () => {
  organization = await createNewOrganization(service);
});

const ADA = {
  first_name: 'Ada',
  last_name: 'Lovelace',
  email: 'ada@engines.example',
  title: 'Head of Engines',
};

describe('HubSpot', () => {
  test('companies', async () => {
    const { companies_created: made } = await organization.import('companies', 'hubspot-companies.csv');
    expect([made, await organization.all('companies')]).toMatchObject([
      0,
      [
        {
          ...{ name: 'Engines Ltd', domain: 'engines.example', industry: 'MACHINERY', twitter: 'engines' },
          ...{
            employee_count: 1200,
            estimated_revenue: 350_000_000,
            city: 'London',
            state: 'Greater London',
          },
          ...{ country: 'United Kingdom', linkedin: 'https://www.linkedin.com/company/engines' },
          custom: {
            'Record ID': '9001',
            'Company owner': 'Grace Hopper',
            'Website URL': 'https://www.engines.example/about',
            'Create Date': '2024-02-01 09:30',
          },
        },
        { name: 'Bluebay, Inc.', estimated_revenue: 1_250_000.5, country: 'Malta' },
        { name: 'No Site GmbH', domain: null },
      ],
    ]);
  });

  test('contacts', async () => {
    const { companies_created: made, stderr } = await organization.import('contacts', 'hubspot-contacts.csv');
    expect(made).toBe(2);
    expect(stderr).toContain('→ email, if "Email" is empty, else custom.Work email');
    expect(stderr).toContain('→ owner_id, if it is a user ID, else custom.Contact owner');
    const contacts = await organization.all('contacts');
    expect(contacts).toMatchObject([
      {
        ...ADA,
        alt_emails: ['a.king@home.example', 'ada@analytical.example'],
        ...{ phone: '+44 20 7946 0000', personal_phone: '+44 7700 900000', twitter: '@ada', owner_id: null },
        custom: {
          'Work email': 'lovelace@engines.example',
          'Contact owner': 'Grace Hopper',
          'Number of Employees': '1,200',
          'Country (2)': 'United Kingdom',
          'Associated Company': 'Engines Ltd',
        },
      },
      { last_name: "O'Brien-Müller", custom: { 'Contact owner': 'grace@sales.example' } },
      { email: 'no-name@engines.example', first_name: null },
    ]);
    expect(await organization.companyNames(contacts)).toEqual(['Engines Ltd', 'Bluebay, Inc.', null]);
  });

  test('deals, whose stages name their pipeline and whose contacts have names and emails in one cell', async () => {
    await organization.pipeline('Sales Pipeline', ['Appointment Scheduled', 'Contract Sent', 'Closed Won']);
    await organization.import('contacts', 'hubspot-contacts.csv');
    await organization.import('deals', 'hubspot-deals.csv');
    const [ada] = await organization.all('contacts');
    const deals = await organization.all('deals');
    expect(deals).toMatchObject([
      {
        ...{ estimated_value: 48_000, currency: 'GBP', estimated_close_date: '2026-12-31', status: 'open' },
        ...{ point_of_contact_id: ada.id, custom: { 'Associated Contact IDs': '101', Priority: 'high' } },
      },
      {
        ...{ estimated_value: 15_000.5, status: 'won', point_of_contact_id: ada.id },
        custom: {
          'Associated Contacts': 'Ada Lovelace (ada@engines.example);no-name@engines.example',
          'Deal owner': 'grace@sales.example',
        },
      },
      { point_of_contact_id: null, custom: { 'Associated Contacts': "Zoë O'Brien-Müller" } },
    ]);
    expect(await organization.companyNames(deals)).toEqual(['Engines Ltd', 'Bluebay, Inc.', null]);
  });
});

describe('Salesforce', () => {
  const REPORT = ['--encoding', 'windows-1252'];

  test('a report of contacts, with its footer', async () => {
    await organization.import('contacts', 'salesforce-report-contacts.csv', ...REPORT);
    const contacts = await organization.all('contacts');
    expect(contacts).toMatchObject([
      {
        ...ADA,
        ...{ phone: '+44 20 7946 0000', personal_phone: '+44 7700 900000', remarks: 'Wrote “Note G”.' },
        custom: {
          'Mailing Street': '1 St James’s Square\nFlat 2',
          Birthdate: '12/10/1815',
          'Contact Owner': 'Grace Hopper',
          'Account Owner': 'Grace Hopper',
        },
      },
      { first_name: 'Jörg', title: 'Geschäftsführer' },
    ]);
    expect(await organization.companyNames(contacts)).toEqual(['Engines Ltd', 'Müller & Söhne']);
  });

  test('a report of opportunities, whose dates are ambiguous', async () => {
    const file = 'salesforce-report-opportunities.csv';
    await organization.import('deals', file, ...REPORT, '--date-format', 'mdy');
    expect(await organization.all('deals')).toMatchObject([
      {
        ...{ name: 'Second unit', estimated_value: 350_000_000, estimated_close_date: '2026-04-03' },
        custom: { 'Created Date': '1/2/2026', 'Expected Revenue': '$315,000,000', 'Probability (%)': '90' },
      },
      { name: 'Wartung', status: 'won', estimated_value: 1200, estimated_close_date: '2026-05-06' },
    ]);
    const args = ['import', 'deals', file, '--custom', '--create-missing', ...REPORT, '--no-resume'];
    const run = await service.crm(args, organization);
    expect([run.exitCode, run.stderr]).toEqual([2, expect.stringContaining('The dates in "Close Date"')]);
    expect(run.stderr).toContain(
      `Next: crm import deals ${file} --encoding windows-1252 --custom --date-format mdy --create-missing --no-resume\n`,
    );
  });

  test('what the Data Loader wrote: its ids are not ours', async () => {
    await organization.import('companies', 'salesforce-account.csv');
    await organization.import('contacts', 'salesforce-contact.csv');
    await organization.import('deals', 'salesforce-opportunity.csv');
    expect([
      await organization.all('companies'),
      await organization.all('contacts'),
      await organization.all('deals'),
    ]).toMatchObject([
      [
        {
          ...{
            name: 'Engines Ltd',
            domain: 'engines.example',
            employee_count: 1200,
            estimated_revenue: 3.5e8,
          },
          ...{ city: 'London', country: 'United Kingdom', owner_id: null },
          custom: {
            ID: '0015g00000XyZabAAB',
            OWNERID: '0055g000001AbCdAAK',
            SHIPPINGCITY: 'Woolwich',
            SLA__C: 'Gold',
          },
        },
        { name: 'Müller & Söhne', employee_count: 85 },
      ],
      [
        {
          ...{ ...ADA, remarks: 'Wrote Note G.', personal_phone: '+44 20 7946 0999', company_id: null },
          custom: { ACCOUNTID: '0015g00000XyZabAAB', NAME: 'Ada Lovelace', BIRTHDATE: '1815-12-10' },
        },
        { personal_phone: '+39 011 555 0100', custom: { HOMEPHONE: '+39 011 555 0199' } },
      ],
      [
        {
          ...{
            name: 'Second unit',
            estimated_value: 48_000,
            currency: 'GBP',
            estimated_close_date: '2026-12-31',
          },
          ...{ point_of_contact_id: null, custom: { CONTACTID: '0035g00000AbCdEAAV', PROBABILITY: '10.0' } },
        },
        { name: 'Wartung', status: 'lost', estimated_value: null },
      ],
    ]);
  });
});

describe('Pipedrive', () => {
  test('organizations, people and deals, whose contact is a name', async () => {
    await organization.import('companies', 'pipedrive-organizations.csv');
    await organization.import('contacts', 'pipedrive-people.csv');
    await organization.import('deals', 'pipedrive-deals.csv');
    const contacts = await organization.all('contacts');
    const deals = await organization.all('deals');
    expect([await organization.all('companies'), contacts, deals]).toMatchObject([
      [
        {
          ...{ name: 'Engines Ltd', domain: 'engines.example', employee_count: 1200, city: 'London' },
          ...{ country: 'United Kingdom', custom: { 'Organization - Owner': 'Grace Hopper' } },
        },
        { name: 'Bluebay, Inc.' },
      ],
      [
        {
          ...ADA,
          alt_emails: ['lovelace@engines.example', 'a.king@home.example'],
          ...{ phone: '+44 20 7946 0000', personal_phone: '+44 7700 900000' },
          custom: { 'Person - Phone - Home': '+44 20 7946 0999', 'Person - ID': '7' },
        },
        { last_name: 'Menabrea', email: null, alt_emails: ['luigi@home.example'] },
      ],
      [
        {
          ...{
            name: 'Second unit',
            estimated_value: 48_000,
            currency: 'GBP',
            estimated_close_date: '2026-12-31',
          },
          ...{
            point_of_contact_id: null,
            custom: { 'Deal - Contact person': 'Ada Lovelace' },
            status: 'open',
          },
        },
        { name: 'Casino floor', status: 'won', estimated_value: 15_000.5 },
      ],
    ]);
    expect(await organization.companyNames([...contacts, ...deals])).toEqual([
      'Engines Ltd',
      null,
      'Engines Ltd',
      'Bluebay, Inc.',
    ]);
  });
});
