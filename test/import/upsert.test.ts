// `crm import` of records that exist: matched by external ID, email or domain, and told as created, updated or unchanged.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { createNewOrganization } from '../fixtures/import/new-organization.ts';
import { type CommandChild, type ImportService, startImportService } from '../fixtures/import/service.ts';
import type { Json } from '../support/harness.ts';

let service: ImportService;

beforeAll(async () => {
  service = await startImportService();
});
afterAll(() => service.close());
beforeEach(() => {
  service.between = null;
});

const PIPEDRIVE: Record<string, string> = { organizations: 'Organization', people: 'Person', deals: 'Deal' };
const FROM_HUB = ['--external-id', 'Record ID', '--source', 'hub'];

/** Imports a file of that content; gives the figures, what stderr said, and the exit code. */
async function bringIn(resource: string, file: string, content: string, ...flags: string[]) {
  await service.write(file, content);
  const run = await service.crm(['import', resource, file, '-o', 'json', ...flags]);
  const { created, updated, unchanged, skipped, rejected } =
    run.stdout === '' ? ({} as Json) : JSON.parse(run.stdout);
  return { ...run, figures: [created, updated, unchanged, skipped, rejected] };
}

const byExternalId = async (resource: string, id: string, source = 'hub'): Promise<Json[]> =>
  (await service.harness.send('GET', `/api/v2/${resource}?external_id=${source}:${id}`)).body.data;

const create = async (resource: string, body: object, externalId?: string): Promise<string> => {
  const { send } = service.harness;
  const { id } = (await send('POST', `/api/v2/${resource}`, { body })).body.data;
  if (externalId !== undefined) {
    const external = { source: 'hub', id: externalId };
    await send('POST', `/api/v2/${resource}/${id}/external_ids`, { body: external });
  }
  return id;
};

const fetch = async (resource: string, id: string): Promise<Json> =>
  (await service.harness.send('GET', `/api/v2/${resource}/${id}`)).body.data;

describe('the same file twice changes nothing, and a corrected one just what was corrected', () => {
  const CASES: Record<string, { header: string; rows: string[]; corrected: string; changed: Json }> = {
    contacts: {
      header: 'Email,First Name,Job Title,alt_emails',
      rows: ['ada@twice.test,Ada,Analyst,ada2@twice.test', 'bob@twice.test,Bob,Builder,', ',Nameless,,'],
      corrected: 'bob@twice.test,Bob,Architect,',
      changed: { title: 'Architect' },
    },
    companies: {
      header: 'Name,Website,City',
      rows: ['One,https://www.one.test/,Rome', 'Two,two.test,Paris', 'No domain,,Oslo'],
      corrected: 'Two,two.test,Lyon',
      changed: { city: 'Lyon' },
    },
    deals: {
      header: 'Deal Name,Amount,Deal Stage',
      rows: ['Loom,100,Prospecting', 'Spindle,200,Discovery', 'Shuttle,,Closed Won'],
      corrected: 'Spindle,250,Discovery',
      changed: { estimated_value: 250 },
    },
    tasks: {
      header: 'Name,Done,Due Date',
      rows: ['Call,yes,2026-11-23T10:00:00Z', 'Write,no,', 'Call,no,'],
      corrected: 'Write,yes,',
      changed: { done: true, done_at: expect.any(String) },
    },
    notes: {
      header: 'Title,Content',
      rows: ['Minutes,"a, b"', 'Minutes,c', 'Empty,'],
      corrected: 'Minutes,d',
      changed: { content: 'd' },
    },
    segments: {
      header: 'Name,Record Type,Description',
      rows: ['VIP,contact,', 'Big,company,Large ones', 'VIP,contact,x'],
      corrected: 'Big,company,Larger ones',
      changed: { description: 'Larger ones' },
    },
    pipelines: {
      header: 'Name,Stages',
      rows: [
        `P1,"[{""name"":""New""}]"`,
        `P2,"[{""name"":""Won"",""type"":""won""}]"`,
        `P3,"[{""name"":""A""}]"`,
      ],
      corrected: `P2 renamed,"[{""name"":""Won"",""type"":""won""}]"`,
      changed: { name: 'P2 renamed' },
    },
  };

  test.each(Object.entries(CASES))('%s', async (resource, { header, rows, corrected, changed }) => {
    const csv = (lines: string[]): string =>
      [`Record ID,${header}`, ...lines.map((line, index) => `id ${index},${line}`)].join('\n');
    const stored = async () => (await service.all(resource)).slice(-rows.length);
    const file = `twice-${resource}.csv`;
    const first = await bringIn(resource, file, csv(rows), ...FROM_HUB);
    expect([first.exitCode, first.figures, first.stderr]).toEqual([0, [3, 0, 0, 0, 0], expect.any(String)]);
    expect(first.stderr).toContain('→ external ID from hub');
    const before = await stored();
    const again = await bringIn(resource, file, csv(rows), ...FROM_HUB);
    expect([again.exitCode, again.figures]).toEqual([0, [0, 0, 3, 0, 0]]);
    expect(await stored()).toEqual(before);
    expect(again.stderr).toContain('0 created, 3 unchanged, 0 rejected');
    const third = await bringIn(resource, file, csv(rows.with(1, corrected)), ...FROM_HUB);
    expect([third.exitCode, third.figures]).toEqual([0, [0, 1, 2, 0, 0]]);
    const updated = { ...before[1], ...changed, updated_at: expect.any(String) };
    expect(await stored()).toEqual(before.with(1, updated));
    expect((await stored())[1]?.updated_at).not.toBe(before[1]?.updated_at);
  });
});

