// How the command line answers before it does anything: help, version, usage errors, completion.
import { afterAll, describe, expect, test } from 'bun:test';
import { listRequest } from '../../cli/api/list-request.ts';
import type { CliError } from '../../cli/errors.ts';
import { RESOURCES } from '../../db/model/resources/registry.ts';
import { Sandbox } from '../support/command.ts';

const sandbox = new Sandbox();
afterAll(() => sandbox[Symbol.asyncDispose]());

describe('help', () => {
  test('without a command is the help, on stdout, in groups', async () => {
    const { code, stdout, stderr } = await sandbox.crm([]);
    expect(code).toBe(0);
    expect(stderr).toBe('');
    const operator = stdout.indexOf('Operator commands');
    const data = stdout.indexOf('Data commands');
    const quickstart = stdout.indexOf('quickstart');
    expect(operator).toBeGreaterThan(0);
    expect(data).toBeGreaterThan(operator);
    expect(quickstart).toBeGreaterThan(data);
    expect(stdout.slice(operator, data)).toMatch(/\n {2}serve .*\n {2}init .*\n/);
    expect(stdout.slice(data, quickstart)).toMatch(/\n {2}list .*\n/);
  });

  test.each([
    [['--help']],
    [['help', 'recipe']],
    [['keys', '--help']],
    [['help', 'list']],
    [['keys', 'issue', '--help']],
  ])('%p ends with 0 and leaves stderr empty', async (words) => {
    const { code, stdout, stderr } = await sandbox.crm(words);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toStartWith('Usage: crm');
  });

  test('of a command of a command can be asked for either way', async () => {
    expect(await sandbox.ok(['help', 'keys', 'issue'])).toBe(await sandbox.ok(['keys', 'issue', '--help']));
    expect(await sandbox.ok(['keys', 'help', 'issue'])).toBe(await sandbox.ok(['keys', 'issue', '--help']));
  });
});

describe('version', () => {
  const line = /^crm \d+\.\d+\.\d+ \(commit \w+, Bun \d+\.\d+\.\d+\)\n$/;

  test('is one line with version, commit and Bun', async () => {
    expect((await sandbox.crm(['version'])).stdout).toMatch(line);
    expect((await sandbox.crm(['--version'])).stdout).toMatch(line);
  });

  test('is an object with -o json, before or after the command', async () => {
    const after = await sandbox.ok(['version', '-o', 'json']);
    expect(await sandbox.ok(['-o', 'json', 'version'])).toBe(after);
    expect(Object.keys(JSON.parse(after))).toEqual(['version', 'commit', 'bun']);
  });

  test('is reported whatever the profile file holds', async () => {
    await sandbox.write('config/crm/config.json', '{broken');
    expect((await sandbox.crm(['version'])).code).toBe(0);
    await Bun.file(sandbox.path('config/crm/config.json')).delete();
  });
});

