// Links of whole organizations: exported and imported in few requests, whatever happens meanwhile.
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test';
import { join } from 'node:path';
import { type ImportService, startImportService } from '../fixtures/import/service.ts';
import type { Json } from '../support/harness.ts';
import { clientOf } from '../support/v2.ts';

const DEALS = 120;
const SLOW = 300_000;

let service: ImportService;
let asked: string[] = [];

beforeAll(async () => {
  service = await startImportService();
  const api = clientOf(service.harness);
  const make = async (resource: string, name: string): Promise<string[]> => {
    const ids: string[] = [];
    for (let count = 0; count < DEALS; count += 60) {
      const bodies = Array.from({ length: 60 }, (_, index) => ({ [name]: `${resource} ${count + index}` }));
      const { items } = (await api.post(`/${resource}/batch`, bodies)).body.data;
      ids.push(...items.map(({ data }: Json) => data.id));
    }
    return ids;
  };
  const [deals, contacts, companies] = [
    await make('deals', 'name'),
    await make('contacts', 'first_name'),
    await make('companies', 'name'),
  ];
  const links = deals.flatMap((parent_id, index) => {
    const one = { of: 'deals.contacts', parent_id, id: contacts[index] };
    const two = { ...one, id: contacts[(index + 1) % DEALS], supervisor: contacts[index] };
    return index % 2 === 0
      ? [one, two, { of: 'deals.companies', parent_id, id: companies[index] }]
      : [one, two];
  });
  for (let from = 0; from < links.length; from += 100)
    expect((await api.post('/links/batch', links.slice(from, from + 100))).body.data.summary.failed).toBe(0);
}, SLOW);
afterAll(() => service.close());
beforeEach(() => {
  asked = [];
  service.between = ({ method, path }, answer) => {
    asked.push(`${method} ${path}`);
    return answer();
  };
});

async function newKey(): Promise<string> {
  const { harness } = service;
  const { createOrganization } = await import('../../db/accounts/accounts.ts');
  const name = crypto.randomUUID();
  const org = await harness.store.write('accounts', (trx) =>
    createOrganization(trx, name, harness.clock.now),
  );
  return (await harness.issue({ orgNumber: org.number })).key;
}

/** All links by the names of both ends, which an import keeps, as their list has them. */
async function linksBy(key: string): Promise<string[]> {
  const names = new Map<string, string>();
  for (const resource of ['deals', 'contacts', 'companies'])
    for (const { id, name, first_name } of await service.all(resource, key))
      names.set(id, name ?? first_name);
  const found: string[] = [];
  for (const of of ['deals.contacts', 'deals.companies']) {
    const api = clientOf(service.harness, key);
    for (let cursor = ''; ; ) {
      const { body } = await api.get(`/links?of=${of}&limit=200${cursor}`);
      for (const { parent_id, id, supervisor } of body.data)
        found.push([of, ...[parent_id, id, supervisor].map((one) => names.get(one))].join(' '));
      if (!body.page_info.has_next_page) break;
      cursor = `&cursor=${body.page_info.end_cursor}`;
    }
  }
  return found.sort();
}

const readLinks = async (folder: string) =>
  (await service.read(`${folder}/links.ndjson`)).trimEnd().split('\n');

test(
  'leave page by page and come back a hundred at a time',
  async () => {
    const key = await newKey();
    expect((await service.crm(['export', 'all', '--out', 'whole'])).exitCode).toBe(0);
    // Two pages of the one kind, and one each of the three others.
    expect(asked.filter((one) => one === 'GET /api/v2/links')).toHaveLength(5);
    expect(asked.filter((one) => /deals\/./.test(one))).toEqual([]);
    expect(await readLinks('whole')).toHaveLength(2.5 * DEALS);
    asked = [];
    const run = await service.crm(['import', 'all', 'whole', '-o', 'json'], { key });
    expect([run.exitCode, JSON.parse(run.stdout).links]).toEqual([
      0,
      { linked: 2.5 * DEALS, rejected: 0, errors_file: null },
    ]);
    expect(run.stderr).toContain(`Importing links: ${2.5 * DEALS} of ${2.5 * DEALS} links (100%)`);
    expect(asked.filter((one) => one.includes('links'))).toEqual(Array(3).fill('POST /api/v2/links/batch'));
    expect(await linksBy(key)).toEqual(await linksBy(service.harness.v2));
  },
  SLOW,
);

