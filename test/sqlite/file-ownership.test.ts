// A file and the log beside it after a crash: those that belong together open whole, all others are refused untouched.
import { Database } from 'bun:sqlite';
import { beforeAll, expect } from 'bun:test';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Trx } from '../../db/engine/schema.ts';
import { DatabaseError, openStore, type Store } from '../../db/store.ts';
import { databasePaths } from '../support/folders.ts';
import { describe, test } from '../support/on-sqlite.ts';

const newPath = databasePaths();

/** The files as a crash would leave them, and the settings that had been acknowledged by then. */
interface Image {
  main: Buffer;
  log: Buffer;
  written: number;
}

const imageOf = (path: string, written: number): Image => ({
  main: readFileSync(path),
  log: readFileSync(`${path}-wal`),
  written,
});

const put = (store: Store, name: string, value = 'x'.repeat(50_000)) =>
  store.write('accounts', (trx: Trx) => trx.insertInto('settings').values({ name, value }).execute());

/** Puts files at a new path. */
function laid(main: Buffer | null, log: Buffer | null): string {
  const path = newPath();
  if (main !== null) writeFileSync(path, main);
  if (log !== null) writeFileSync(`${path}-wal`, log);
  return path;
}

/** Opens what lies at a path and counts what was put. */
async function opened(path: string): Promise<number> {
  const store = await openStore(path);
  const rows = await store.read.selectFrom('settings').select('name').where('name', 'like', 'n%').execute();
  await store.close();
  const file = new Database(path, { readonly: true });
  expect(Object.values(file.query('PRAGMA integrity_check').get() ?? {})).toEqual(['ok']);
  file.close();
  return rows.length;
}

async function refused(path: string): Promise<DatabaseError> {
  const files = ['', '-wal'].filter((suffix) => existsSync(path + suffix));
  const before = files.map((suffix) => readFileSync(path + suffix));
  const error = await openStore(path).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(DatabaseError);
  expect(files.map((suffix) => readFileSync(path + suffix))).toEqual(before);
  return error;
}

/** What a checkpoint leaves that ends after so many pages: SQLite writes them in the order of their numbers. */
function partlyMoved({ main, log }: Image, share: number): Buffer {
  const pageSize = log.readUInt32BE(8);
  const pages = new Map<number, Buffer>();
  let uncommitted = new Map<number, Buffer>();
  for (let at = 32; at + 24 + pageSize <= log.length; at += 24 + pageSize) {
    if (log.compare(log, 16, 24, at + 8, at + 16) !== 0) break;
    uncommitted.set(log.readUInt32BE(at), log.subarray(at + 24, at + 24 + pageSize));
    if (log.readUInt32BE(at + 4) === 0) continue;
    for (const [number, page] of uncommitted) pages.set(number, page);
    uncommitted = new Map();
  }
  const moved = [...pages].toSorted(([one], [other]) => one - other).slice(0, Math.ceil(pages.size * share));
  const last = Math.max(0, ...moved.map(([number]) => number * pageSize));
  const result = Buffer.alloc(Math.max(main.length, last));
  main.copy(result);
  for (const [number, page] of moved) page.copy(result, (number - 1) * pageSize);
  return result;
}

const WRITES = 200;
const images: Image[] = [];
let copyMade: Buffer;
let before: Buffer;
beforeAll(async () => {
  const path = newPath();
  const store = await openStore(path);
  before = readFileSync(path);
  for (let count = 1; count <= WRITES; count++) {
    await put(store, `n${count}`);
    if (count % 10 === 0) images.push(imageOf(path, count));
    if (count === WRITES - 5) {
      new Database(path).run(`VACUUM INTO '${path}.copy'`);
      copyMade = readFileSync(`${path}.copy`);
    }
  }
  await store.close();
});

describe('after a crash', () => {
  test('everything acknowledged is there, whatever had been moved into the file', async () => {
    // Several checkpoints lie between the first and the last.
    expect(new Set(images.map(({ main }) => main.readUInt32BE(60))).size).toBeGreaterThan(2);
    for (const image of images) {
      for (const share of [0, 0.001, 0.5, 1])
        expect(await opened(laid(partlyMoved(image, share), image.log))).toBe(image.written);
    }
  }, 300_000);

  test('a torn end of the log is left out', async () => {
    const { main, log } = images[3] as Image;
    for (const bytes of [5, 4_000, 30_000]) {
      const torn = Buffer.from(log);
      torn.fill(0xa5, torn.length - bytes);
      expect(await opened(laid(main, torn))).toBeGreaterThan(0);
    }
  });
});

