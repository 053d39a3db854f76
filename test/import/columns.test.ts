// Columns that compete for a field, ids that are not ours, and all that is wrong told at once with a command that works.
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { describePlan } from '../../cli/import/plan/describe.ts';
import { cellsOf, settled } from '../../cli/import/rows/cells.ts';
import { destinations, planFor, refusal } from '../fixtures/import/plan.ts';

const OUR_ID = '019b76da-a800-7000-8000-000000000001';

describe('several columns of one field', () => {
  test.each([
    ['contacts', ['Title', 'Role', 'Job Title'], ['Job Title', 'Title', 'Role']],
    ['contacts', ['Phone Number', 'Business Phone', 'Phone'], ['Phone', 'Business Phone', 'Phone Number']],
    ['contacts', ['Home Phone', 'Mobile'], ['Mobile', 'Home Phone']],
    ['contacts', ['Email Address', 'Work email', 'Email'], ['Email', 'Work email', 'Email Address']],
    [
      'contacts',
      ['Account', 'Associated Company', 'Company Name'],
      ['Company Name', 'Associated Company', 'Account'],
    ],
    ['companies', ['Billing City', 'City'], ['City', 'Billing City']],
    ['companies', ['Website URL', 'Company Domain Name'], ['Company Domain Name', 'Website URL']],
    ['deals', ['Close Date', 'Close Date (2)'], ['Close Date', 'Close Date (2)']],
  ])('%s: of %j the order is %j', (resource, headers, order) => {
    expect(planFor(resource, headers, { custom: true }).contests.map((contest) => contest.headers)).toEqual([
      order,
    ]);
  });

  test('the order is the one that the manual gives', async () => {
    const page = await Bun.file(join(import.meta.dir, '../../cli/manual/import.md')).text();
    const lines = [...page.matchAll(/^- (companies|contacts|deals) `(\w+)`[^:\n]*: (.+)$/gm)];
    expect(lines).toHaveLength(9);
    for (const [, resource = '', slot = '', names = ''] of lines) {
      const headers = names.split(', ');
      const plan = planFor(resource, headers.toReversed(), { custom: true });
      expect(plan.contests).toEqual([{ slot: slot === 'company' ? 'company_id' : slot, headers }]);
    }
  });

  test('what --set and --map say comes first, in the order in which it is said', () => {
    const options = { custom: true, map: ['Note=title', 'Rank=title'], set: ['title=Boss'] };
    expect(planFor('contacts', ['Rank', 'Job Title', 'Note'], options).contests).toEqual([
      { slot: 'title', headers: ['--set title', 'Note', 'Rank', 'Job Title'] },
    ]);
  });

  test('further emails fill one list together, whatever their number', () => {
    const headers = ['E-mail 2 Address', 'E-mail 3 - Value', 'E-mail 12 - Value', 'Other Emails'];
    expect(planFor('contacts', headers).contests).toEqual([]);
    expect(Object.values(destinations('contacts', headers))).toEqual(headers.map(() => 'alt_emails'));
  });

  test('the first that a row fills is taken, and the others are kept', () => {
    const plan = planFor('contacts', ['Title', 'Job Title', 'Email'], { custom: true });
    const row = (title: string, jobTitle: string) => {
      const entries = Object.entries({ Title: title, 'Job Title': jobTitle, Email: 'a@x.test' });
      const { cells } = cellsOf({ line: 1, entries, original: [], fault: null }, plan);
      const { taken, others } = settled(plan.resource, cells);
      return [taken.map(({ value }) => value), others.map(({ value }) => value)];
    };
    expect(row('Dr.', 'Head')).toEqual([['Head', 'a@x.test'], ['Dr.']]);
    expect(row('Dr.', ' ')).toEqual([['Dr.', 'a@x.test'], []]);
    expect(describePlan(plan)).toContain('  Title     → title, if "Job Title" is empty, else custom.Title');
  });

  test('of many, the first three are named', () => {
    const headers = ['Name', 'Name (2)', 'Name (3)', 'Name (4)', 'Name (5)', 'Name (6)'];
    const lines = describePlan(planFor('contacts', headers, { custom: true }));
    const named = '"Name" and "Name (2)" and "Name (3)"';
    expect(lines[3]).toContain(`if ${named} are empty`);
    expect(lines[4]).toContain(`if ${named} and 1 other column are empty`);
    expect(lines[5]).toContain(`if ${named} and 2 other columns are empty`);
  });

  test('without --custom they are refused, all at once', () => {
    const { message, next } = refusal(() =>
      planFor('contacts', ['Title', 'Job Title', 'Phone', 'Work Phone']),
    );
    expect(message).toStartWith(
      'Several columns map to the same field: title from "Job Title", "Title"; phone from "Phone", "Work Phone".',
    );
    expect(next).toStartWith('crm import contacts input.csv --custom\n');
  });

  test('where nothing can be kept, the command leaves out those that come second', () => {
    const { message, next } = refusal(() => planFor('tasks', ['Subject', 'Task Name', 'Due']));
    expect(message).toContain('name from "Task Name", "Subject".');
    expect(next).toStartWith('crm import tasks input.csv --map Subject=-\n');
    const ignoring = { ignoreUnknown: true };
    expect(refusal(() => planFor('contacts', ['Title', 'Job Title'], ignoring)).next).toStartWith(
      'crm import contacts input.csv --map Title=- --ignore-unknown\n',
    );
  });
});