describe('what the flags alone show to be wrong', () => {
  test.each([
    [
      'tasks',
      ['--external-id', 'ID'],
      '--external-id needs --source',
      'crm import tasks x.csv --external-id ID --source other-crm',
    ],
    ['tasks', ['--source', 'hub'], '--source needs --external-id', "--external-id 'Header'"],
    [
      'tasks',
      ['--external-id', 'ID', '--source', 'Hub Spot'],
      "--source 'Hub Spot' must have only the characters",
      '--source hubspot',
    ],
    ['tasks', ['--match-on', 'email'], 'needs a column of external IDs', '--external-id'],
    ['contacts', ['--match-on', 'external_id'], 'needs a column of external IDs', '--external-id'],
    ['contacts', ['--match-on', 'domain'], 'contacts are not matched on domain', 'Use --match-on email.'],
    ['contacts', ['--match-on', 'name'], 'Allowed choices are external_id, email, domain', ''],
    [
      'contacts',
      ['--match-on', 'email', '--on-duplicate', 'fail'],
      '--on-duplicate fail does not work with --match-on',
      'update, fill or skip',
    ],
    [
      'deals',
      [...FROM_HUB, '--on-duplicate', 'fail'],
      '--on-duplicate fail does not work with --external-id',
      'update, fill or skip',
    ],
    ['interactions', FROM_HUB, 'interactions do not have external IDs', 'crm import interactions x.csv\n'],
  ])('%s %p', async (resource, flags, message, next) => {
    const run = await service.crm(['import', resource, 'x.csv', ...flags]);
    expect([run.exitCode, run.stderr, run.stdout]).toEqual([2, expect.stringContaining(message), '']);
    expect(run.stderr).toContain(next);
  });

  test('a column that is not there', async () => {
    const run = await bringIn(
      'tasks',
      'column.csv',
      'record_id_2,name\n1,a\n',
      '--external-id',
      'Record ID',
      '--source',
      'hub',
    );
    expect([run.exitCode, run.stderr]).toEqual([
      2,
      expect.stringContaining('--external-id uses the column "Record ID"'),
    ]);
  });
});