test(
  'of records that are created during the export are left out, like these',
  async () => {
    const { harness } = service;
    const api = clientOf(harness);
    const [deal = ''] = await api.ids('/deals?limit=1');
    const [contact = ''] = await api.ids('/contacts?limit=1');
    let made: string[] = [];
    service.between = async ({ path }, answer) => {
      if (path === '/api/v2/notes' && made.length === 0) {
        made = [(await api.create('deals')).id, (await api.create('contacts')).id];
        const [parent_id = '', id = ''] = made;
        const items = [
          { parent_id, id },
          { parent_id, id: contact },
          { parent_id: deal, id },
        ];
        await api.post(
          '/links/batch',
          items.map((item) => ({ of: 'deals.contacts', ...item })),
        );
      }
      return answer();
    };
    expect((await service.crm(['export', 'all', '--out', 'moving'])).exitCode).toBe(0);
    expect(made).toHaveLength(2);
    const lines = await readLinks('moving');
    expect(lines).toHaveLength(2.5 * DEALS);
    for (const id of made) expect(lines.join()).not.toContain(id);
    const run = await service.crm(['import', 'all', 'moving'], { key: await newKey() });
    expect([run.exitCode, run.stderr]).toEqual([
      0,
      expect.stringContaining(`links: ${2.5 * DEALS} created\n`),
    ]);
    await api.del(`/deals/${made[0]}`);
    await api.del(`/contacts/${made[1]}`);
  },
  SLOW,
);

test(
  'come back without a supervisor that was created during the export, and the reference is counted',
  async () => {
    const api = clientOf(service.harness);
    let made = '';
    service.between = async ({ path }, answer) => {
      if (path === '/api/v2/notes' && made === '') {
        made = (await api.create('contacts')).id;
        const { body } = await api.get('/links?of=deals.contacts&limit=1');
        const [{ parent_id, id }] = body.data;
        await api.post('/links/batch', [{ of: 'deals.contacts', parent_id, id, supervisor: made }]);
      }
      return answer();
    };
    expect((await service.crm(['export', 'all', '--out', 'supervised'])).exitCode).toBe(0);
    expect((await readLinks('supervised')).filter((line) => line.includes(made))).toHaveLength(1);
    const run = await service.crm(['import', 'all', 'supervised'], { key: await newKey() });
    expect([run.exitCode, run.stderr]).toEqual([
      0,
      expect.stringContaining(`links: ${2.5 * DEALS} created\n`),
    ]);
    expect(run.stderr).toContain('1 reference left out: ');
    await api.del(`/contacts/${made}`);
  },
  SLOW,
);

test(
  'are whole where an export was killed among them, and none of the records is fetched again',
  async () => {
    await service.crm(['export', 'all', '--out', 'straight']);
    for (const at of [1, 2, 4]) {
      const out = `killed-${at}`;
      let pages = 0;
      let child: ReturnType<ImportService['start']> | undefined;
      service.between = ({ path }, answer) => {
        if (path === '/api/v2/links') pages += 1;
        if (pages === at) child?.kill('SIGTERM');
        return answer();
      };
      child = service.start(['export', 'all', '--out', out]);
      expect((await child.run).exitCode).not.toBe(0);
      asked = [];
      service.between = ({ method, path }, answer) => {
        asked.push(`${method} ${path}`);
        return answer();
      };
      expect((await service.crm(['export', 'all', '--out', out, '--resume'])).exitCode).toBe(0);
      expect(asked).not.toContain('GET /api/v2/deals');
      expect(await readLinks(out)).toEqual(await readLinks('straight'));
    }
  },
  SLOW,
);

test(
  'that cannot be made are rejected one by one, each with the field of its line',
  async () => {
    const key = await newKey();
    const target = clientOf(service.harness, key);
    let gone: Json;
    service.between = async ({ path }, answer) => {
      if (path === '/api/v2/links/batch' && gone === undefined) {
        gone = (await service.all('contacts', key)).find((one) => one.first_name === 'contacts 7');
        await target.del(`/contacts/${gone.id}`);
      }
      return answer();
    };
    const run = await service.crm(['import', 'all', 'whole', '-o', 'json'], { key });
    const { links } = JSON.parse(run.stdout);
    // It is linked to two deals, in one as another's supervisor too.
    expect([run.exitCode, links.linked, links.rejected]).toEqual([3, 2.5 * DEALS - 3, 3]);
    const lines = (await Bun.file(join(service.folder, links.errors_file)).text()).trimEnd().split('\n');
    const errors = lines.map((line) => JSON.parse(line));
    expect(errors.map(({ _path, resource, link }) => [_path, resource, link])).toEqual(
      expect.arrayContaining([['record_id', 'deals', 'contacts']]),
    );
  },
  SLOW,
);