describe('columns of ids', () => {
  test('are taken if they have ids of ours, else they are not known', () => {
    expect(destinations('contacts', { OWNERID: [OUR_ID, 'x'], email: ['a@x.test'] })).toMatchObject({
      OWNERID: 'owner_id',
    });
    const foreign = { OWNERID: ['', '0055g000001AbCdAAK'], company_id: ['17'], email: ['a@x.test'] };
    const { message, next } = refusal(() => planFor('contacts', foreign));
    expect(message).toBe(
      '"OWNERID" (such as 0055g000001AbCdAAK), "company_id" (such as 17) do not contain IDs of this service.',
    );
    expect(next).toStartWith('crm import contacts input.csv --custom\n');
    expect(destinations('contacts', foreign, { custom: true })).toMatchObject({
      OWNERID: 'custom.OWNERID',
      company_id: 'custom.company_id',
    });
  });

  test('lists of them too, told by the first', () => {
    const base = { type: ['MEMO'], direction: ['EVENT'], title: ['T'], main_contact: [OUR_ID] };
    const lists = { contact_ids: [`${OUR_ID};${OUR_ID}`], company_ids: [JSON.stringify([OUR_ID])] };
    expect(destinations('interactions', { ...base, ...lists })).toMatchObject({
      contact_ids: 'contact_ids',
      company_ids: 'company_ids',
    });
    const { message } = refusal(() => planFor('interactions', { ...base, contact_ids: ['17; 18'] }));
    expect(message).toBe('"contact_ids" (such as 17; 18) does not contain IDs of this service.');
  });

  test('an empty one, and one that --map or --map-value speaks of, is taken as it is called', () => {
    expect(destinations('contacts', { owner_id: ['', ''], email: ['a@x.test'] }).owner_id).toBe('owner_id');
    const columns = { Owner_ID: ['7'], name: ['x'] };
    expect(destinations('companies', columns, { map: ['Owner_ID=owner_id'] }).Owner_ID).toBe('owner_id');
    expect(destinations('companies', columns, { mapValue: [`Owner_ID:7=${OUR_ID}`] }).Owner_ID).toBe(
      'owner_id',
    );
  });
});

describe('names of fields that only the server sets', () => {
  const columns = { id: ['17'], name: ['one'], created_at: ['2020-01-01'], closed_at: [''] };

  test('are read-only in an export of ours, and unknown columns in any other file', () => {
    expect(destinations('deals', { ...columns, id: [OUR_ID] })).toMatchObject({ id: '-', created_at: '-' });
    expect(refusal(() => planFor('deals', columns)).message).toBe(
      'input.csv has 3 unknown columns: "id", "created_at", "closed_at".',
    );
    expect(destinations('deals', columns, { custom: true })).toMatchObject({
      id: 'custom.id',
      created_at: 'custom.created_at',
    });
  });

  test('are kept with --custom where nothing shows whose file it is, and otherwise left out', () => {
    const { id: _, ...others } = columns;
    expect(destinations('deals', others)).toMatchObject({ created_at: '-' });
    expect(destinations('deals', others, { custom: true })).toMatchObject({
      created_at: 'custom.created_at',
    });
  });
});