describe('usage errors end with 2, say what is wrong and what to do, and leave stdout empty', () => {
  test.each([
    [['nope'], 'Unknown command "crm nope".', 'crm --help'],
    [['keys', 'nope'], 'Unknown command "crm keys nope".', 'crm keys --help'],
    [['nope', '--help'], 'Unknown command "crm nope".', 'crm --help'],
    [['lisst', 'deals'], 'Unknown command "crm lisst". Did you mean list?', 'crm --help'],
    [['keys', 'isue'], 'Unknown command "crm keys isue". Did you mean issue?', 'crm keys --help'],
    [['help', 'keys', 'isue'], '"crm keys isue". Did you mean issue?', 'crm keys --help'],
    [['help', 'keys', 'nope'], 'Unknown command "crm keys nope".', 'crm keys --help'],
    [['keys', 'help', 'nope'], 'Unknown command "crm keys nope".', 'crm keys --help'],
    [
      ['keys'],
      'crm: "crm keys" needs a subcommand: issue, list, update, rotate, or revoke.',
      'crm keys --help',
    ],
    [['help', 'deals', 'list'], 'Unknown topic or command "deals list". The verb', 'crm list deals'],
    [['contct', 'list'], 'The verb comes first, then contacts.', 'crm list contacts'],
    [['list', 'deals', '-o', 'jsn'], 'table, json, ndjson, csv. Did you mean json?', 'crm list --help'],
    [['completion', 'zhs'], "Argument <shell> 'zhs' is invalid.", 'crm completion --help'],
    [['completion', 'zhs'], 'Did you mean zsh?', 'crm completion --help'],
    [['export', 'all', '--out', 'x.xlsx'], '"all" writes a folder', '--format csv'],
    [['list'], "Missing required argument 'resource'", 'crm list --help'],
    [['keys', 'revoke'], "Missing required argument 'id'", 'For example: crm keys revoke ID\n'],
    [['list', 'contacts', '--nope'], "Unknown option '--nope'", 'crm list --help'],
    [['list', 'contacts', '--limit', '0'], 'whole number of at least 1', 'crm list --help'],
    [['list', 'contacts', '--limit', '5', '--all'], 'cannot be used with', 'crm list --help'],
    [['list', 'contacts', '-o', 'xml'], 'table, json, ndjson, csv', 'crm list --help'],
    [['list', 'contacts', '--api-key', 'x'], "Unknown option '--api-key'", 'crm list --help'],
    [['list', 'contact'], 'Did you mean contacts?', 'Use one of: companies, contacts'],
    [['link', 'deals/x/external_ids', '7'], '"7" does not have the form SOURCE:ID', 'salesforce:'],
    [
      ['link', 'deals/x/external_ids', 'a:7', 'b=1'],
      'An external ID does not have fields',
      'Remove field=value',
    ],
    [['unlink', 'deals/x/external_ids'], 'source of the external ID is missing', 'SOURCE'],
    [['get', 'deals/x/external_ids'], 'is a list, not one record', 'crm list deals/x/external_ids'],
    [['list', 'meetings/x/external_ids'], 'Unknown sub-resource', 'segments/ID/external_ids'],
    [['list', 'deals/x'], 'Unknown sub-resource "deals/x"', 'deals/ID/contacts'],
    [['list', 'contacts', '--filter', 'x'], 'does not have the form key=value', 'key=value'],
    [['list', 'contacts', '--filter', 'x=1'], 'Unknown filter "x" for contacts', 'email, phone, company_id'],
    [['list', 'contacts', '--fields', 'id,x'], 'Unknown field "x"', 'id, email'],
    [['list', 'contacts', '--sort-by', 'name'], 'Cannot sort contacts by "name"', 'created_at or updated_at'],
    [['list', 'companies', '--api', 'v1'], 'API v1 cannot list companies', 'people and interactions'],
    [['list', 'contacts', '--envelope', '--all'], 'one complete page of at most 200', '--cursor'],
    [['get', 'contacts'], 'ID is missing', 'crm get contacts ID'],
    [['get', 'contacts', '..'], 'is not an ID', 'ID of a record'],
    [['create', 'contacts'], 'No values given', 'email=value'],
    [['create', 'contacts', 'nope=1'], '"nope" is not a field', 'custom.KEY'],
    [['create', 'contacts', 'id=1'], '"id" is not a field', 'email'],
    [['create', 'deals', 'name=x', 'stag_id=1'], 'Did you mean stage_id?', 'stage_id'],
    [['create', 'deals', 'name=x', 'stage_id='], 'stage_id cannot be empty.', 'crm list pipelines -o json'],
    [['create', 'deals', 'name='], 'name cannot be empty.', "name='Difference engine, second unit'"],
    [['list', 'contacts', '--limt', '3'], "'--limt'. Did you mean --limit?", 'crm list --help'],
    [['list', 'contcts'], 'Did you mean contacts?', 'Use one of: companies, contacts'],
    [['list', 'deals/x/contact'], 'Did you mean deals/ID/contacts?', 'notes/ID/records'],
    [
      ['list', 'deals', '--filter', 'stages=1'],
      'Unknown filter "stages" for deals. Did you mean stage?',
      'pipeline_id',
    ],
    [['list', 'deals', '--filter', 'stage_id='], '--filter stage_id= has no value.', 'stage_id=VALUE'],
    [['list', 'deals', '--fields', 'id,stage'], 'Unknown field "stage". Did you mean stage_id?', 'id, name'],
    [
      ['list', 'deals', '--sort-by', 'created'],
      'Did you mean created_at?',
      'created_at, updated_at, estimated_value, or estimated_close_date',
    ],
    [['audit', 'list', '--action', 'key.issue'], 'Did you mean key.issued?', 'key.issued, key.changed'],
    [['keys', 'issue', '--org', 'x', '--scopes', 'deal:read'], 'Did you mean deals:read?', 'deals:write'],
    [['recipe', 'sytemd'], 'Did you mean systemd?', 'systemd'],
    [['create', 'contacts', 'email=a@b.example', 'email=c@d.example'], 'given twice', 'once'],
    [['create', 'contacts', '-d', '[]'], 'not a JSON object', 'crm import'],
    [['create', 'contacts', '-d', '{'], 'is not valid JSON', '@FILE'],
    [['create', 'contacts', '-d', '@none.json'], 'Cannot read none.json', 'path'],
    [['create', 'contacts', 'keep_in_touch=maybe'], 'must be true or false', 'keep_in_touch=false'],
    [['create', 'companies', 'employee_count=many'], 'must be an integer', 'employee_count=250'],
    [['create', 'interactions', 'type=letter'], 'must be one of: DIRECT_MESSAGE, EMAIL', 'type=EMAIL'],
    [['create', 'tasks', 'name=x', 'due_date=2026-02-30'], 'not Unix milliseconds', '2026-03-31'],
    [['create', 'meetings', 'title=x'], 'cannot be created', 'crm ingest'],
    // Before a key is looked for, and the file.
    [['import', 'tasks', 'none.csv', '--map', 'Title'], 'does not have the form Header=field', '--map'],
    [['import', 'tasks', 'none.csv', '--map', 'Title=nope'], '"nope" is not a field', 'name, description'],
    [['import', 'deals', 'none.csv', '--map', 'Value=estimated_value*'], 'a number after', '*'],
    [['import', 'tasks', 'none.csv', '--set', 'name'], 'does not have the form field=value', '--set'],
    [
      ['import', 'tasks', 'none.csv', '--errors', './none.csv'],
      '--errors is the input itself',
      'another file',
    ],
    [
      ['import', 'segments', 'none.csv', '--custom'],
      'do not have custom fields',
      'crm import segments none.csv\n',
    ],
    [['update', 'interactions', 'x', 'title=y'], 'cannot be updated', 'listed'],
    [['delete', 'contacts', 'x'], 'Cannot ask for confirmation', '--yes'],
    [['link', 'notes/x/records', 'y'], 'type of the record', 'contact|company|deal'],
    [
      ['unlink', 'deals/x/contacts'],
      'ID of the linked record is missing',
      'crm unlink deals/x/contacts CHILD',
    ],
    [['unlink', 'meetings/x/deal', 'y'], 'does not take an ID', 'crm unlink meetings/x/deal'],
    [['export', 'contacts', '--resume'], '--resume needs an output file', '--out'],
    [['export', 'contacts', '--force'], '--force needs an output file', '--out'],
    [['export', 'all', '--out', 'x', '--force'], 'does not work with --force', 'new folder'],
    [['export', 'all'], 'needs an output folder', '--out'],
    [['export', 'all', '--out', 'x', '--format', 'json'], 'NDJSON or CSV', '--format csv'],
    [['list', 'contacts', '--url', 'localhost:4000'], 'not a valid server URL', 'http://127.0.0.1:4000'],
  ])('%p', async (words, problem, nextStep) => {
    const { code, stdout, stderr } = await sandbox.crm(words);
    expect(stderr).toContain(problem);
    expect(stderr).toMatch(/^Next: /m);
    expect(stderr.slice(stderr.indexOf('Next: '))).toContain(nextStep);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  });
});

