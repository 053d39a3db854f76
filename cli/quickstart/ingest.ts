// The read-only step of quickstart: ingests meetings, recordings and bookings from files like `crm ingest`.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { getResource } from '../../db/model/resources/registry.ts';
import { CliError } from '../errors.ts';
import { ingestFile } from '../ingest/ingest-file.ts';
import { withTemporaryFolder } from '../input/files.ts';
import { formatCount } from '../terminal/format.ts';
import { READ_ONLY, type ReadOnlyName } from './data/types.ts';
import type { Demo } from './demo.ts';
import { withIds } from './folder.ts';

/** Ingests the read-only records while the server runs; resolves with the number of each. */
export async function ingestDemo(demo: Demo): Promise<Record<string, number>> {
  const ingested: Record<string, number> = {};
  await withTemporaryFolder('crm-quickstart-ingest-', async (folder) => {
    for (const name of READ_ONLY) ingested[name] = await ingestOne(demo, name, folder);
  });
  const counts = Object.entries(ingested).map(([name, count]) => `${formatCount(count)} ${name}`);
  demo.screen.step('Ingest', `${counts.join(', ')}, from JSON files`);
  return ingested;
}

async function ingestOne({ data, ids, database }: Demo, name: ReadOnlyName, folder: string): Promise<number> {
  const file = join(folder, `${name}.json`);
  const entries = data[name].map((entry) => withIds(getResource(name), entry, (key) => ids.get(key) ?? key));
  writeFileSync(file, JSON.stringify(entries));
  const org = database.organization.id;
  const { created, faults } = await ingestFile({ resource: name, file, db: database.db, org, quiet: true });
  if (created === entries.length) return created;
  throw new CliError(`Stored only ${created} of ${entries.length} ${name} of the demo data.`, {
    nextSteps: [faults[0]?.message ?? 'run "crm quickstart" again.'],
  });
}
