// Databases of a run's own on a PostgreSQL server: made, copied, measured, and dropped at its end or when it is given up.
import { SQL } from 'bun';
import { type CpuClock, familyClock } from './process.ts';

const SIZE = `
  select (pg_total_relation_size('contacts') + pg_total_relation_size('contact_emails'))::float8
    / (select count(*) from contacts) as bytes`;

export class Databases implements AsyncDisposable {
  readonly #server: string;
  readonly #run = `crm_bench_${process.pid}_${crypto.randomUUID().slice(0, 8)}`;
  // By their names; each resolves once it is there.
  readonly #made = new Map<string, Promise<unknown>>();
  #isEnded = false;

  /** @param server the address of any database there, with the right to make others */
  constructor(server: string) {
    this.#server = server;
  }

  /** Makes an empty database and gives its address. */
  create(): Promise<string> {
    return this.#make('template0');
  }

  /** Makes a copy of a database that nobody is connected to. */
  copy(address: string): Promise<string> {
    return this.#make(new URL(address).pathname.slice(1));
  }

  /** Makes an empty database that stays when the run ends, instead of one of that name. */
  async createKept(name: string): Promise<string> {
    await asked(this.#server, (db) => db.unsafe(`drop database if exists ${name} with (force)`));
    await asked(this.#server, (db) => db.unsafe(makeText(name, 'template0')));
    return this.addressOf(name);
  }

  /** The address of a database of the server. */
  addressOf(name: string): string {
    const url = new URL(this.#server);
    url.pathname = `/${name}`;
    return url.href;
  }

  /** Brings a database that was filled to rest, so that nothing of that is done later. */
  settle(address: string): Promise<unknown> {
    return asked(address, (db) => db.unsafe('vacuum analyze'));
  }

  /** Bytes that the contacts of a database of crm take with their indexes, for each of them. */
  bytesPerContact(address: string): Promise<number> {
    return asked(address, async (db) => (await db.unsafe(SIZE))[0].bytes);
  }

  /** The version of the server, and what is said of its durability. */
  describe(): Promise<string> {
    return asked(this.#server, async (db) => {
      const [{ version }] = await db.unsafe(
        `select split_part(current_setting('server_version'), ' ', 1) as version`,
      );
      const [{ fsync }] = await db.unsafe('show fsync');
      return fsync === 'on' ? version : `${version} with fsync=${fsync}`;
    });
  }

  /** Tells the CPU time of all processes of the server; undefined where they are not of this machine. */
  clock(): Promise<CpuClock | undefined> {
    return asked(this.#server, async (db) => {
      const [{ pid }] = await db.unsafe('select pg_backend_pid() as pid');
      return familyClock(pid, 'postgres');
    });
  }

  /** Drops what was made, once what is just being made is there. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnded = true;
    const names = [...this.#made.keys()];
    await Promise.allSettled(this.#made.values());
    await asked(this.#server, async (db) => {
      for (const name of names) await db.unsafe(`drop database if exists ${name} with (force)`);
    });
  }

  async #make(template: string): Promise<string> {
    if (this.#isEnded) throw new Error('the run has ended');
    const name = `${this.#run}_${this.#made.size}`;
    const making = asked(this.#server, (db) => db.unsafe(makeText(name, template)));
    this.#made.set(name, making);
    await making;
    return this.addressOf(name);
  }
}

const makeText = (name: string, template: string) =>
  `create database ${name} template ${template} encoding 'UTF8'`;

async function asked<T>(address: string, job: (db: SQL) => Promise<T>): Promise<T> {
  const db = new SQL(address, { max: 1 });
  try {
    return await job(db);
  } finally {
    await db.close({ timeout: 0 });
  }
}
