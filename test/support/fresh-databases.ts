// New databases for tests: files, or on the PostgreSQL server that CRM_TEST_DB names, as copies of one that was migrated.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from '../../db/store.ts';

const server = process.env.CRM_TEST_DB ?? '';
// A migrated file that a run of the suite has made for all of its processes.
const migrated = process.env.CRM_TEST_FILE ?? '';

/** Whether the tests run on PostgreSQL. */
export const isPostgres = server !== '';

// No run of the tests takes as long.
const AGE_SECONDS_MAX = 86_400;
// Any number that is always the same.
const TEMPLATE_LOCK = 731_200_417;

// Where a file has its mark, by which crm tells the logs of two files apart (`db/sqlite/main-file.ts`).
const MARK_AT = 60;
const MARK_MAX = 2 ** 30;

/** The template and how it is copied, as CREATE DATABASE takes them. */
let template: Promise<string> | null = null;
let kept: Bun.SQL | null = null;
let migratedFile: Promise<Buffer> | null = null;

/** Makes a database file with a migrated schema. */
export async function freshFile(path: string): Promise<void> {
  migratedFile ??= migrateFile();
  const file = Buffer.from(await migratedFile);
  file.writeUInt32BE(1 + Math.floor(Math.random() * MARK_MAX), MARK_AT);
  writeFileSync(path, file, { mode: 0o600 });
}

async function migrateFile(): Promise<Buffer> {
  if (migrated !== '') return readFileSync(migrated);
  const folder = mkdtempSync(join(tmpdir(), 'crm-test-'));
  try {
    const path = join(folder, 'crm.db');
    await (await openStore(path)).close();
    return readFileSync(path);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Makes a database with a migrated schema on the server, and gives its address. */
export async function freshDatabase(): Promise<string> {
  const name = nameWith(crypto.randomUUID().replaceAll('-', ''));
  await copyTemplate(name);
  return addressOf(name);
}

/** Drops a database, even while clients are connected to it. */
export async function dropDatabase(address: string): Promise<void> {
  const name = new URL(address).pathname.slice(1);
  await administrator().unsafe(`drop database if exists ${name} with (force)`);
}

const secondsNow = (): number => Math.floor(Date.now() / 1000);
const nameWith = (ending: string): string => `crm_test_${secondsNow()}_${ending}`;

function addressOf(name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

// A connection costs the server as much as a third of a new database, and each database was two of them.
function administrator(): Bun.SQL {
  kept ??= new Bun.SQL(server, { max: 1 });
  return kept;
}

async function asAdmin<T>(job: (admin: Bun.SQL) => Promise<T>): Promise<T> {
  const admin = new Bun.SQL(server, { max: 1 });
  try {
    return await job(admin);
  } finally {
    await admin.close({ timeout: 0 });
  }
}

async function copyTemplate(name: string): Promise<void> {
  // One search for all who ask at once.
  template ??= asAdmin(async (admin) => `${await findTemplate(admin)} ${await strategyOf(admin)}`);
  const copied = await template.catch((error) => {
    template = null;
    throw error;
  });
  await administrator().unsafe(`create database ${name} template ${copied}`);
}

// Half the work of the other one; before version 15 there was no other.
async function strategyOf(admin: Bun.SQL): Promise<string> {
  const [row] = await admin.unsafe("select current_setting('server_version_num')::integer as version");
  return row.version >= 150_000 ? 'strategy file_copy' : '';
}

/** The template of this schema: that of another process, or one that is made; whatever killed runs left is removed. */
async function findTemplate(admin: Bun.SQL): Promise<string> {
  const ending = `template_${await hashOfSchema()}`;
  // Until the connection is closed.
  await admin.unsafe(`select pg_advisory_lock(${TEMPLATE_LOCK})`);
  const rows: { datname: string }[] = await admin.unsafe(
    "select datname from pg_database where datname like 'crm\\_test\\_%'",
  );
  const names = rows.map(({ datname }) => datname);
  const isOld = (name: string): boolean => Number(name.split('_')[2]) < secondsNow() - AGE_SECONDS_MAX;
  for (const name of names.filter(isOld))
    await admin.unsafe(`drop database if exists ${name}`).catch(() => undefined);
  return names.find((name) => name.endsWith(ending) && !isOld(name)) ?? makeTemplate(admin, nameWith(ending));
}

async function makeTemplate(admin: Bun.SQL, name: string): Promise<string> {
  // Renamed when it is whole, so that a killed run leaves none that is not.
  const partial = nameWith('partial');
  await admin.unsafe(`create database ${partial}`);
  const store = await openStore(addressOf(partial));
  await store.close();
  await admin.unsafe(`alter database ${partial} rename to ${name}`);
  return name;
}

/** Changes with whatever the tables of a migrated database come from. */
async function hashOfSchema(): Promise<string> {
  const root = `${import.meta.dir}/../../db`;
  const paths = [...new Bun.Glob('{migrations,postgres}/*.ts').scanSync(root)].toSorted();
  const texts = await Promise.all(paths.map((path) => Bun.file(`${root}/${path}`).text()));
  return Bun.hash(texts.join()).toString(36);
}
