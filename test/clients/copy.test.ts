// The programs that keep a copy, exactly as they are printed: through deletes, links, kills, and a feed that is lost.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { RECIPES } from '../../cli/recipes/recipes.ts';
import { erasePerson } from '../../db/people/erase.ts';
import { findPerson } from '../../db/people/person.ts';
import { beginChangesEpoch } from '../../db/tables/settings.ts';
import { openApiDocument } from '../../server/openapi/document.ts';
import { listsOf, MIRRORED, MIRRORED_LINKS, type Truth } from '../support/change-mirror.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { LANGUAGES, OutsideCopy, ProgramFolder } from '../support/outside-copy.ts';
import { until } from '../support/until.ts';
import { type Client, clientOf } from '../support/v2.ts';

const ROOT = join(import.meta.dir, '../..');
const TEST_MS_MAX = 300_000;
const KILLS = 6;
// Far longer than a program that does not wait needs to fail.
const LOCKED_MS = 500;
const OPTIONS = {
  ...{ target: 'ESNext', module: 'Preserve', moduleResolution: 'bundler' },
  ...{ lib: ['ESNext', 'DOM', 'DOM.Iterable'], types: ['bun-types'] },
  ...{ strict: true, noUncheckedIndexedAccess: true, noUnusedLocals: true, noEmit: true, skipLibCheck: true },
};

let programs: ProgramFolder;
beforeAll(async () => {
  programs = await ProgramFolder.make();
}, TEST_MS_MAX);
afterAll(() => programs[Symbol.dispose]());

/** Writes of every kind, so many of each. */
async function write(api: Client, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    const company = await api.create('companies', { name: `Company ${index}` });
    const contact = await api.create('contacts', { first_name: `Contact ${index}`, company_id: company.id });
    const deal = await api.create('deals', { name: `Deal ${index}`, company_id: company.id });
    const segment = await api.create('segments', { name: `Segment ${index}`, record_type: 'contact' });
    const note = await api.create('notes', { title: `Note ${index}`, content: 'é' });
    await api.create('tasks');
    await api.create('interactions');
    await api.post(`/deals/${deal.id}/contacts`, { contact_id: contact.id });
    await api.post(`/deals/${deal.id}/companies`, { company_id: company.id });
    await api.post(`/segments/${segment.id}/members`, { record_id: contact.id });
    await api.post(`/notes/${note.id}/records`, { record_type: 'contact', record_id: contact.id });
    await api.update('contacts', contact.id, { title: 'Analyst', custom: { plan: index } });
    if (index % 3 === 0) await api.del(`/contacts/${contact.id}`);
    if (index % 3 === 1) await api.del(`/deals/${deal.id}/companies/${company.id}`);
    if (index % 3 === 2) await api.del(`/companies/${company.id}`);
  }
}

