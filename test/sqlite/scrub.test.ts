// Free pages are overwritten to their last byte, however many there are.
import { afterAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findBytes } from '../../db/sqlite/byte-search.ts';
import { emptyWal, freePages, scrubFreePages } from '../../db/sqlite/scrub.ts';
import { openStore } from '../../db/store.ts';

const ADDRESS = 'ada@x.org ';
// One blank row overwrites 256 of them.
const PAGES = [1, 2, 3, 5, 255, 256, 257, 600];

const folder = mkdtempSync(join(tmpdir(), 'crm-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each(PAGES)('a text of %p pages', async (pages) => {
  const path = join(folder, `${pages}.db`);
  const store = await openStore(path, { create: true });
  const value = ADDRESS.repeat((pages * 4096) / ADDRESS.length);
  await store.write('accounts', (trx) =>
    trx.insertInto('settings').values({ name: 'long', value }).execute(),
  );
  await store.write('accounts', (trx) => trx.deleteFrom('settings').where('name', '=', 'long').execute());
  expect(await freePages(store.read)).toBeGreaterThanOrEqual(pages);
  let done = 0;
  await scrubFreePages(store, (more) => {
    done += more;
  });
  expect(done).toBeGreaterThanOrEqual(pages);
  await store.close();
  emptyWal(path);
  expect(findBytes(path, [ADDRESS.trim()])).toEqual([]);
});
