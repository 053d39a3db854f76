// Whole address books come in with --custom --create-missing: Google, Outlook and vCards.
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

describe('Google', () => {
  test('contacts, with several emails in a cell', async () => {
    await organization.import('contacts', 'google-contacts.csv');
    const contacts = await organization.all('contacts');
    expect(contacts).toMatchObject([
      {
        ...ADA,
        alt_emails: ['lovelace@engines.example', 'a.king@home.example', 'ada@analytical.example'],
        ...{ phone: '+44 20 7946 0000', personal_phone: '+44 7700 900000' },
        remarks: 'Land/Region geschäftlich: UK\nKategorien: Business',
        custom: {
          'Middle Name': 'King',
          Labels: 'Clients ::: * myContacts',
          'Phone 1 - Value (2)': '+44 20 7946 0001',
          'Phone 3 - Value': '+44 20 7946 0999',
        },
      },
      { first_name: 'Zürich Versicherung', phone: '0313786565' },
      { email: 'anonymous@other.example', first_name: null },
    ]);
    expect(await organization.companyNames(contacts)).toEqual(['Engines Ltd', null, null]);
  });

  test('contacts of the form before 2024, in UTF-16', async () => {
    await organization.import('contacts', 'google-contacts-older.csv');
    const contacts = await organization.all('contacts');
    expect(contacts).toMatchObject([
      { ...ADA, alt_emails: ['a.king@home.example'], custom: { Name: 'Ada Lovelace', Birthday: ' --12-10' } },
    ]);
    expect(await organization.companyNames(contacts)).toEqual(['Engines Ltd']);
  });
});

describe('Outlook', () => {
  test('contacts of the program: Job Title before Title, business before plain, mobile before home', async () => {
    await organization.import('contacts', 'outlook-contacts.csv', '--encoding', 'windows-1252');
    const contacts = await organization.all('contacts');
    expect(contacts).toMatchObject([
      {
        ...{ first_name: 'Jörg', title: 'Geschäftsführer', email: 'joerg@mueller.example' },
        alt_emails: ['jm@home.example', 'info@mueller.example'],
        ...{ phone: '+49 221 5550100', personal_phone: '+49 171 5550100', remarks: 'Preis: 1.200 €' },
        custom: {
          ...{ Title: 'Dr.', 'Primary Phone': '+49 221 5550110', 'Home Phone': '+49 221 5550199' },
          ...{ Account: 'K-1042', Birthday: '0/0/00', 'Business City': 'Köln' },
        },
      },
      { last_name: 'Straß', title: 'Frau', personal_phone: '+49 30 5550100' },
    ]);
    expect(await organization.companyNames(contacts)).toEqual(['Müller & Söhne', null]);
  });

  test('contacts of outlook.com', async () => {
    await organization.import('contacts', 'outlook-com-contacts.csv');
    const contacts = await organization.all('contacts');
    expect(contacts).toMatchObject([{ ...ADA, custom: { Title: 'Countess', Birthday: '1815-12-10' } }]);
    expect(await organization.companyNames(contacts)).toEqual(['Engines Ltd']);
  });
});

describe('vCards', () => {
  test('of versions 3 and 4', async () => {
    await organization.import('contacts', 'apple.vcf');
    const contacts = await organization.all('contacts');
    expect(contacts).toMatchObject([
      {
        ...{ ...ADA, alt_emails: ['a.king@home.example'], phone: '+44 20 7946 0000' },
        ...{ personal_phone: '+44 7700 900000', remarks: 'Wrote Note G, in 1843; see there.\nTwice.' },
        ...{ linkedin: 'https://www.linkedin.com/in/ada', twitter: 'https://twitter.com/ada' },
        custom: {
          ...{ 'Middle Name': 'King', 'Name Prefix': 'Dr.', Department: 'Research', Fax: '+44 20 7946 0002' },
          'Home Address': '1 St James’s Square\nFlat 2\nLondon\nSW1Y\nUnited Kingdom',
          ...{ Birthday: '1815-12-10', Website: 'https://ada.example', Labels: 'Clients, Friends' },
        },
      },
      { first_name: 'Bluebay, Inc.', email: 'hello@bluebay.example', phone: '+356-2555-0100' },
    ]);
    expect(Object.keys(contacts[0].custom).join()).not.toContain('PHOTO');
    expect(await organization.companyNames(contacts)).toEqual(['Engines, Ltd', null]);
  });

  test('of version 2.1', async () => {
    await organization.import('contacts', 'android.vcf');
    const contacts = await organization.all('contacts');
    expect(contacts).toMatchObject([
      {
        ...{ first_name: 'Jörg', last_name: 'Müller', email: 'joerg@mueller.example' },
        ...{ phone: '+49 221 5550100', personal_phone: '+49 171 5550100', remarks: 'Zeile 1\nZeile 2, Köln' },
      },
      { first_name: '0313786565', personal_phone: '031 378 65 65' },
    ]);
    expect(await organization.companyNames(contacts)).toEqual(['Müller & Söhne, Köln', null]);
  });
});

