// The parts of quickstart that need no server: seeded choices, figures, commands to try.
import { describe, expect, spyOn, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readManifest } from '../../cli/export/manifest.ts';
import { buildDemoData } from '../../cli/quickstart/data/demo-data.ts';
import { asciiWords } from '../../cli/quickstart/data/names.ts';
import { COUNTRIES } from '../../cli/quickstart/data/places.ts';
import { createRandom } from '../../cli/quickstart/data/random.ts';
import type { Demo } from '../../cli/quickstart/demo.ts';
import { writeDemoFolder } from '../../cli/quickstart/folder.ts';
import { commandsAfterwards, commandsWhileServing } from '../../cli/quickstart/next-commands.ts';
import { removeDemoPlace } from '../../cli/quickstart/setup.ts';
import { pagesLine, perSecond, type QuickstartStats, summaryLines } from '../../cli/quickstart/stats.ts';
import { statsJson } from '../../cli/quickstart/summary.ts';
import { formatBytes, formatTime } from '../../cli/terminal/format.ts';
import { stderr } from '../../cli/terminal/streams.ts';

describe('createRandom', () => {
  const draw = (name: string) => {
    const random = createRandom(name);
    return Array.from({ length: 50 }, () => random.integer(1, 6));
  };

  test('repeats itself for the same name, and only for that', () => {
    expect(draw('dice')).toEqual(draw('dice'));
    expect(draw('dice')).not.toEqual(draw('cards'));
  });

  test('reaches both ends of a range and never leaves it', () => {
    const random = createRandom('range');
    const seen = new Set(Array.from({ length: 500 }, () => random.integer(-2, 3)));
    expect([...seen].sort((a, b) => a - b)).toEqual([-2, -1, 0, 1, 2, 3]);
  });

  test('weighs: what has no weight is never chosen, what has more is chosen more often', () => {
    const random = createRandom('weights');
    const counts = { never: 0, rarely: 0, often: 0 };
    for (let i = 0; i < 1_000; i++) {
      counts[
        random.weighted([
          ['never', 0],
          ['rarely', 1],
          ['often', 9],
        ] as const)
      ] += 1;
    }
    expect(counts.never).toBe(0);
    expect(counts.rarely).toBeGreaterThan(50);
    expect(counts.often).toBeGreaterThan(800);
    expect(() => random.weighted([['never', 0]])).toThrow('positive weight');
  });

  test('samples different items, and no more than there are', () => {
    const random = createRandom('sample');
    const items = [1, 2, 3, 4, 5];
    expect(new Set(random.sample(items, 3)).size).toBe(3);
    expect(random.sample(items, 9).sort()).toEqual(items);
    expect(items).toEqual([1, 2, 3, 4, 5]);
  });
});

describe('places and names', () => {
  test('every country is complete', () => {
    for (const country of COUNTRIES) {
      expect(country.weight).toBeGreaterThan(0);
      expect(country.currency).toMatch(/^[A-Z]{3}$/);
      expect(Intl.supportedValuesOf('currency')).toContain(country.currency);
      expect(() => new Intl.DateTimeFormat('en', { timeZone: country.timezone })).not.toThrow();
      expect(
        country.cities.length * country.forms.length * Object.keys(country.cultures).length,
      ).toBeGreaterThan(0);
    }
  });

  test.each([
    ['João da Conceição', ['joao', 'da', 'conceicao']],
    ['Łukasz Wójcik', ['lukasz', 'wojcik']],
    ["Siobhán O'Dell", ['siobhan', 'odell']],
    ['Søren Weißmann', ['soren', 'weissmann']],
    ['Eun-ji İpek', ['eun', 'ji', 'ipek']],
  ])('%s in plain letters', (name, words) => {
    expect(asciiWords(name)).toEqual(words);
  });
});

const measure = { records: 2_400, requests: 24, seconds: 0.5 };
const stats: QuickstartStats = {
  imported: { companies: { records: 300, requests: 3, seconds: 0.1 }, contacts: measure },
  links: { records: 138, requests: 138, seconds: 12.25 },
  importRequests: 167,
  ingested: { meetings: 40, recordings: 14, bookings: 20 },
  pages: { v2: { ...measure, requests: 12, bytes: 1_600_000 }, v1: { ...measure, bytes: 900_000 } },
  exported: { ...measure, bytes: 400_000, path: '/tmp/x/crm-contacts.csv' },
  seconds: 14.123_456,
};