describe('a file that replaced the one that a log belongs to', () => {
  /** Pairs of images between which something was moved into the file: one for each state of the file. */
  const states = (): [Image, Image][] => {
    // The first image of each: in the log of the last, all may be there that is in the file of the next.
    const byMark = new Map(images.toReversed().map((image) => [image.main.readUInt32BE(60), image]));
    const ones = [...byMark.values()];
    return ones.flatMap((one) =>
      ones.filter((other) => other !== one).map((other): [Image, Image] => [one, other]),
    );
  };

  test('is refused, older or newer, with the next step', async () => {
    expect(states().length).toBeGreaterThan(2);
    for (const [{ main, written }, { log }] of states()) {
      const path = laid(main, log);
      const error = await refused(path);
      expect(error.message).toContain(`${path} is not the file that ${path}-wal belongs to`);
      expect(error.nextSteps.join()).toContain(`mv ${path}-wal ${path}-wal.old`);
      renameSync(`${path}-wal`, `${path}-wal.old`);
      // Without its log it has what had been moved into it.
      expect(await opened(path)).toBeLessThanOrEqual(written);
    }
  });

  test('is refused where it is a copy that SQLite made, with its pages in another order', async () => {
    const { log } = images.at(-1) as Image;
    expect((await refused(laid(copyMade, log))).message).toContain('is not the file that');
  });

  test('is refused where it is another database', async () => {
    const path = newPath();
    await (await openStore(path)).close();
    expect((await refused(laid(readFileSync(path), images.at(-1)?.log ?? null))).message).toContain(
      'is not the file that',
    );
  });

  test('is refused where it is of another program, or a text', async () => {
    const path = newPath();
    new Database(path).run('create table recipes (name text)');
    expect((await refused(laid(readFileSync(path), images[0]?.log ?? null))).message).toContain(
      'another program',
    );
    await refused(laid(Buffer.from('name,email\n'.repeat(200)), images[0]?.log ?? null));
  });

  test('is refused where there is none, or an empty one', async () => {
    const { main, log, written } = images[0] as Image;
    for (const empty of [null, Buffer.alloc(0)]) {
      const path = laid(empty, log);
      expect((await refused(path)).message).toContain('of a database file that no longer exists');
      expect(existsSync(path)).toBe(empty !== null);
      writeFileSync(path, main);
      expect(await opened(path)).toBe(written);
    }
  });

  test('is refused where its end is missing', async () => {
    const { main, log } = images.at(-1) as Image;
    expect((await refused(laid(main.subarray(0, 40_960), log))).message).toContain('is truncated');
    await refused(laid(main.subarray(0, 40_960), null));
  });

  test('is taken with a log that holds nothing', async () => {
    expect(await opened(laid(before, Buffer.alloc(0)))).toBe(0);
    expect(await opened(laid(before, Buffer.alloc(5_000)))).toBe(0);
  });
});

test('a database of before there were marks gets one, and survives a crash right then', async () => {
  const path = newPath();
  let store = await openStore(path);
  await put(store, 'n1');
  await store.close();
  const raw = new Database(path);
  raw.run('PRAGMA user_version = 0');
  raw.close();
  store = await openStore(path);
  await put(store, 'n2');
  const image = imageOf(path, 2);
  await store.close();
  expect(image.main.readUInt32BE(60)).toBe(0);
  expect(await opened(laid(image.main, image.log))).toBe(2);
  expect(readFileSync(path).readUInt32BE(60)).toBeGreaterThan(0);
});

test('a folder with a question mark and a percent sign in its name is read as it is', async () => {
  const folder = join(newPath(), '..', 'a b?c#d%41');
  mkdirSync(folder);
  const { main, log, written } = images[0] as Image;
  writeFileSync(join(folder, 'x.db'), main);
  writeFileSync(join(folder, 'x.db-wal'), log);
  expect(await opened(join(folder, 'x.db'))).toBe(written);
});