describe('--on-duplicate', () => {
  let number = 0;

  /** Two rows: the first has a record, with a phone and a custom field. */
  async function imported(policy: string | null) {
    number += 1;
    const id = await create(
      'contacts',
      { first_name: 'Old', phone: '1', custom: { a: 'old' } },
      `policy ${number}`,
    );
    const rows = `policy ${number},New,2,Chief,new,b\nnew ${number},Fresh,3,,,\n`;
    const flags = [...FROM_HUB, '--custom', ...(policy === null ? [] : ['--on-duplicate', policy])];
    const run = await bringIn(
      'contacts',
      `policy${number}.csv`,
      `Record ID,First Name,Phone,Title,a,b\n${rows}`,
      ...flags,
    );
    return { ...run, record: await fetch('contacts', id) };
  }

  test.each([
    [null, [1, 1, 0, 0, 0], { first_name: 'New', phone: '2', title: 'Chief', custom: { a: 'new', b: 'b' } }],
    [
      'update',
      [1, 1, 0, 0, 0],
      { first_name: 'New', phone: '2', title: 'Chief', custom: { a: 'new', b: 'b' } },
    ],
    [
      'fill',
      [1, 1, 0, 0, 0],
      { first_name: 'Old', phone: '1', title: 'Chief', custom: { a: 'old', b: 'b' } },
    ],
    ['skip', [1, 0, 0, 1, 0], { first_name: 'Old', phone: '1', title: null, custom: { a: 'old' } }],
  ])('%s', async (policy, figures, record) => {
    const run = await imported(policy);
    expect([run.exitCode, run.figures, run.record]).toMatchObject([0, figures, record]);
  });

  test('another one for a finished file sends every row again', async () => {
    const rows = 'Record ID,Name,Description\nother 1,A,new\nother 2,B,\n';
    await create('tasks', { name: 'Old' }, 'other 1');
    const skipped = await bringIn('tasks', 'other.csv', rows, ...FROM_HUB, '--on-duplicate', 'skip');
    const filled = await bringIn('tasks', 'other.csv', rows, ...FROM_HUB, '--on-duplicate', 'fill');
    const updated = await bringIn('tasks', 'other.csv', rows, ...FROM_HUB);
    expect([skipped.figures, filled.figures, updated.figures]).toEqual([
      [1, 0, 0, 1, 0],
      [0, 1, 1, 0, 0],
      [0, 1, 1, 0, 0],
    ]);
    expect(await byExternalId('tasks', 'other 1')).toMatchObject([{ name: 'A', description: 'new' }]);
  });
});

describe('matching', () => {
  test('by email and by domain, without external IDs; a row without is rejected', async () => {
    const [contact, company] = [
      await create('contacts', { email: 'known@match.test', first_name: 'Known' }),
      await create('companies', { domain: 'match.test', name: 'Known' }),
    ];
    const people = 'email,first_name\nKNOWN@match.test,Changed\nnew@match.test,New\n,Nobody\n';
    const run = await bringIn('contacts', 'people.csv', people, '--match-on', 'email');
    expect([run.exitCode, run.figures]).toEqual([3, [1, 1, 0, 0, 1]]);
    expect(run.stderr).toContain('line 4: email: is needed to match the row (VALIDATION_REQUIRED_FIELD)');
    expect(await service.read('people.csv.errors.csv')).toContain('4,VALIDATION_REQUIRED_FIELD,email,');
    const firms = 'website,name\nhttps://www.match.test/about,Changed\n';
    expect((await bringIn('companies', 'firms.csv', firms, '--match-on', 'domain')).figures).toEqual([
      0, 1, 0, 0, 0,
    ]);
    expect([await fetch('contacts', contact), await fetch('companies', company)]).toMatchObject([
      { first_name: 'Changed' },
      { name: 'Changed' },
    ]);
  });

  test('a record that is found by email gets the external ID', async () => {
    const id = await create('contacts', { email: 'attach@match.test' });
    const rows = 'Record ID,Email,First Name\nattach,attach@match.test,A\n';
    expect(
      (await bringIn('contacts', 'attach.csv', rows, ...FROM_HUB, '--on-duplicate', 'skip')).figures,
    ).toEqual([0, 1, 0, 0, 0]);
    expect(await byExternalId('contacts', 'attach')).toMatchObject([{ id, first_name: null }]);
  });

  test('--match-on says what is compared, and in which order', async () => {
    const [one, two] = [
      await create('contacts', { email: 'one@order.test' }, 'order one'),
      await create('contacts', { email: 'two@order.test' }),
    ];
    const rows = 'Record ID,Email,First Name\norder one,two@order.test,X\n';
    const both = await bringIn('contacts', 'order.csv', rows, ...FROM_HUB);
    expect([both.exitCode, both.stderr]).toEqual([3, expect.stringContaining(`: ${two}`)]);
    const byMail = await bringIn('contacts', 'order.csv', rows, ...FROM_HUB, '--match-on', 'email');
    expect([byMail.exitCode, byMail.stderr]).toEqual([3, expect.stringContaining(`: ${one}`)]);
    expect([await fetch('contacts', one), await fetch('contacts', two)]).toMatchObject([
      { first_name: null },
      { first_name: null },
    ]);
  });

  test('a row without an external ID is rejected, and goes in by the command that stderr gives', async () => {
    const rows = 'Record ID,Name\n7,With\n,Without\n';
    const run = await bringIn('deals', 'without.csv', rows, ...FROM_HUB);
    expect([run.exitCode, run.figures]).toEqual([3, [1, 0, 0, 0, 1]]);
    expect(run.stderr).toContain('Record ID: is needed to match the row');
    expect(run.stderr).toContain(
      "crm import deals without.csv.errors.csv --external-id 'Record ID' --source hub",
    );
    const errors = await service.read('without.csv.errors.csv');
    const mended = await bringIn(
      'deals',
      'without.csv.errors.csv',
      errors.replace(',,Without', ',8,Without'),
      ...FROM_HUB,
    );
    expect([mended.exitCode, mended.figures]).toEqual([0, [1, 0, 0, 0, 0]]);
    expect(await byExternalId('deals', '8')).toMatchObject([{ name: 'Without' }]);
  });

  test('a file may have only some columns: what is required is only so for new records', async () => {
    const id = await create('deals', { name: 'Named' }, 'partial');
    const run = await bringIn(
      'deals',
      'partial.csv',
      'Record ID,Amount\npartial,5\nmissing,6\n',
      ...FROM_HUB,
    );
    expect([run.exitCode, run.figures]).toEqual([3, [0, 1, 0, 0, 1]]);
    expect(run.stderr).toContain(
      'No column maps to name, which every deal must have. Rows without a record are rejected.',
    );
    expect(run.stderr).toContain('line 3: name: is required (VALIDATION_REQUIRED_FIELD)');
    expect(await fetch('deals', id)).toMatchObject({ name: 'Named', estimated_value: 5 });
  });

  test('NDJSON, vCards and standard input', async () => {
    const ndjson = '{"id":12,"name":"Twelve"}\n{"id":"x","name":"X"}\n';
    const flags = ['--external-id', 'id', '--source', 'json'];
    expect((await bringIn('tasks', 'ids.ndjson', ndjson, ...flags)).figures).toEqual([2, 0, 0, 0, 0]);
    expect(await byExternalId('tasks', '12', 'json')).toMatchObject([{ name: 'Twelve' }]);
    for (const said of ['2 unchanged', '2 unchanged']) {
      const run = await service.crm(['import', 'tasks', '-', ...flags], { stdin: ndjson });
      expect([run.exitCode, run.stderr]).toEqual([0, expect.stringContaining(said)]);
    }
  });

  test('the column can also be kept as a custom field', async () => {
    const rows = 'Record ID,First Name\nkept,K\n';
    await bringIn('contacts', 'kept.csv', rows, ...FROM_HUB, '--map', 'Record ID=custom.hub_id');
    expect(await byExternalId('contacts', 'kept')).toMatchObject([{ custom: { hub_id: 'kept' } }]);
  });
});

