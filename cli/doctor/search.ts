// Compares the search index with some of the records, and has it built again.
import type { Db } from '../../db/engine/schema.ts';
import { compareIndex, rebuildIndex } from '../../db/search/check.ts';
import { countPending } from '../../db/search/pending.ts';
import type { Store } from '../../db/store.ts';
import { counted } from '../terminal/format.ts';
import { type Finding, fail, ok } from './finding.ts';

const CHECK = 'search index';

/** The finding about the search index. */
export async function checkSearch(read: Db, flag: string): Promise<Finding> {
  let [records, faulty] = [0, 0];
  for (const orgNumber of await organizationNumbers(read)) {
    const found = await compareIndex(read, orgNumber);
    records += found.records;
    faulty += found.faulty;
  }
  if (faulty > 0) {
    const found = `${counted(faulty, 'record')} of ${records} compared cannot be found by all of their words`;
    return fail(CHECK, found, `build it again, while a server runs: crm doctor --rebuild-search${flag}`);
  }
  const pending = await countPending(read);
  const behind = pending === 0 ? '' : `; ${counted(pending, 'write')} to index, which a search does first`;
  return ok(CHECK, `${counted(records, 'record')} compared${behind}`);
}

/** Begins to build the indexes of all organizations again; a server does the rest. */
export async function rebuildSearch(store: Pick<Store, 'read' | 'write'>): Promise<void> {
  for (const orgNumber of await organizationNumbers(store.read))
    await store.write(orgNumber, (trx) => rebuildIndex(trx, orgNumber));
}

async function organizationNumbers(read: Db): Promise<number[]> {
  const rows = await read.selectFrom('organizations').select('number').orderBy('number').execute();
  return rows.map(({ number }) => number);
}