describe.each(LANGUAGES)('in %s (on this machine: %p)', (language, isHere) => {
  let harness: Harness;
  let server: Bun.Server<undefined>;
  let api: Client;
  let copy: OutsideCopy;
  let truth: Truth;
  let followed = 0;
  beforeAll(async () => {
    harness = await startHarness();
    server = Bun.serve({
      ...{ hostname: '127.0.0.1', port: 0, idleTimeout: 60 },
      fetch: async (request) => {
        const response = await harness.handle(request);
        if (request.url.includes('/changes')) followed += 1;
        return response;
      },
    });
    api = clientOf(harness);
    truth = listsOf(api);
    const { key } = await harness.issue({ scopes: MIRRORED.map((name) => `${name}:read`) });
    copy = new OutsideCopy(programs, { language, url: server.url.origin, key });
  });
  afterAll(async () => {
    await copy[Symbol.asyncDispose]();
    await server.stop(true);
    await harness.close();
  });

  test.skipIf(!isHere)(
    'it is exact, also of what changes while it is made',
    async () => {
      await write(api, 20);
      copy.start();
      await write(api, 10);
      await copy.settle(truth);
      await write(api, 3);
      await copy.settle(truth);
      for (const name of ['contacts', 'companies', 'deals', 'interactions'])
        expect([name, copy.records(name).length > 10]).toEqual([name, true]);
      for (const kind of MIRRORED_LINKS) expect([kind, copy.links(kind).length > 5]).toEqual([kind, true]);
    },
    TEST_MS_MAX,
  );

  test.skipIf(!isHere)(
    'it stays exact when a person is erased, and the log no longer says whose links are removed',
    async () => {
      const email = 'ada@copied.example';
      const contact = await api.create('contacts', { email });
      const [deal, segment] = [copy.records('deals')[0], copy.records('segments')[0]];
      const note = await api.create('notes', { title: 'About her' });
      await api.post(`/deals/${deal?.id}/contacts`, { contact_id: contact.id });
      await api.post(`/segments/${segment?.id}/members`, { record_id: contact.id });
      await api.post(`/notes/${note.id}/records`, { record_type: 'contact', record_id: contact.id });
      await copy.settle(truth);
      const links = () =>
        MIRRORED_LINKS.flatMap((kind) => copy.links(kind)).filter(({ id }) => id === contact.id);
      expect(links()).toHaveLength(3);
      const person = await findPerson(harness.store.read, harness.orgNumber, email);
      const options = { isDryRun: false, onProgress: () => undefined, finish: async () => undefined };
      await erasePerson(harness.store, person, options);
      await copy.settle(truth);
      expect(links()).toEqual([]);
    },
    TEST_MS_MAX,
  );

  test.skipIf(!isHere)(
    'it stays exact when its process is killed',
    async () => {
      for (let kill = 0; kill < KILLS; kill += 1) {
        await Promise.all([write(api, 3), Bun.sleep(100 * kill).then(() => copy.stop())]);
        copy.start();
      }
      await copy.settle(truth);
    },
    TEST_MS_MAX,
  );

  test.skipIf(!isHere)(
    'it waits while another program has its file locked',
    async () => {
      const before = followed;
      {
        using _ = copy.lock();
        await write(api, 1);
        await until(() => followed > before);
        await Bun.sleep(LOCKED_MS);
      }
      await copy.settle(truth);
    },
    TEST_MS_MAX,
  );

  test.skipIf(!isHere)(
    'it is made again when the place in the log is lost',
    async () => {
      await copy.stop();
      const [gone] = copy.records('contacts');
      await api.del(`/contacts/${gone?.id}`);
      await harness.store.write('accounts', beginChangesEpoch);
      copy.start();
      await copy.settle(truth);
      await copy.stop();
      expect(await copy.ended()).toContain('copying everything again');
    },
    TEST_MS_MAX,
  );

  test.skipIf(!isHere)(
    'it ends with what the server says if the key is not accepted',
    async () => {
      await using other = new OutsideCopy(programs, {
        language,
        url: server.url.origin,
        key: 'service_api_x',
      });
      other.start();
      expect(await other.ended()).toContain('API key');
    },
    TEST_MS_MAX,
  );
});

describe('the text', () => {
  const textOf = (name: string) => RECIPES[name]?.text ?? '';

  test('has every resource and every kind of links', () => {
    for (const name of ['copy', 'copy-python'])
      for (const one of [...MIRRORED, ...MIRRORED_LINKS])
        expect(textOf(name)).toMatch(new RegExp(`['"]${one}['"]`));
  });

  test('is the same in the manual and in the description', async () => {
    const page = await Bun.file(join(ROOT, 'cli/manual/copy.md')).text();
    const { info }: Json = await openApiDocument();
    for (const text of [page, info.description]) {
      expect(text).toContain(`\`\`\`ts\n${textOf('copy')}\`\`\`\n`);
      expect(text).toContain(`\`\`\`python\n${textOf('copy-python')}\`\`\`\n`);
    }
  });

  test(
    'compiles strictly, and is formatted',
    async () => {
      const project = { compilerOptions: OPTIONS, files: ['copy.ts'] };
      await Bun.write(join(programs.path, 'tsconfig.json'), JSON.stringify(project));
      const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
      const tsc = Bun.spawn([process.execPath, compiler, '-p', programs.path], { stdout: 'pipe' });
      expect(await tsc.stdout.text()).toBe('');
      const biome = join(ROOT, 'node_modules/.bin/biome');
      const formatted = Bun.spawn([biome, 'format', '--stdin-file-path=copy.ts'], {
        ...{ cwd: ROOT, stdin: new Blob([textOf('copy')]), stdout: 'pipe' },
      });
      expect(await formatted.stdout.text()).toBe(textOf('copy'));
    },
    TEST_MS_MAX,
  );
});
