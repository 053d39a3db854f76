// What an import advises after rejected rows: no guess comes first, every step works, and one row is spoken of as one.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { similar } from '../../cli/import/row.ts';
import { type ImportService, startImportService } from '../fixtures/import/service.ts';

let service: ImportService;

beforeAll(async () => {
  service = await startImportService();
});
afterAll(() => service.close());

const STAGES = ['Prospecting', 'Discovery', 'Proposal', 'Negotiation', 'Closed Won', 'Closed Lost'];

test.each([
  ['Nego', 'Negotiation'],
  ['negotiation/review', 'Negotiation'],
  ['Closed Lost - Price', 'Closed Lost'],
  ['Discvoery', 'Discovery'],
  ['Appointment', undefined],
  ['Closed', undefined],
  ['Pr', undefined],
])('a stage %s is like %s', (text, stage) => {
  expect(similar(text, { choices: STAGES, usual: 'Prospecting' })).toBe(stage);
});

test('a row is told all that is wrong with it, and the last step has the flags of the first', async () => {
  const rows = ['Deal Name,Stage,Amount', 'One,Nego,1', 'Two,Nego,many', 'Three,Proposal,2'];
  await service.write('deals.csv', rows.join('\n'));
  const run = await service.crm(['import', 'deals', 'deals.csv']);
  expect(run.stderr).toContain(
    '2 rows, first in line 2: stage: the pipeline "Sales" does not have a stage "Nego"',
  );
  expect(run.stderr).toContain('line 3: estimated_value: ');
  const flags = '--map-value Stage:Nego=Negotiation';
  expect(run.stderr).toContain(`Next: crm import deals deals.csv ${flags}\n`);
  expect(run.stderr).toContain(
    `Then correct the rest in deals.csv.errors.csv and run: crm import deals deals.csv.errors.csv ${flags}\n`,
  );
});

test('what cannot be kept as a custom field can be left out', async () => {
  await service.write('long.csv', `Email,Layout\na@long.test,${'x'.repeat(1_001)}\nb@long.test,short\n`);
  const run = await service.crm(['import', 'contacts', 'long.csv', '--custom']);
  expect(run.stderr).toContain('Correct it there, then run: ');
  const [, way = ''] = /Or, if that is what you want: crm (.*)/.exec(run.stderr) ?? [];
  expect(way).toBe('import contacts long.csv.errors.csv --map Layout=- --custom');
  expect((await service.crm(way.split(' '))).exitCode).toBe(0);

  const headers = Array.from({ length: 101 }, (_, at) => `Column ${at}`);
  await service.write('wide.csv', `Email,${headers}\nc@long.test,${headers}\n`);
  const wide = await service.crm(['import', 'contacts', 'wide.csv', '--custom']);
  expect(wide.stderr).toContain(
    'Or, if that is what you want: crm import contacts wide.csv --ignore-unknown\n',
  );
});

test('of rows that exist, no record is named as if it were in the way of all', async () => {
  const rows = 'Email\none@there.test\ntwo@there.test\n';
  await service.write('there.csv', rows);
  await service.write('again.csv', `${rows}\n`);
  expect((await service.crm(['import', 'contacts', 'there.csv'])).exitCode).toBe(0);
  const run = await service.crm(['import', 'contacts', 'again.csv']);
  expect(run.stderr).toContain(
    '2 rows, first in line 2: email: another contact has this email (RESOURCE_CONFLICT); ',
  );
});

test('an ID is not proposed as a name, and the columns of Attio are known', async () => {
  await service.write(
    'attio.csv',
    [
      'Record ID,Email addresses,Phone numbers',
      '0f1a2b3c-1111-4222-8333-444455556666,ada@attio.test,+44 1',
      '0f1a2b3c-1111-4222-8333-444455556667,bob@attio.test,',
    ].join('\n'),
  );
  const run = await service.crm(['import', 'contacts', 'attio.csv', '--custom']);
  expect([run.exitCode, run.stderr]).toEqual([0, expect.stringContaining('Email addresses → email')]);
  await service.write('ids.csv', 'Record ID,Score\n0f1a2b3c-1111-4222-8333-444455556666,7\n');
  const nameless = await service.crm(['import', 'contacts', 'ids.csv']);
  expect([nameless.exitCode, nameless.stderr]).toEqual([
    2,
    expect.not.stringContaining('Record ID=first_name'),
  ]);
});

test('phone numbers that are joined in a cell are taken apart, unless one would be lost', async () => {
  const rows = ['Email,Phone 1 - Value', 'a@phone.test,+1 ::: +2', 'b@phone.test,+1 ::: +2 ::: +3'];
  await service.write('phones.csv', rows.join('\n'));
  expect((await service.crm(['import', 'contacts', 'phones.csv'])).exitCode).toBe(0);
  const found = (await service.all('contacts')).filter(({ email }) => email.endsWith('@phone.test'));
  expect(found.map(({ email, phone, personal_phone }) => [email, phone, personal_phone]).toSorted()).toEqual([
    ['a@phone.test', '+1', '+2'],
    ['b@phone.test', '+1 ::: +2 ::: +3', null],
  ]);
});