describe('a resource before what is to be done', () => {
  test.each([
    [['deals', 'list'], 'crm list deals'],
    [['deals'], 'crm list deals'],
    [['deal', 'get', 'x'], 'crm get deals x'],
    [['-o', 'json', 'contacts', 'list', '--limit', '3'], 'crm -o json list contacts --limit 3'],
    [
      ['--db', 'postgres://u:hunter2@h/d', 'deals', 'list'],
      "crm --db 'postgres://u:(not shown)@h/d' list deals",
    ],
  ])('%p: the command as it should be', async (words, command) => {
    const { code, stderr } = await sandbox.crm(words);
    expect({ code, next: /^Next: (.*)$/m.exec(stderr)?.[1] }).toEqual({ code: 2, next: command });
    expect(stderr).not.toContain('hunter2');
  });
});

describe('what nothing is near to gets no suggestion', () => {
  test.each([
    [['qwerty']],
    [['list', 'nothing']],
    [['list', 'contacts', '--nothing']],
    [['help', 'frobnicate']],
  ])('%p', async (words) => {
    const { code, stderr } = await sandbox.crm(words);
    expect(code).toBe(2);
    expect(stderr).not.toContain('Did you mean');
  });
});

describe('a filter by id', () => {
  const refusal = async (name: string, filter: string, api: 'v1' | 'v2'): Promise<unknown> =>
    Promise.try(listRequest, name, { api, filter: [`${filter}=Proposal`] }).catch((error: unknown) => error);
  // Every one that is declared.
  const declared = RESOURCES.flatMap(({ name, filters }) =>
    Object.entries(filters).flatMap(([filter, { references }]) =>
      references.length > 0 ? [[name, filter, 'v2'] as const] : [],
    ),
  );

  test('refuses what is not an id, and says where ids are shown', async () => {
    const words = ['list', 'deals', '--filter', 'stage_id=Proposal'];
    const { code, stdout, stderr } = await sandbox.crm(words);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe(
      'crm: --filter stage_id needs the ID of a stage, and "Proposal" is not an ID.\n' +
        'Next: crm list deals --filter stage=Proposal   (takes the name)\n' +
        '      crm list pipelines -o json   (lists the IDs)\n',
    );
  });

  test.each([
    ...declared,
    ['people', 'companyId', 'v1'],
    ['people', 'owner', 'v1'],
    ['interactions', 'contactId', 'v1'],
    ['interactions', 'companyId', 'v1'],
  ] as const)('%s by %s of %s: so every one', async (name, filter, api) => {
    const error = await refusal(name, filter, api);
    expect(error).toMatchObject({
      exitCode: 2,
      message: expect.stringContaining(`--filter ${filter} needs the ID of`),
    });
    expect((error as CliError).nextSteps.join()).toMatch(/crm (list|users list)/);
  });

  test('goes out where it is one; other filters take any text', async () => {
    const id = '019b76da-a800-7000-8000-000000000001';
    for (const filter of [`stage_id=${id}`, 'status=open'])
      expect(listRequest('deals', { api: 'v2', filter: [filter] }).name).toBe('deals');
  });
});
