// The servers that are compared: builds of crm, and the bare ones on copies of its database.
import { cpSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

export type BuildName = 'crm' | 'before';
export type BareName = 'bare' | 'same-tables';
export type ServerName = BuildName | BareName;

/** A build of crm, with a database of its own. */
export interface Build {
  name: BuildName;
  binary: string;
  /** Where its database is, alone. */
  folder: string;
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
const TABLES = { bare: 'own', 'same-tables': 'same' } as const;
const READY_WITHIN_MS = 10_000;
const READY_POLL_MS = 2;

const children = new Set<Bun.Subprocess>();

/** Ends every server at once, for a run that is given up. */
export function killServers(): void {
  for (const child of children) child.kill('SIGKILL');
}

/** Makes a database with an organization, its users and a key. */
export function initialize(name: BuildName, binary: string, root: string): Build {
  const folder = join(root, name);
  mkdirSync(folder);
  const db = join(folder, 'crm.db');
  const run = (...args: string[]) => runCrm(binary, [...args, '--db', db]);
  const key = run('init', '--org', ORGANIZATION);
  const users = Array.from({ length: USERS }, (_, index) => {
    const user = run('users', 'create', `user${index}@bench.example`, '--org', ORGANIZATION, '-o', 'ndjson');
    return (JSON.parse(user) as { id: string }).id;
  });
  return { name, binary, folder, db, key, users };
}

/** Runs a command of crm that must succeed, with nothing else in its environment, and gives its stdout. */
export function runCrm(binary: string, args: readonly string[], env: Record<string, string> = {}): string {
  const { stdout, stderr, success } = Bun.spawnSync([binary, ...args], { env });
  if (!success) throw new Error(`${binary} ${args.join(' ')} failed: ${stderr}`);
  return stdout.toString().trim();
}

/** Serves the database of a build. */
export function serveBuild(build: Build): Promise<Running> {
  const { name, binary, db } = build;
  const port = freePort();
  const args = ['serve', '--db', db, '--port', String(port), '--log', 'off', ...NO_LIMITS];
  return start({ name, build, port }, [binary, ...args], `${db}.log`);
}

/** Serves a copy of a build's database, which nobody may be serving just then, by a bare server. */
export function serveBare(name: BareName, build: Build): Promise<Running> {
  const copy = join(build.folder, `${name}.db`);
  cpSync(build.db, copy);
  const port = freePort();
  const script = join(import.meta.dir, 'bare/server.ts');
  return start(
    { name, build, port },
    [process.execPath, script, TABLES[name], copy, String(port)],
    `${copy}.log`,
  );
}

async function start(
  server: Pick<Running, 'name' | 'build' | 'port'>,
  command: readonly string[],
  log: string,
): Promise<Running> {
  const startedAt = performance.now();
  const child = Bun.spawn([...command], { env: {}, stdio: ['ignore', 'ignore', Bun.file(log)] });
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

function freePort(): number {
  const probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data: () => undefined } });
  probe.stop(true);
  return probe.port;
}
