// The last step of quickstart: exports all contacts to a CSV file, next to the database if that is a file.
import { statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isDatabaseAddress } from '../../db/database-address.ts';
import { listRequest } from '../api/list-request.ts';
import { exportToFile } from '../export/export-resource.ts';
import { Spool } from '../export/spool.ts';
import { clientFor, type Demo } from './demo.ts';
import type { ExportMeasure } from './stats.ts';

/** Exports the contacts like `crm export contacts --format csv`. */
export async function exportContacts(demo: Demo): Promise<ExportMeasure> {
  const { screen, data, database } = demo;
  const path = join(
    database.folder,
    `${isDatabaseAddress(database.db) ? 'crm' : basename(database.db, '.db')}-contacts.csv`,
  );
  const client = clientFor(demo, database.keys.v2);
  const list = listRequest('contacts', { api: 'v2', filter: [] });
  const measure = await screen.measure({
    ...{ label: 'Export', unit: 'contacts', total: data.records.contacts.length },
    run: async (report) => {
      const onPage = (_: unknown, done: number): void => report({ done, requests: client.answered });
      const job = { client, list, look: list.look, format: 'csv', onPage } as const;
      const done = await exportToFile(job, path, await Spool.open(`${path}.crm-part`, list.name, false));
      return { done, requests: client.answered, bytes: statSync(path).size };
    },
  });
  screen.text(`  in ${path}`);
  return { ...measure, path };
}