describe('the status of a deal', () => {
  test('is one if all of its values are, also replaced ones', () => {
    const statuses = (...status: string[]) => ({ name: status.map(() => 'x'), 'Deal - Status': status });
    expect(destinations('deals', statuses('Open', 'Won', ' lost '))).toMatchObject({
      'Deal - Status': 'status',
    });
    expect(destinations('deals', statuses('Open', 'Deleted'), { custom: true })).toMatchObject({
      'Deal - Status': 'custom.Deal - Status',
    });
    expect(
      destinations('deals', statuses('Open', 'Deleted'), { mapValue: ['Deal - Status:Deleted=lost'] }),
    ).toMatchObject({ 'Deal - Status': 'status' });
    expect(
      destinations('deals', { id: ['17'], name: ['x'], status: ['won'] }, { custom: true }),
    ).toMatchObject({
      status: 'status',
    });
    expect(
      destinations('deals', { name: ['x'], Zustand: ['won'] }, { map: ['Zustand=status'] }),
    ).toMatchObject({
      Zustand: 'status',
    });
  });
});

describe('the whole name of a contact', () => {
  test.each(['Name', 'Full Name', 'Person - Name', 'Contact Name'])(
    'in a column %s is the first name of a file without its parts, and otherwise unknown',
    (header) => {
      expect(destinations('contacts', { [header]: ['Ada Lovelace'] })).toEqual({ [header]: 'first_name' });
      const both = { [header]: ['Ada Lovelace'], Surname: ['Lovelace'] };
      expect(refusal(() => planFor('contacts', both)).message).toBe(
        `input.csv has an unknown column: "${header}".`,
      );
      const mapped = { [header]: ['Ada Lovelace'], Vorname: ['Ada'] };
      expect(destinations('contacts', mapped, { map: ['Vorname=first_name'], custom: true })).toEqual({
        [header]: `custom.${header}`,
        Vorname: 'first_name',
      });
    },
  );

  test('is not that of companies', () => {
    expect(destinations('companies', { Name: ['Acme'] })).toEqual({ Name: 'name' });
  });
});

test('all that is wrong is reported at once, with one command that settles it', () => {
  const columns = {
    'Deal Name': ['one'],
    Title: ['two'],
    Fax: ['3'],
    OWNERID: ['005'],
    'Close Date': ['1/2/2026'],
    Amount: ['1,200'],
  };
  const { message, next, exitCode } = refusal(() => planFor('deals', columns, { isDryRun: true }));
  expect(message.split('\n')).toEqual([
    'input.csv has an unknown column: "Fax".',
    '"OWNERID" (such as 005) does not contain IDs of this service.',
    expect.stringContaining('name from "Deal Name", "Title"'),
    expect.stringContaining('are ambiguous (month/day/year or day/month/year)'),
  ]);
  expect(exitCode).toBe(2);
  expect(next.split('\n').slice(0, 2)).toEqual([
    'crm import deals input.csv --custom --date-format mdy --dry-run',
    'or use --date-format dmy, if that is right.',
  ]);
  expect(next).toContain('--ignore-unknown leaves out all unknown columns');
});

test('where no command settles it, the first step is no alternative, and neither is what else is needed', () => {
  const { next } = refusal(() => planFor('interactions', { foo: ['1'], Date: ['1/2/2026'] }));
  expect(next.split('\n').slice(0, 6)).toEqual([
    'add a column of type to the file.',
    'add a column of direction to the file.',
    'add a column of title to the file.',
    'add a column of main_contact or main_contact_email to the file.',
    'use --date-format mdy or --date-format dmy, whichever is right.',
    expect.stringMatching(/^or map a column with --map foo=FIELD, /),
  ]);
  const { next: settled } = refusal(() => planFor('tasks', { Due: ['2026-01-02'] }));
  expect(settled.split('\n').slice(0, 2)).toEqual([
    "crm import tasks input.csv --set 'name=Imported task'",
    'or add a column of name to the file.',
  ]);
});

test('--ignore-unknown leaves out what is not known', () => {
  expect(destinations('tasks', ['name', 'Fax'], { ignoreUnknown: true })).toEqual({ name: 'name', Fax: '-' });
});

test('headers with line breaks and escape characters stay in one line of what is told', () => {
  const headers = ['Email', 'Score\r\n(of ten)', 'Rank\u001b[2J'];
  expect(refusal(() => planFor('contacts', headers)).message).toBe(
    'input.csv has 2 unknown columns: "Score⏎(of ten)", "Rank␛[2J".',
  );
  const lines = describePlan(planFor('contacts', headers, { custom: true }));
  expect(lines).toHaveLength(3);
  expect(lines[1]).toMatch(/^ {2}Score⏎\(of ten\) +→ custom\.Score/);
});
