// The server of PocketBase, filled with the records of crm.
import { Database } from 'bun:sqlite';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../support/ports.ts';
import { killedWithServers } from '../servers.ts';
import { COLLECTIONS, type Field, ID_FIELD } from './pocketbase-collections.ts';

const EMAIL = 'bench@bench.example';
const PASSWORD = 'bench-password';
const READY_WITHIN_MS = 20_000;
const READY_POLL_MS = 20;

export class PocketBase {
  readonly #executable: string;
  readonly #folder: string;
  #child: Bun.Subprocess | undefined;
  #forget: () => void = () => undefined;
  #port = 0;
  #token = '';

  /** @param folder is made */
  constructor(executable: string, folder: string) {
    this.#executable = executable;
    this.#folder = folder;
    mkdirSync(folder);
  }

  /** Such as `PocketBase 0.28.4`. */
  get version(): string {
    return this.#run('--version').replace(/^pocketbase version/, 'PocketBase');
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/api/collections`;
  }

  get headers(): Record<string, string> {
    return { Authorization: this.#token };
  }

  /** Makes the collections, and fills them from a file of crm. */
  async fill(crmFile: string): Promise<void> {
    this.#run('superuser', 'upsert', EMAIL, PASSWORD, '--dir', this.#folder);
    await this.start();
    const ids = new Map<string, string>();
    for (const [name, { fields, indexes }] of Object.entries(COLLECTIONS)) {
      const { id } = await this.#post<{ id: string }>('', {
        ...{ name, type: 'base' },
        fields: [ID_FIELD, ...fields.map((field) => withCollection(field, ids))],
        indexes: indexes.map((columns, number) => `CREATE INDEX ${name}_${number} ON ${name} (${columns})`),
      });
      ids.set(name, id);
    }
    await this.stop();
    using db = new Database(join(this.#folder, 'data.db'));
    db.run('attach ? as crm', [crmFile]);
    for (const [name, { fields, from }] of Object.entries(COLLECTIONS)) {
      const columns = ['id', ...fields.map((field) => field.name)].join(', ');
      db.run(
        `insert into ${name} (${columns}) select ${[from.id, ...from.columns].join(', ')} from crm.${from.table}`,
      );
    }
    db.run('analyze');
  }

  async start(): Promise<void> {
    this.#port = await freePort();
    const child = Bun.spawn(
      [this.#executable, 'serve', '--http', `127.0.0.1:${this.#port}`, '--dir', this.#folder],
      { stdio: ['ignore', 'ignore', 'ignore'] },
    );
    this.#child = child;
    this.#forget = killedWithServers(child);
    const endsAt = performance.now() + READY_WITHIN_MS;
    while (!(await isReady(this.#port))) {
      if (child.exitCode !== null || performance.now() > endsAt)
        throw new Error('PocketBase does not answer');
      await Bun.sleep(READY_POLL_MS);
    }
    const login = { identity: EMAIL, password: PASSWORD };
    const { token } = await this.#post<{ token: string }>('/_superusers/auth-with-password', login);
    this.#token = token;
  }

  async stop(): Promise<void> {
    this.#child?.kill('SIGTERM');
    await this.#child?.exited;
    this.#forget();
  }

  async #post<T>(path: string, body: unknown): Promise<T> {
    const answer = await fetch(this.url + path, {
      method: 'POST',
      headers: { ...this.headers, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`PocketBase: ${await answer.text()}`);
    return (await answer.json()) as T;
  }

  #run(...args: readonly string[]): string {
    const { stdout, stderr, success } = Bun.spawnSync([this.#executable, ...args]);
    if (!success) throw new Error(`PocketBase: ${stderr}`);
    return stdout.toString().trim();
  }
}

function withCollection({ collection, ...field }: Field, ids: ReadonlyMap<string, string>): object {
  return collection === undefined ? field : { ...field, collectionId: ids.get(String(collection)) };
}

async function isReady(port: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/api/health`).catch(() => undefined);
  await answer?.arrayBuffer();
  return answer?.ok === true;
}
