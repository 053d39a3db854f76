// `crm upsert`: what it finds records by, what it does then, and what it says about that.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ndjson, Sandbox } from '../support/command.ts';

const sandbox = await Sandbox.withDatabase();
beforeAll(async () => {
  await sandbox.serveOrganization();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

interface Upserted {
  /** Of stdout. */
  record: Record<string, unknown>;
  stderr: string;
}

async function upsert(...words: string[]): Promise<Upserted> {
  const { code, stdout, stderr } = await sandbox.crm(['upsert', ...words]);
  if (code !== 0) throw new Error(`crm upsert ${words.join(' ')} ended with ${code}:\n${stderr}`);
  return { record: JSON.parse(stdout), stderr };
}

const fetch = async (resource: string, id: unknown): Promise<Record<string, unknown>> =>
  JSON.parse(await sandbox.ok(['get', resource, String(id)]));

/** What a new record of a resource needs, if it is not a name. */
const PAIRS: Record<string, string> = { contacts: 'first_name=A', notes: 'title=A' };

describe('the record', () => {
  test('is created, updated, then left unchanged, and each is said on stdout and stderr', async () => {
    const words = ['contacts', 'email=once@example.com'];
    const created = await upsert(...words, 'first_name=Ada', 'custom.plan=navy');
    const { id } = created.record;
    expect(created.record).toMatchObject({ outcome: 'created', matched_by: null, custom: { plan: 'navy' } });
    expect(created.stderr).toBe(`Created contact ${id}.\n`);
    const updated = await upsert(...words, 'title=CTO');
    expect(updated.record).toMatchObject({ id, first_name: 'Ada', outcome: 'updated', matched_by: 'email' });
    expect(updated.stderr).toBe(`Updated contact ${id} (matched by email).\n`);
    const unchanged = await upsert(...words, 'title=CTO');
    expect(unchanged.record).toMatchObject({
      id,
      outcome: 'unchanged',
      updated_at: updated.record.updated_at,
    });
    expect(unchanged.stderr).toBe(`Left contact ${id} unchanged (matched by email).\n`);
  });

  test.each(['contacts', 'companies', 'deals', 'pipelines', 'tasks', 'notes', 'segments'])(
    'of %s is found by the ID of another system',
    async (resource) => {
      const pair = PAIRS[resource] ?? 'name=A';
      const words = [resource, '--external-id', 'erp:a:1', pair];
      const { id } = (await upsert(...words)).record;
      expect((await upsert(...words)).record).toMatchObject({
        id,
        outcome: 'unchanged',
        matched_by: 'external_id',
      });
      expect(ndjson(await sandbox.ok(['list', `${resource}/${id}/external_ids`]))).toMatchObject([
        { source: 'erp', id: 'a:1' },
      ]);
    },
  );

  test('of companies is found by its domain', async () => {
    const { id } = (await upsert('companies', 'domain=found.example', 'name=Found')).record;
    expect((await upsert('companies', 'domain=https://www.Found.example/x')).record).toMatchObject({
      ...{ id, outcome: 'unchanged', matched_by: 'domain' },
    });
  });

  test('is printed in every format, with what was done', async () => {
    const words = ['upsert', 'companies', 'domain=format.example'];
    await sandbox.ok(words);
    expect(await sandbox.ok([...words, '-o', 'table'])).toMatch(/^outcome +unchanged\nmatched_by +domain$/m);
    const [header, row] = (await sandbox.ok([...words, '-o', 'csv'])).split('\n');
    expect([header, row]).toEqual([
      expect.stringMatching(/^id,.*,outcome,matched_by$/),
      expect.stringMatching(/,unchanged,domain$/),
    ]);
  });
});

describe('flags', () => {
  test('--on-match says what is written to the record that is found', async () => {
    const words = ['contacts', 'email=match@example.com'];
    const { id } = (await upsert(...words, 'title=Analyst')).record;
    const change = ['title=CTO', 'phone=1'];
    const kept = await upsert(...words, ...change, '--on-match', 'keep', '--external-id', 'erp:kept');
    expect(kept.record).toMatchObject({ id, title: 'Analyst', phone: null, outcome: 'updated' });
    const filled = await upsert(...words, ...change, '--on-match', 'fill');
    expect(filled.record).toMatchObject({ id, title: 'Analyst', phone: '1', outcome: 'updated' });
    const updated = await upsert(...words, ...change, '--on-match', 'update');
    expect(updated.record).toMatchObject({ id, title: 'CTO', outcome: 'updated' });
    expect((await upsert('contacts', '--external-id', 'erp:kept')).record).toMatchObject({ id });
  });

  test('--on-missing fail creates nothing: exit 1', async () => {
    const words = ['upsert', 'contacts', 'email=missing@example.com', '--on-missing', 'fail'];
    const { code, stdout, stderr } = await sandbox.crm(words);
    expect([code, stdout, stderr]).toEqual([1, '', expect.stringContaining('404 RESOURCE_NOT_FOUND')]);
    expect(stderr).toContain(
      'Next: Correct the values that the record is found by, or leave out --on-missing fail',
    );
    expect(await sandbox.ok(['list', 'contacts', '--filter', 'email=missing@example.com'])).toBe('');
  });

  test('--match says what the record is found by, in order', async () => {
    const one = (await upsert('contacts', 'email=order@example.com')).record;
    const two = (await upsert('contacts', '--external-id', 'erp:order', 'first_name=Two')).record;
    const both = ['upsert', 'contacts', '--external-id', 'erp:order', 'email=order@example.com'];
    // Each names another record.
    for (const [match, id] of [
      [['external_id', 'email'], one.id],
      [['email', 'external_id'], two.id],
    ] as const) {
      const { code, stderr } = await sandbox.crm([...both, ...match.flatMap((name) => ['--match', name])]);
      expect([code, stderr]).toEqual([1, expect.stringContaining('409 RESOURCE_CONFLICT')]);
      expect(stderr).toContain(`crm get contacts ${id}`);
    }
    const words = ['contacts', '--external-id', 'erp:new', 'email=order@example.com', '--match', 'email'];
    expect((await upsert(...words)).record).toMatchObject({ id: one.id, matched_by: 'email' });
  });

  test('--dry-run says what would be done, and writes nothing', async () => {
    const made = await upsert('deals', '--external-id', 'erp:dry', 'name=Dry', '--dry-run');
    expect(made.record).toMatchObject({ name: 'Dry', outcome: 'created' });
    expect(made.stderr).toBe('Would have created a deal. Nothing was written.\n');
    const { id } = (await upsert('deals', '--external-id', 'erp:dry', 'name=Wet')).record;
    const changed = await upsert('deals', '--external-id', 'erp:dry', 'name=Dry', '--dry-run');
    expect(changed.stderr).toBe(
      `Would have updated deal ${id} (matched by external_id). Nothing was written.\n`,
    );
    expect(await fetch('deals', id)).toMatchObject({ name: 'Wet' });
  });

  test('go along with -d, whose JSON the server reads as it is written', async () => {
    await sandbox.write('deal.json', ' {\n "name": "From a file" }\n');
    const file = ['deals', '-d', '@deal.json', '--external-id', 'erp:json'];
    const { id } = (await upsert(...file)).record;
    expect((await upsert('deals', '-d', '{}', '--external-id', 'erp:json')).record).toMatchObject({
      ...{ id, name: 'From a file', outcome: 'unchanged' },
    });
    const own = '{"external_id":{"source":"erp","id":"json"},"on_match":"keep","name":"x"}';
    expect((await upsert('deals', '-d', own)).record).toMatchObject({ id, outcome: 'unchanged' });
    const twice = await sandbox.crm(['upsert', 'deals', '-d', own, '--on-match', 'fill']);
    expect([twice.code, twice.stderr]).toEqual([1, expect.stringContaining('on_match')]);
  });
});

test('a key that may not read the resource gets the ID of a record that it finds, and no more', async () => {
  const key = await sandbox.ok(['keys', 'issue', '--org', 'Example', '--scopes', 'companies:write']);
  const { id } = (await upsert('companies', 'domain=blind.example', 'name=Secret')).record;
  const words = ['upsert', 'companies', 'domain=blind.example', 'city=Oslo'];
  const { code, stdout, stderr } = await sandbox.crm(words, { env: { CRM_API_KEY: key } });
  expect([code, JSON.parse(stdout)]).toEqual([0, { id, outcome: 'updated', matched_by: 'domain' }]);
  expect(stderr).toBe(`Updated company ${id} (matched by domain).\n`);
});

test.each([
  [['contacts'], 'No values given.', 'email=value'],
  [['interactions', 'title=x'], 'interactions cannot be updated.', 'created'],
  [['contacts', 'emial=x'], 'Did you mean email?', 'use one or more of'],
  [['contacts', 'email=x', '-d', '{}'], 'Use either -d or field=value, not both.', 'Remove one'],
  [['contacts', '-d', '[]'], '-d is not a JSON object.', 'crm import'],
  [['contacts', '--external-id', '7', 'title=x'], '"7" does not have the form SOURCE:ID', 'salesforce:'],
  [
    ['contacts', 'email=x', '--match', 'emial'],
    'Did you mean email?',
    '--match external_id or --match email',
  ],
  [['deals', 'name=x', '--match', 'email'], 'deals cannot be matched by "email".', 'se --match external_id.'],
  [['contacts', 'email=x', '--on-match', 'replace'], 'update, fill, keep', 'crm upsert --help'],
  [['contacts', 'email=x', '--on-missing', 'ignore'], 'create, fail', 'crm upsert --help'],
])('crm upsert %j: exit 2, before a key is looked for', async (words, said, next) => {
  const { code, stdout, stderr } = await sandbox.crm(['upsert', ...words], { env: { CRM_API_KEY: '' } });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain(said);
  expect(stderr.toLowerCase()).toContain(next.toLowerCase());
});