describe('alternative emails', () => {
  const FLAGS = ['--on-duplicate', 'update', '--batch-size', '10'];

  test('are added to those of the contact, whichever of its emails a row has', async () => {
    const id = await create('contacts', { email: 'a@alt.test', alt_emails: ['b@alt.test'] });
    const rows = ['b@alt.test,B,c@alt.test', 'a@alt.test,A,d@alt.test', 'new@alt.test,New,A@alt.test'];
    const run = await bringIn(
      'contacts',
      'alt.csv',
      `email,first_name,alt_emails\n${rows.join('\n')}\n`,
      ...FLAGS,
    );
    expect([run.exitCode, run.figures]).toEqual([0, [0, 3, 0, 0, 0]]);
    expect(await fetch('contacts', id)).toMatchObject({
      ...{ email: 'new@alt.test', first_name: 'New' },
      alt_emails: ['b@alt.test', 'c@alt.test', 'd@alt.test', 'A@alt.test'],
    });
    const again = await bringIn(
      'contacts',
      'alt-again.csv',
      `email,first_name,alt_emails\n${rows[2]}\n`,
      ...FLAGS,
    );
    expect(again.figures).toEqual([0, 0, 1, 0, 0]);
  });

  test.each(['before', 'after'])('are added once, if the import is killed %s the change', async (when) => {
    const id = await create('contacts', { email: `a@${when}.test`, alt_emails: [`b@${when}.test`] });
    const rows = `email,first_name,alt_emails\na@${when}.test,A,c@${when}.test\nx@${when}.test,X,\n`;
    await service.write(`${when}.csv`, rows);
    const args = ['import', 'contacts', `${when}.csv`, ...FLAGS];
    let child: CommandChild | undefined;
    service.between = async ({ path }, answer) => {
      if (!path.endsWith('/batch/update')) return answer();
      if (when === 'after') await answer();
      child?.kill('SIGKILL');
      await child?.run;
      return new Response(null, { status: 503 });
    };
    child = service.start(args);
    expect((await child.run).exitCode).not.toBe(0);
    service.between = null;
    const run = await service.crm([...args, '-o', 'json']);
    const isChanged = when === 'before';
    expect([run.exitCode, JSON.parse(run.stdout)]).toMatchObject([
      0,
      { created: 1, updated: isChanged ? 1 : 0, unchanged: isChanged ? 0 : 1 },
    ]);
    expect(await fetch('contacts', id)).toMatchObject({
      ...{ first_name: 'A', alt_emails: [`b@${when}.test`, `c@${when}.test`] },
    });
  });

  test('of a contact that the key cannot read are not replaced', async () => {
    const id = await create('contacts', { email: 'a@blind.test', alt_emails: ['b@blind.test'] });
    const { key } = await service.harness.issue({ scopes: ['contacts:write'] });
    await service.write(
      'blind.csv',
      'email,first_name,alt_emails\na@blind.test,A,c@blind.test\nnew@blind.test,N,n@blind.test\n',
    );
    const run = await service.crm(['import', 'contacts', 'blind.csv', ...FLAGS], { key });
    expect([run.exitCode, run.stderr]).toEqual([3, expect.stringContaining('1 created, 1 rejected')]);
    expect(run.stderr).toContain('which the key cannot read (AUTH_INSUFFICIENT_SCOPE)');
    expect(await fetch('contacts', id)).toMatchObject({ first_name: null, alt_emails: ['b@blind.test'] });
  });
});