describe('vCards that are groups', () => {
  const card = (...lines: string[]) => ['BEGIN:VCARD', 'VERSION:3.0', ...lines, 'END:VCARD', ''].join('\r\n');
  const GROUP = card('X-ADDRESSBOOKSERVER-KIND:group', 'FN:Friends', 'N:Friends');
  const PERSON = card('FN:Al', 'N:Bo;Al;;;', 'EMAIL:al@groups.test');
  const LEFT_OUT = 'crm: 2 vCards are groups of contacts, and are left out.\n';

  test('are told and left out, however often the file is imported', async () => {
    await service.write('groups.vcf', GROUP + PERSON + GROUP);
    const args = ['import', 'contacts', 'groups.vcf'];
    const dry = await service.crm([...args, '--dry-run', '-o', 'json']);
    expect([dry.exitCode, dry.stderr]).toEqual([0, expect.stringContaining(LEFT_OUT)]);
    expect(JSON.parse(dry.stdout)).toMatchObject({ rows: 1, created: 1, rejected: 0, errors_file: null });
    const run = await service.crm(args);
    expect([run.exitCode, run.stderr]).toEqual([
      0,
      expect.stringContaining(`${LEFT_OUT}Imported 1 contact: `),
    ]);
    const again = await service.crm(args);
    expect(again.exitCode).toBe(0);
    expect(again.stderr).toContain('groups.vcf was already imported (1 created, 0 rejected).');
    expect(again.stderr).not.toContain('groups of contacts');
    const suggested = await service.crm([...args, '--suggest-map']);
    expect(Object.keys(JSON.parse(suggested.stdout))).toEqual(['Last Name', 'First Name', 'Email']);
  });

  test('do not hide what is wrong with the others', async () => {
    await service.write('wrong.vcf', `${GROUP}${card('FN:Cy', 'EMAIL:cy')}${GROUP}`);
    const run = await service.crm(['import', 'contacts', 'wrong.vcf']);
    expect([run.exitCode, run.stderr]).toEqual([3, expect.stringContaining(LEFT_OUT)]);
    expect((await service.read('wrong.vcf.errors.ndjson')).trimEnd().split('\n')).toHaveLength(1);
  });

  test('from standard input, and alone', async () => {
    const run = await service.crm(['import', 'contacts', '-'], { stdin: GROUP + GROUP });
    expect([run.exitCode, run.stderr]).toEqual([0, expect.stringContaining(LEFT_OUT)]);
  });

  test('are not where an interrupted import goes on', async () => {
    const people = (from: number) =>
      Array.from({ length: 100 }, (_, at) => card(`FN:P${from + at}`, `EMAIL:p${from + at}@going.test`)).join(
        '',
      );
    await service.write('going.vcf', GROUP + people(0) + GROUP + people(100) + GROUP + people(200));
    const args = ['import', 'contacts', 'going.vcf', '--concurrency', '1'];
    await service.killed(args, 1);
    const run = await service.crm(args);
    expect([run.exitCode, run.stderr]).toEqual([0, expect.stringContaining('3 vCards are groups')]);
    const going = (await service.all('contacts')).filter(({ email }) =>
      String(email).endsWith('@going.test'),
    );
    expect(going).toHaveLength(300);
  });
});
