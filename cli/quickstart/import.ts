// The import of quickstart: imports the demo data with the code of `crm import all`.

import { join } from 'node:path';
import { CliError, messageOf } from '../errors.ts';
import { IdMap } from '../import/all/id-map.ts';
import { importFolder } from '../import/all/import-folder.ts';
import { readImportFlags } from '../import/flags.ts';
import { JOURNAL_SUFFIX } from '../import/session/journal.ts';
import { Reporter } from '../import/session/report.ts';
import { withTemporaryFolder } from '../input/files.ts';
import { WRITABLE } from './data/types.ts';
import { clientFor, type Demo } from './demo.ts';
import { writeDemoFolder } from './folder.ts';
import type { Measure, QuickstartStats } from './stats.ts';

/** Imports records and links and stores their IDs; throws at the first rejected record. */
export function importDemo(
  demo: Demo,
): Promise<Pick<QuickstartStats, 'imported' | 'links' | 'importRequests'>> {
  return withTemporaryFolder('crm-quickstart-import-', async (folder) => {
    const exported = join(folder, 'demo');
    writeDemoFolder(exported, demo);
    const stats = await withStateIn(folder, () => importFrom(exported, demo));
    const map = new IdMap(`${exported}${JOURNAL_SUFFIX}`);
    for (const name of WRITABLE) {
      for (const { key } of demo.data.records[name]) demo.ids.set(key, map.find(name, key) ?? '');
    }
    map.close();
    return stats;
  });
}

// An import keeps its lock in the user's state folder; this one is removed with the demo.
async function withStateIn<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const { XDG_STATE_HOME: before } = process.env;
  process.env.XDG_STATE_HOME = folder;
  try {
    return await work();
  } finally {
    if (before === undefined) delete process.env.XDG_STATE_HOME;
    else process.env.XDG_STATE_HOME = before;
  }
}

async function importFrom(folder: string, { screen, url, database }: Demo) {
  const apiKey = database.keys.loader;
  let begun = { ms: 0, requests: 0 };
  const reporter = new Reporter(false, (options) => {
    begun = { ms: performance.now(), requests: client.answered };
    return screen.bar(options);
  });
  const client = clientFor({ url, screen }, apiKey, screen.hasBars ? reporter.onWait : screen.wait);
  const measured = (name: string, records: number, rejected: number, why: readonly string[]): Measure => {
    if (rejected > 0) throw new Error(`${rejected} ${name} were rejected: ${why.join()}`);
    const seconds = (performance.now() - begun.ms) / 1_000;
    const measure = { records, requests: client.answered - begun.requests, seconds };
    screen.measured('Import', name, measure);
    return measure;
  };
  const imported: Record<string, Measure> = {};
  let links: Measure = { records: 0, requests: 0, seconds: 0 };
  await importFolder({
    request: { resource: 'all', input: folder, ...readImportFlags({ yes: true }) },
    ...{ url, apiKey, client, reporter, interruption: new AbortController() },
    onFile: ({ resource, created, rejected, diagnosis }) => {
      // The pipeline already existed.
      if (resource !== 'pipelines') {
        imported[resource] = measured(resource, created, rejected, diagnosis.lines);
      }
    },
    onLinks: ({ linked, rejected }) => {
      links = measured('links', linked, rejected, []);
    },
  }).catch((error: unknown) => {
    throw new CliError(`Could not import the demo data: ${messageOf(error)}`, {
      nextSteps: ['run "crm quickstart" again, with a new database file if you use --db.'],
      cause: error,
    });
  });
  return { imported, links, importRequests: client.answered };
}