describe('run again', () => {
  const file = (label: string, count: number, done = 'no'): string =>
    `Record ID,name,done\n${Array.from({ length: count }, (_, index) => `${label} ${index},${label} ${index},${done}`).join('\n')}\n`;
  const stored = async (label: string): Promise<Json[]> =>
    (await service.all('tasks')).filter(({ name }) => name.startsWith(`${label} `));

  test('after kill -9 it goes on, and every row is in once', async () => {
    await service.write('killed.csv', file('killed', 50));
    const args = ['import', 'tasks', 'killed.csv', ...FROM_HUB, '--batch-size', '10', '--concurrency', '2'];
    await service.killed(args, 3);
    expect((await stored('killed')).length).toBeLessThan(50);
    const run = await service.crm([...args, '-o', 'json']);
    expect([run.exitCode, run.stderr]).toEqual([0, expect.stringContaining('Resuming after row')]);
    expect(JSON.parse(run.stdout)).toMatchObject({ rows: 50, created: 50, unchanged: 0 });
    expect((await stored('killed')).length).toBe(50);
  });

  test('with a file that changed while it was cut off, it starts again', async () => {
    await service.write('changed.csv', file('changed', 40));
    const args = ['import', 'tasks', 'changed.csv', ...FROM_HUB, '--batch-size', '10', '--concurrency', '1'];
    await service.killed(args, 2);
    await service.write('changed.csv', file('changed', 40, 'yes'));
    const run = await service.crm([...args, '-o', 'json']);
    expect(run.exitCode).toBe(0);
    const { created, updated } = JSON.parse(run.stdout);
    expect([created + updated, updated >= 10]).toEqual([40, true]);
    expect((await stored('changed')).map(({ done }) => done)).toEqual(Array(40).fill(true));
  });

  test('rejected rows: with another --map-value they alone are sent, else every row', async () => {
    const rows = 'Record ID,name,done\nv1,v 1,yes\nv2,v 2,maybe\n';
    expect((await bringIn('tasks', 'v.csv', rows, ...FROM_HUB)).figures).toEqual([1, 0, 0, 0, 1]);
    expect((await bringIn('tasks', 'v.csv', rows, ...FROM_HUB)).figures).toEqual([0, 0, 1, 0, 1]);
    expect((await service.read('v.csv.errors.csv')).split('\n').length).toBe(3);
    const value = ['--map-value', 'done:maybe=no'];
    expect((await bringIn('tasks', 'v.csv', rows, ...FROM_HUB, ...value)).figures).toEqual([1, 0, 0, 0, 0]);
    expect((await bringIn('tasks', 'v.csv', rows, ...FROM_HUB, ...value)).figures).toEqual([0, 0, 2, 0, 0]);
  });

  test('without external IDs or --match-on it is refused, and names --match-on', async () => {
    await bringIn('contacts', 'plain.csv', 'email\nplain@again.test\n', '--on-duplicate', 'update');
    const run = await bringIn(
      'contacts',
      'plain.csv',
      'email,title\nplain@again.test,T\n',
      '--on-duplicate',
      'update',
    );
    expect([run.exitCode, run.stderr]).toEqual([
      2,
      expect.stringContaining('dd --match-on email to change contacts that exist.'),
    ]);
    const matched = await bringIn(
      'contacts',
      'plain.csv',
      'email,title\nplain@again.test,T\n',
      '--match-on',
      'email',
    );
    expect([matched.exitCode, matched.figures]).toEqual([0, [0, 1, 0, 0, 0]]);
  });

  test('--quiet says nothing', async () => {
    await service.write('quiet.csv', file('quiet', 2));
    for (const _ of ['first', 'again'])
      expect(await service.crm(['import', 'tasks', 'quiet.csv', ...FROM_HUB, '--quiet'])).toEqual({
        ...{ exitCode: 0, stdout: '', stderr: '' },
      });
  });
});

