// The servers that are compared: crm on each engine, another build of it, and the bare ones on copies of its databases.
import { cpSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { freePort } from '../support/ports.ts';
import { SPARINGLY } from '../support/sparingly.ts';

export type BuildName = 'crm' | 'before' | 'crm-unlogged' | 'crm-readers' | 'crm-postgres';
export type BareName = 'bare' | 'same-tables' | 'bare-postgres';
export type ServerName = BuildName | BareName;
export type OtherName = Exclude<ServerName, 'crm'>;

/** What each server is compared with. */
export const COMPARED_WITH: Readonly<Record<OtherName, BuildName>> = {
  before: 'crm',
  'crm-unlogged': 'crm',
  'crm-readers': 'crm',
  bare: 'crm',
  'same-tables': 'crm',
  'crm-postgres': 'crm',
  'bare-postgres': 'crm-postgres',
};

export const isBuild = (name: ServerName): name is BuildName => /^(?:crm|before)/.test(name);

/** A build of crm, and how it is to serve. */
export interface Binary {
  name: BuildName;
  binary: string;
  /** More flags of `crm serve`. */
  flags?: readonly string[];
}

/** A build of crm, with a database of its own. */
export interface Build extends Binary {
  /** Of its own; its database is here, if it is a file. */
  folder: string;
  /** A path or an address. */
  db: string;
  /** A key for everything. */
  key: string;
  users: string[];
}

/** A server that answers. */
export interface Running {
  name: ServerName;
  port: number;
  pid: number;
  /** Whose database it serves, or a copy of it. */
  build: Build;
  /** Milliseconds from its start to its first answer. */
  readyAfter: number;
  /** Resolves once it has ended in good order. */
  stop(): Promise<void>;
}

const ORGANIZATION = 'Bench';
const USERS = 5;
const NO_LIMITS = ['--key-limit', '100000000', '--org-limit', '100000000'];
// On a busy machine. A server that has ended is noticed at once.
const READY_WITHIN_MS = 120_000;
const READY_POLL_MS = 2;

const children = new Set<Bun.Subprocess>();

/** Ends every server at once, for a run that is given up. */
export function killServers(): void {
  for (const child of children) child.kill('SIGKILL');
}

/** Has a process end with the servers of a run that is given up, until the function that this returns is called. */
export function killedWithServers(child: Bun.Subprocess): () => void {
  children.add(child);
  return () => children.delete(child);
}

/** The executable that is measured: that of CRM_BIN, or else dist/crm. */
export function findBinary(): string {
  return resolve(process.env.CRM_BIN ?? join(import.meta.dir, '../../dist/crm'));
}

/** Makes a database with an organization, its users and a key: in an empty one at that address, else in a file. */
export function initialize(given: Binary, root: string, address?: string): Build {
  const { name, binary } = given;
  const folder = join(root, name);
  mkdirSync(folder, { recursive: true });
  const db = address ?? join(folder, 'crm.db');
  const run = (...args: string[]) => runCrm(binary, args, environment(db));
  const key = run('init', '--org', ORGANIZATION);
  const users = Array.from({ length: USERS }, (_, index) => {
    const user = run('users', 'create', `user${index}@bench.example`, '--org', ORGANIZATION, '-o', 'ndjson');
    return (JSON.parse(user) as { id: string }).id;
  });
  return { ...given, folder, db, key, users };
}

/** Runs a command of crm that must succeed, with nothing else in its environment, and gives its stdout. */
export function runCrm(binary: string, args: readonly string[], env: Record<string, string> = {}): string {
  const { stdout, stderr, success } = Bun.spawnSync([binary, ...args], { env });
  if (!success) throw new Error(`${binary} ${args.join(' ')} failed: ${stderr}`);
  return stdout.toString().trim();
}

/** Serves the database of a build. */
export async function serveBuild(build: Build): Promise<Running> {
  const { name, binary, flags = [] } = build;
  const port = await freePort();
  return start({ name, build, port }, [
    binary,
    'serve',
    '--port',
    String(port),
    '--log',
    'off',
    ...NO_LIMITS,
    ...flags,
  ]);
}

/** Serves a copy of a build's file, which nobody may be serving just then, by a bare server. */
export async function serveBare(name: BareName, build: Build): Promise<Running> {
  const copy = join(build.folder, `${name}.db`);
  cpSync(build.db, copy);
  const script = join(import.meta.dir, 'bare/server.ts');
  const port = await freePort();
  const tables = name === 'bare' ? 'own' : 'same';
  return start({ name, build, port }, [process.execPath, script, tables, copy, String(port)]);
}

/** Serves a database of its own, a copy of a build's, by the bare server on PostgreSQL. */
export async function serveBarePostgres(build: Build, address: string): Promise<Running> {
  const script = join(import.meta.dir, 'bare/postgres-server.ts');
  const port = await freePort();
  return start({ name: 'bare-postgres', build, port }, [process.execPath, script, address, String(port)]);
}

/**
 * The environment of a command that works on a database. The password of an address is in no list of processes; one that it
 * leaves out may be in the environment.
 */
export function environment(db: string): Record<string, string> {
  const given = Object.entries(process.env).filter(([name]) => name.startsWith('PG'));
  return {
    ...SPARINGLY,
    ...Object.fromEntries(given.map(([name, value = '']) => [name, value])),
    CRM_DB: db,
  };
}

async function start(
  server: Pick<Running, 'name' | 'build' | 'port'>,
  command: readonly string[],
): Promise<Running> {
  const { name, build } = server;
  const log = join(build.folder, `${name}.log`);
  const startedAt = performance.now();
  const child = Bun.spawn([...command], {
    env: environment(build.db),
    stdio: ['ignore', 'ignore', Bun.file(log)],
  });
  children.add(child);
  while (!(await isReady(server.port))) {
    if (child.exitCode !== null || performance.now() - startedAt > READY_WITHIN_MS) {
      child.kill('SIGKILL');
      throw new Error(`${command.join(' ')} does not answer: ${await Bun.file(log).text()}`);
    }
    await Bun.sleep(READY_POLL_MS);
  }
  const stop = async () => {
    child.kill('SIGTERM');
    await child.exited;
    children.delete(child);
  };
  return { ...server, pid: child.pid, readyAfter: performance.now() - startedAt, stop };
}

async function isReady(port: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
  await answer?.arrayBuffer();
  return answer !== undefined && answer.status < 500;
}