describe('the figures', () => {
  test('fit a terminal of 40 columns and add up', () => {
    const lines = summaryLines(stats);
    expect(lines.filter((line) => line.length > 40)).toEqual([]);
    expect(lines.find((line) => line.includes('all imported'))).toMatch(/ 2,700 +0\.60 s +4,500$/);
    expect(lines.find((line) => line.includes('meetings'))).toMatch(/ 40$/);
  });

  test('come as JSON with rates', () => {
    const demo = {
      url: 'http://127.0.0.1:4000',
      docsUrl: 'http://127.0.0.1:4000/docs',
      database: {
        db: '/tmp/x/crm.db',
        shown: '/tmp/x/crm.db',
        isThrowAway: true,
        folder: '/tmp/x',
        isFolderOurs: true,
        organization: { id: 'org', name: 'Org', number: 1 },
        keys: { v1: 'a', v2: 'b', loader: 'c' },
      },
    };
    const json = statsJson(stats, demo as Demo);
    expect(json).toMatchObject({
      database: '/tmp/x/crm.db',
      keys: { v1: 'a', v2: 'b' },
      imported: { contacts: { records: 2_400, requests: 24, seconds: 0.5, rows_per_second: 4_800 } },
      pages: { v2: { requests: 12, bytes: 1_600_000 } },
      exported: { path: '/tmp/x/crm-contacts.csv', bytes: 400_000 },
      seconds: 14.123,
    });
    expect(JSON.stringify(json)).not.toContain('"c"');
  });

  test('tell pages and bytes', () => {
    expect(pagesLine(stats)).toBe(
      'Read 12 pages from v2 (1.6 MB) and 24 pages from v1 (900 kB); exported 400 kB.',
    );
  });

  test('are readable', () => {
    expect([0.0001, 0.0494, 0.0996, 12.345].map(formatTime)).toEqual(['1 ms', '49 ms', '100 ms', '12.35 s']);
    expect([999, 1_500, 1_640_000].map(formatBytes)).toEqual(['999 B', '2 kB', '1.6 MB']);
    expect(perSecond(10, 0)).toBe(10_000);
  });
});

describe('commands to try', () => {
  test('name the address, the key and the program', () => {
    const commands = commandsWhileServing('http://127.0.0.1:4000', 'service_live_x', 'dist/crm');
    expect(commands[0]).toBe('export CRM_URL=http://127.0.0.1:4000 CRM_API_KEY=service_live_x');
    expect(commands.slice(1).length).toBe(3);
    expect(commands[1]).toStartWith('dist/crm list deals');
  });

  test('serve what was kept, and start over where nothing was', () => {
    expect(commandsAfterwards('/tmp/my data/crm.db', 'crm')[0]).toBe("crm serve --db '/tmp/my data/crm.db'");
    expect(commandsAfterwards(null, 'crm')[0]).toBe('crm quickstart');
  });
});

describe('the demo as files', () => {
  test('is a folder that crm import all takes: references are keys, users have their ids', async () => {
    const parent = mkdtempSync(join(tmpdir(), 'crm-test-'));
    const folder = join(parent, 'demo');
    const data = buildDemoData(Date.parse('2026-05-13T10:00:00Z'));
    const ids = new Map(data.users.map(({ key }) => [key, `id of ${key}`]));
    writeDemoFolder(folder, { data, ids, url: 'http://127.0.0.1:4000' });
    const lines = async (name: string) =>
      (await Bun.file(join(folder, `${name}.ndjson`)).text())
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
    const [deal] = await lines('deals');
    expect(deal).toMatchObject({
      id: 'deals/0',
      owner_id: expect.stringMatching(/^id of users\/\d$/),
      company_id: expect.stringMatching(/^companies\/\d+$/),
    });
    const [pipeline] = await lines('pipelines');
    expect(pipeline.stages.map(({ id }: { id: string }) => id)).toContain(deal.stage_id);
    const links = await lines('links');
    expect(links.length).toBe(data.links.length);
    const supervised = links.find(({ supervisor }) => supervisor !== undefined);
    expect(supervised).toEqual({
      resource: 'deals',
      id: expect.stringMatching(/^deals\//),
      link: 'contacts',
      record_id: expect.stringMatching(/^contacts\//),
      supervisor: expect.stringMatching(/^contacts\//),
    });
    expect(readManifest(folder).files.length).toBe(9);
    rmSync(parent, { recursive: true });
  });
});

describe('a temporary folder', () => {
  const placeAt = (folder: string) => ({
    ...{ db: '', shown: '', isThrowAway: true },
    folder,
    isFolderOurs: true,
  });

  test('that cannot be removed at once is removed a moment later', async () => {
    const base = mkdtempSync(join(tmpdir(), 'crm-test-'));
    const way = join(base, 'way');
    symlinkSync('way', way);
    const removal = removeDemoPlace(placeAt(join(way, 'folder')));
    rmSync(way);
    mkdirSync(join(way, 'folder', 'deep'), { recursive: true });
    await removal;
    expect([existsSync(way), existsSync(join(way, 'folder'))]).toEqual([true, false]);
    rmSync(base, { recursive: true });
  });

  test('that cannot be removed at all is named, and nothing fails', async () => {
    const folder = join(tmpdir(), 'x'.repeat(300));
    const written = spyOn(stderr, 'write').mockResolvedValue();
    try {
      await removeDemoPlace(placeAt(folder));
      expect(written.mock.calls.flat().join('')).toContain(
        `could not remove the folder ${folder} (ENAMETOOLONG)`,
      );
    } finally {
      written.mockRestore();
    }
  });
});
