// `crm import` from end to end: files of other programs, cells that hold more than a value, and what columns are taken for.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { type ImportService, startImportService } from '../fixtures/import/service.ts';

let service: ImportService;

beforeAll(async () => {
  service = await startImportService();
});
afterAll(() => service.close());

describe('cells of names and addresses', () => {
  test('contacts and owners: an email or an id is taken, anything else kept with --custom, else refused', async () => {
    const { alice, send } = service.harness;
    const { body } = await send('POST', '/api/v2/contacts', { body: { email: 'ada@x.test' } });
    await service.write(
      'cells.csv',
      `name,Contact,Owner\na,Ada Lovelace (ADA@x.test),${alice}\nb,Ada Lovelace,Grace Hopper\nc,ada@x.test; b@x.test,\n`,
    );
    const strict = await service.crm([
      'import',
      'deals',
      'cells.csv',
      '--dry-run',
      '--errors',
      'cells.errors.csv',
    ]);
    expect(strict.stderr).toContain('2 of 3 rows would be rejected');
    const errors = await service.read('cells.errors.csv');
    expect(errors).toContain(
      '"Ada Lovelace" is not an email; contacts are looked up by email'.replaceAll('"', '""'),
    );
    expect(errors).toContain("--map-value 'Owner:Grace Hopper=ID' (IDs: crm users list)");
    expect(errors).toContain('is more than one email; keep only one');
    expect((await service.crm(['import', 'deals', 'cells.csv', '--custom'])).exitCode).toBe(0);
    const ada = body.data.id;
    expect(await service.all('deals')).toMatchObject([
      { name: 'a', point_of_contact_id: ada, owner_id: alice, custom: {} },
      {
        name: 'b',
        point_of_contact_id: null,
        owner_id: null,
        custom: { Contact: 'Ada Lovelace', Owner: 'Grace Hopper' },
      },
      { name: 'c', point_of_contact_id: ada, custom: { Contact: 'ada@x.test; b@x.test' } },
    ]);
    const given = ['--map-value', `Owner:Grace Hopper=${alice}`, '--map', 'Contact=-', '--no-resume'];
    expect((await service.crm(['import', 'deals', 'cells.csv', ...given])).exitCode).toBe(0);
    expect((await service.all('deals')).at(-2)).toMatchObject({ name: 'b', owner_id: alice });
  });

  test('where one email is wanted, two reject the row', async () => {
    await service.write('one.csv', 'type,direction,title,Contact\nMEMO,INTERNAL,x,a@x.test ::: b@x.test\n');
    const run = await service.crm(['import', 'interactions', 'one.csv']);
    expect([run.exitCode, run.stderr]).toEqual([3, expect.stringContaining('is more than one email')]);
  });
});

test('the code of an amount is its currency, where no column has one; another one rejects the row', async () => {
  const cells = ['a,"USD 48,000.00",', 'b,"1,200.50 EUR",EUR', 'c,GBP 7,EUR', 'd,$5,'];
  await service.write('coded.csv', `Name,Amount,Currency\n${cells.join('\n')}\n`);
  const run = await service.crm(['import', 'deals', 'coded.csv']);
  const said = 'line 4: estimated_value: "GBP 7" contradicts the currency of the row, which is EUR';
  expect([run.exitCode, run.stderr]).toEqual([3, expect.stringContaining(said)]);
  expect((await service.all('deals')).slice(-3)).toMatchObject([
    { name: 'a', estimated_value: 48_000, currency: 'USD' },
    { name: 'b', estimated_value: 1200.5, currency: 'EUR' },
    { name: 'd', estimated_value: 5, currency: null },
  ]);
});