test.each([
  ['hubspot', ['companies', 'contacts', 'deals'], () => 'Record ID'],
  ['pipedrive', ['organizations', 'people', 'deals'], (file: string) => `${PIPEDRIVE[file]} - ID`],
])('the exports of %s, and the same again', async (product, files, header) => {
  const organization = await createNewOrganization(service);
  await organization.pipeline('Sales Pipeline', ['Appointment Scheduled', 'Contract Sent', 'Closed Won']);
  const bringAll = async (): Promise<Json[]> => {
    const all: Json[] = [];
    for (const [at, file] of files.entries()) {
      const flags = ['--external-id', header(file), '--source', product];
      const resource = ['companies', 'contacts', 'deals'][at] ?? '';
      all.push(await organization.import(resource, `${product}-${file}.csv`, ...flags));
    }
    return all;
  };
  const first = await bringAll();
  expect(first.map(({ created, rows }) => created === rows)).toEqual([true, true, true]);
  const resources = ['companies', 'contacts', 'deals'];
  const before = await Promise.all(resources.map((resource) => organization.all(resource)));
  const again = await bringAll();
  expect(again.map(({ unchanged, rows }) => unchanged === rows)).toEqual([true, true, true]);
  expect(await Promise.all(resources.map((resource) => organization.all(resource)))).toEqual(before);
});

describe('a dry run tells what the import does', () => {
  let number = 0;

  test.each(
    ['update', 'fill', 'skip'].flatMap((policy) => [1, 2, 100].map((size) => [policy, size] as const)),
  )('--on-duplicate %s, %d rows in a batch', async (policy, size) => {
    number += 1;
    const place = `dry${number}.test`;
    await create('contacts', { email: `known@${place}`, first_name: 'Known', title: 'T' }, `${place} 1`);
    await create('contacts', { email: `mail@${place}`, first_name: 'Mail' });
    await create('contacts', { email: `other@${place}` }, `${place} other`);
    const rows = [
      [1, 'known', 'Known', ''],
      [1, 'known', 'Renamed', 'New Ltd'],
      [2, 'mail', 'Mail', 'New Ltd'],
      [3, 'new', 'New', ''],
      [3, 'new', 'Renamed', ''],
      [4, 'new', 'Of another', ''],
      [5, 'other', 'Of another', ''],
      ['', 'mail', 'By email', ''],
      ['', '', 'Nobody', ''],
      [6, 'six', 'Six', 'New Ltd'],
    ].map(([id, name, first, company]) =>
      [id && `${place} ${id}`, name && `${name}@${place}`, first, company && `${company} ${number}`].join(
        ',',
      ),
    );
    await service.write(`${place}.csv`, `Record ID,email,first_name,company\n${rows.join('\n')}\n`);
    const flags = ['--on-duplicate', policy, '--batch-size', String(size), '--create-missing', '-o', 'json'];
    const args = ['import', 'contacts', `${place}.csv`, ...FROM_HUB, ...flags, '--errors'];
    const before = [await service.all('contacts'), await service.all('companies')];
    const dry = await service.crm([...args, `${place}.dry`, '--dry-run']);
    expect([await service.all('contacts'), await service.all('companies')]).toEqual(before);
    const run = await service.crm([...args, `${place}.run`]);
    const figures = ({ stdout }: { stdout: string }): Json => ({
      ...JSON.parse(stdout),
      ...{ seconds: 0, dry_run: 0, errors_file: 0 },
    });
    expect([dry.exitCode, figures(dry)]).toEqual([run.exitCode, figures(run)]);
    const lines = async (name: string): Promise<string[]> =>
      (await service.read(name)).split('\n').map((line) => line.split(',').slice(0, 3).join());
    expect(await lines(`${place}.dry`)).toEqual(await lines(`${place}.run`));
  });
});
