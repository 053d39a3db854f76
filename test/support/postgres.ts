// PostgreSQL servers of a test's own, in temporary folders and as a user who is not root; to be stopped, killed and frozen.
import {
  appendFileSync,
  chownSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './ports.ts';
import { publicFolders } from './shared-folders.ts';

// Debian keeps the server's programs off the PATH, a folder a version.
const DEBIAN = '/usr/lib/postgresql';
// The owner of a server's files where the tests run as root, which PostgreSQL refuses to.
const OWNERS = ['postgres', 'nobody'];
const START_SECONDS_MAX = 60;
// The path of a Unix socket has at most 107 bytes: this, the server's folder and the socket's name.
const PLACE_BYTES_MAX = 70;

const INITDB = ['-U', 'crm', '-A', 'trust', '-E', 'UTF8', '--no-sync'];
// What initdb made for a run of the suite: a copy of it takes a tenth of its time.
const INITIALIZED = process.env.CRM_TEST_INITDB ?? '';
const STANDBY = ['--write-recovery-conf', '--checkpoint=fast', '--no-sync'];
const FAST = {
  ...{ fsync: 'off', full_page_writes: 'off', shared_buffers: '64MB' },
  // In the server's folder: a server that is killed leaves what it has in /dev/shm, a megabyte, until the machine restarts.
  dynamic_shared_memory_type: 'mmap',
};

/** The folder of PostgreSQL's server programs, null where there is none. */
export const postgresPrograms = findPrograms();

export interface PostgresOptions {
  /** What initdb gets besides folder and superuser, such as `--locale-provider=icu`. */
  initdb?: readonly string[];
  /** Further settings of postgresql.conf. */
  settings?: Readonly<Record<string, string>>;
  /** The primary that this standby follows. */
  primary?: PostgresServer;
  /** Whether to keep what initdb made: `initialized` is its folder. */
  keepsInitialized?: boolean;
}

export type StopMode = 'fast' | 'immediate' | 'kill';

/** A server with the superuser `crm`, who needs no password, and the empty database `crm`. */
export class PostgresServer {
  /** Holds data, log and the Unix socket. */
  readonly folder: string;
  readonly port: number;
  readonly #owner: { uid: number; gid: number } | null;
  #process: Bun.Subprocess | null = null;

  private constructor(folder: string, port: number, owner: { uid: number; gid: number } | null) {
    this.folder = folder;
    this.port = port;
    this.#owner = owner;
  }

  /** Makes a server in a folder of its own and starts it. */
  static async start(options: PostgresOptions = {}): Promise<PostgresServer> {
    const { initdb = [], settings = {}, primary } = options;
    const owner = process.getuid?.() === 0 ? ownerOf() : null;
    const place = placeOf(owner !== null);
    if (place === undefined) throw new Error('no folder for temporary files that every user can enter');
    const folder = mkdtempSync(join(place, 'crm-pg-'));
    if (owner !== null) chownSync(folder, owner.uid, owner.gid);
    const server = new PostgresServer(folder, await freePort(), owner);
    const locale = initdb.length === 0 ? ['--locale=C'] : initdb;
    try {
      if (primary !== undefined) {
        const from = primary.address('postgres');
        await server.#run(program('pg_basebackup'), '-D', server.data, ...STANDBY, '-d', from);
      } else if (initdb.length === 0 && INITIALIZED !== '')
        await server.#run('cp', '-a', INITIALIZED, server.data);
      else await server.#run(program('initdb'), '-D', server.data, ...INITDB, ...locale);
      if (options.keepsInitialized) await server.#run('cp', '-a', server.data, server.initialized);
      server.configure({
        ...FAST,
        port: String(server.port),
        listen_addresses: '127.0.0.1',
        unix_socket_directories: folder,
        ...settings,
      });
      await server.start();
      if (primary === undefined) await server.sql('create database crm', 'postgres');
    } catch (error) {
      await server.close();
      throw error;
    }
    return server;
  }

  get data(): string {
    return join(this.folder, 'data');
  }

  /** What initdb made, if it was to be kept. */
  get initialized(): string {
    return join(this.folder, 'initialized');
  }

  get log(): string {
    return readFileSync(join(this.folder, 'log'), 'utf8');
  }

  /** The address of a database, as `--db` takes it. */
  address(database = 'crm', user = 'crm'): string {
    return `postgres://${user}@127.0.0.1:${this.port}/${database}`;
  }

  /** Appends to postgresql.conf; what is said last holds, from the next start or `reload` on. */
  configure(settings: Readonly<Record<string, string>>): void {
    const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`);
    appendFileSync(join(this.data, 'postgresql.conf'), lines.join(''));
  }

  /** Starts a server that was stopped; resolves once it takes connections. */
  async start(): Promise<void> {
    const log = Bun.file(join(this.folder, 'log'));
    const child = Bun.spawn([...this.#asOwner(), program('postgres'), '-D', this.data], {
      ...{ cwd: this.folder, stdin: 'ignore', stdout: 'ignore' },
      stderr: log,
    });
    this.#process = child;
    const endAt = performance.now() + START_SECONDS_MAX * 1_000;
    while (!(await this.#isReady())) {
      if (child.exitCode !== null || performance.now() > endAt) throw new Error(`no server: ${this.log}`);
      await Bun.sleep(20);
    }
  }

  /** Ends the server; `kill` takes all of its processes at once, as a crash does. */
  async stop(mode: StopMode = 'fast'): Promise<void> {
    const child = this.#process;
    if (child === null) return;
    if (mode === 'kill') await this.#kill(child);
    else child.kill(mode === 'fast' ? 'SIGINT' : 'SIGQUIT');
    await child.exited;
    this.#process = null;
  }

  /** Stops all of its processes where they are: connections stay open and nothing answers. */
  freeze(): void {
    for (const pid of this.#pids()) signal(pid, 'SIGSTOP');
  }

  /** Makes a standby the primary. */
  async promote(): Promise<void> {
    await this.sql('select pg_promote()', 'postgres');
  }

  /** Lets frozen processes go on. */
  thaw(): void {
    for (const pid of this.#pids()) signal(pid, 'SIGCONT');
  }

  /** Reads its configuration again. */
  reload(): void {
    this.#process?.kill('SIGHUP');
  }

  /** Runs a statement as the superuser. */
  async sql(text: string, database = 'crm'): Promise<Record<string, unknown>[]> {
    const client = new Bun.SQL(this.address(database), { max: 1 });
    try {
      return await client.unsafe(text);
    } finally {
      await client.close({ timeout: 0 });
    }
  }

  /** Ends the server, frozen or not, and removes its folder. */
  async close(): Promise<void> {
    await this.stop('kill');
    rmSync(this.folder, { recursive: true, force: true });
  }

  // No server can be started there before the last of them has let go of the memory that they share.
  async #kill(child: Bun.Subprocess): Promise<void> {
    // So that it makes no more of them.
    signal(child.pid, 'SIGSTOP');
    const pids = this.#pids();
    for (const pid of pids) signal(pid, 'SIGKILL');
    while (pids.some((pid) => pid !== child.pid && isAlive(pid))) await Bun.sleep(5);
  }

  // The first process and those that it made.
  #pids(): number[] {
    const first = this.#process?.pid;
    if (first === undefined) return [];
    const parents = readdirSync('/proc').filter((name) => /^\d+$/.test(name) && parentOf(name) === first);
    return [first, ...parents.map(Number)];
  }

  async #isReady(): Promise<boolean> {
    const { folder, port } = this;
    const asked = Bun.spawn([program('pg_isready'), '-q', '-h', folder, '-p', String(port), '-t', '2']);
    return (await asked.exited) === 0;
  }

  async #run(path: string, ...args: readonly string[]): Promise<void> {
    const command = [...this.#asOwner(), path, ...args];
    const child = Bun.spawn(command, { cwd: this.folder, stdout: 'ignore', stderr: 'pipe' });
    const said = await child.stderr.text();
    if ((await child.exited) !== 0) throw new Error(`${path} failed: ${said}`);
  }

  // Whatever becomes of the tests, the server ends with them.
  #asOwner(): string[] {
    const setpriv = Bun.which('setpriv');
    if (setpriv === null) return [];
    const owner = this.#owner;
    const rights = owner && [`--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups'];
    return [setpriv, '--pdeathsig=INT', ...(rights ?? [])];
  }
}

function program(name: string): string {
  return join(postgresPrograms ?? '', name);
}

function findPrograms(): string | null {
  let versions: string[] = [];
  try {
    versions = readdirSync(DEBIAN).sort((a, b) => Number(b) - Number(a));
  } catch {
    // It is no Debian, or has none.
  }
  const folders = [...versions.map((version) => join(DEBIAN, version, 'bin')), ...pathFolders()];
  const found = folders.find((folder) => Bun.which('initdb', { PATH: folder }) !== null);
  // Root can neither run it nor, without setpriv and a place for the files, have somebody run it who can.
  const isRoot = process.getuid?.() === 0;
  const isRunnable = !isRoot || (Bun.which('setpriv') !== null && placeOf(true) !== undefined);
  return isRunnable ? (found ?? null) : null;
}

function pathFolders(): string[] {
  return (process.env.PATH ?? '').split(':').filter((folder) => folder !== '');
}

function ownerOf(): { uid: number; gid: number } {
  const accounts = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .map((line) => line.split(':'));
  for (const owner of OWNERS) {
    const account = accounts.find(([name]) => name === owner);
    if (account !== undefined) return { uid: Number(account[2]), gid: Number(account[3]) };
  }
  throw new Error(`no user ${OWNERS.join(' or ')} to run PostgreSQL`);
}

/** The folder for temporary files or, where its owner could not enter it or a socket's path is too long, another one. */
function placeOf(isOwnedByOther: boolean): string | undefined {
  const places = isOwnedByOther ? publicFolders() : [realpathSync(tmpdir()), ...publicFolders()];
  return places.find((place) => Buffer.byteLength(place) <= PLACE_BYTES_MAX);
}

function parentOf(pid: string): number {
  return Number(statusOf(pid)[1] ?? 0);
}

/** State and parent of a process, and what else stands after its name, which may hold anything; empty for none. */
function statusOf(pid: string): string[] {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return status.slice(status.lastIndexOf(')') + 2).split(' ');
  } catch {
    return [];
  }
}

// What has ended may wait for its parent to take note of it, for as long as that likes.
function isAlive(pid: number): boolean {
  const [state = 'X'] = statusOf(String(pid));
  return state !== 'Z' && state !== 'X';
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended meanwhile.
  }
}