describe('--suggest-map', () => {
  test('prints nothing that a terminal would obey', async () => {
    await service.write('obeyed.csv', 'na\u009b31mme\nx\n');
    const { stdout } = await service.crm(['import', 'tasks', 'obeyed.csv', '--suggest-map']);
    expect(stdout).not.toContain('\u009b');
    expect(Object.keys(JSON.parse(stdout))).toEqual(['na\u009b31mme']);
  });

  test('prints what --map-file takes, without a key and without a request', async () => {
    await service.write(
      'suggest.csv',
      'Title,Job Title,Email,Score,OWNERID,created_at,Associated Company\nDr.,Head,s@x.test,7,005,2026-01-01,Suggest Ltd\n',
    );
    const run = await service.crm(['import', 'contacts', 'suggest.csv', '--suggest-map'], { key: '' });
    expect(run.exitCode).toBe(0);
    const map = JSON.parse(run.stdout);
    expect(map).toEqual({
      ...{ Title: 'custom.Title', 'Job Title': 'title', Email: 'email', Score: 'custom.Score' },
      ...{ OWNERID: 'custom.OWNERID', created_at: '-', 'Associated Company': 'company' },
    });
    expect(run.stderr).toBe('crm: title comes from "Job Title", but "Title" would fit too.\n');
    await service.write('map.json', run.stdout);
    const args = ['import', 'contacts', 'suggest.csv', '--map-file', 'map.json', '--create-missing'];
    expect((await service.crm(args)).exitCode).toBe(0);
    const { body } = await service.harness.send('GET', '/api/v2/contacts?email=s@x.test');
    expect(body.data[0]).toMatchObject({
      title: 'Head',
      custom: { Title: 'Dr.', Score: '7', OWNERID: '005' },
    });
  });

  test('where there are no custom fields, what is not known is left out', async () => {
    await service.write('suggest-tasks.csv', 'Subject,Fax\nx,1\n');
    const run = await service.crm(['import', 'tasks', 'suggest-tasks.csv', '--suggest-map']);
    expect(JSON.parse(run.stdout)).toEqual({ Subject: 'name', Fax: '-' });
  });
});

describe('files that are something else', () => {
  test('a workbook is named, with what to do', async () => {
    await service.write('people.xlsx', Buffer.from('PK\x03\x04\x14\x00[Content_Types].xml', 'latin1'));
    const run = await service.crm(['import', 'contacts', 'people.xlsx']);
    expect([run.exitCode, run.stderr]).toEqual([1, expect.stringContaining('is an Excel workbook (.xlsx)')]);
    expect(run.stderr).toContain('save the sheet as "CSV UTF-8"'.replace('save', 'Save'));
  });

  test('vCards are people', async () => {
    await service.write('people.vcf', 'BEGIN:VCARD\r\nVERSION:3.0\r\nFN:Ada\r\nEND:VCARD\r\n');
    const run = await service.crm(['import', 'companies', 'people.vcf', '--custom']);
    expect(run.exitCode).toBe(2);
    expect(run.stderr).toContain('Next: crm import contacts people.vcf --custom\n');
  });

  test('rejected cards go to an NDJSON file that imports by itself', async () => {
    const text = ['A', 'B'].map(
      (name) => `BEGIN:VCARD\r\nVERSION:3.0\r\nFN:${name}\r\nEMAIL:${name}@@x.test\r\nEND:VCARD\r\n`,
    );
    await service.write('bad.vcf', text.join(''));
    expect((await service.crm(['import', 'contacts', 'bad.vcf'])).exitCode).toBe(3);
    const errors = await service.read('bad.vcf.errors.ndjson');
    expect(errors).toContain(
      '{"First Name":"A","Email":"A@@x.test","_line":1,'.replace(
        '"First Name":"A","Email":"A@@x.test"',
        '"Email":"A@@x.test","First Name":"A"',
      ),
    );
    await service.write('bad.vcf.errors.ndjson', errors.replaceAll('@@', '@'));
    expect((await service.crm(['import', 'contacts', 'bad.vcf.errors.ndjson'])).exitCode).toBe(0);
  });
});

test('--custom and --ignore-unknown contradict each other, before any key is asked for', async () => {
  const args = ['import', 'contacts', 'nothing.csv', '--custom', '--ignore-unknown'];
  const run = await service.crm(args, { key: '' });
  expect([run.exitCode, run.stderr]).toEqual([
    2,
    expect.stringContaining('Use either --custom or --ignore-unknown, not both'),
  ]);
  const encoding = await service.crm(['import', 'contacts', 'nothing.csv', '--encoding', 'utf-7'], {
    key: '',
  });
  expect([encoding.exitCode, encoding.stderr]).toEqual([2, expect.stringContaining('windows-1252')]);
});

test('an errors file is read as its input was: its dates, and its decimal commas', async () => {
  await service.write(
    'comma.csv',
    'name;Amount;Close Date;Contact Email\na;"1.200,50";31/12/2026;nobody@comma.test\nb;1.200;1/2/2026;nobody@comma.test\n',
  );
  const run = await service.crm(['import', 'deals', 'comma.csv']);
  expect(run.stderr).toContain('estimated_value, read with a decimal comma');
  const retry = /then run: (crm .*)/.exec(run.stderr)?.[1] ?? '';
  expect(retry).toBe('crm import deals comma.csv.errors.csv --date-format dmy --decimal-comma');
});
