// Servers in processes of their own, on databases of their own, for tests that kill them or harm what they stand on.
import { afterAll } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createOrganization } from '../../db/accounts/accounts.ts';
import { issueKey } from '../../db/accounts/keys.ts';
import { V2_SCOPES } from '../../db/model/resources/registry.ts';
import { openStore } from '../../db/store.ts';
import { COMMAND } from './command.ts';
import { databases } from './folders.ts';
import type { Json } from './json.ts';
import { SPARINGLY } from './sparingly.ts';

// Limits are out of the way, and it ends as soon as what is in flight is answered.
const SERVE = ['serve', '--host', '127.0.0.1', '--port', '0', '--log', 'off', '--drain-seconds', '0'];
const NO_LIMITS = ['--key-limit', '1000000', '--org-limit', '1000000'];

export interface NewDatabase {
  db: string;
  /** A key for everything in it. */
  key: string;
}

export interface Sent {
  status: number;
  headers: Headers;
  body: Json;
}

export interface ServerProcess {
  child: Bun.Subprocess<'ignore', 'ignore', 'pipe'>;
  url: string;
  /** All that it has said on stderr, once it has ended. */
  said: Promise<string>;
  /** Whether it has said that on stderr already. */
  hasSaid(words: string): boolean;
}

/** A place for the databases and servers of a test file; all of it is gone when its tests are over. */
export class Place {
  readonly root = mkdtempSync(join(tmpdir(), 'crm-test-'));
  readonly #children: Bun.Subprocess[] = [];
  readonly #newDatabase: () => Promise<string>;

  constructor() {
    afterAll(async () => {
      for (const child of this.#children) child.kill('SIGKILL');
      for (const child of this.#children) await child.exited;
      rmSync(this.root, { recursive: true, force: true });
    });
    this.#newDatabase = databases();
  }

  /** Makes a database with an organization: by itself, or a file in that folder. */
  async database(folder?: string): Promise<NewDatabase> {
    if (folder !== undefined) mkdirSync(folder, { recursive: true });
    return this.fill(folder === undefined ? await this.#newDatabase() : join(folder, 'crm.db'));
  }

  /** Makes an organization in a database, which is made if it is a file that is missing. */
  async fill(db: string): Promise<NewDatabase> {
    const store = await openStore(db);
    const now = Date.now();
    const org = await store.write('accounts', (trx) => createOrganization(trx, 'Acme', now));
    const owner = { orgNumber: org.number, name: null, scopes: V2_SCOPES, access: 'organization' } as const;
    const { key } = await store.write('accounts', (trx) =>
      issueKey(trx, { ...owner, api: 'v2', userId: null, expiresAt: null, now }),
    );
    await store.close();
    return { db, key };
  }

  /** Serves a database; `wrapped` puts the command into another, such as strace. */
  async serve(db: string, wrapped = (command: string[]) => command): Promise<ServerProcess> {
    const command = wrapped([...COMMAND, ...SERVE, ...NO_LIMITS, '--db', db]);
    const child = Bun.spawn(command, {
      env: { ...process.env, ...SPARINGLY, XDG_CONFIG_HOME: this.root },
      ...{ stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' },
    });
    this.#children.push(child);
    const { promise: url, resolve } = Promise.withResolvers<string>();
    let text = '';
    const read = async () => {
      const decoder = new TextDecoder();
      for await (const chunk of child.stderr) {
        text += decoder.decode(chunk, { stream: true });
        const [, at] = /^Docs +(\S+)\/docs\n/m.exec(text) ?? [];
        if (at !== undefined) resolve(at);
      }
      resolve('');
      return text;
    };
    const said = read();
    const at = await url;
    if (at === '') throw new Error(`no server: ${await said}`);
    return { child, url: at, said, hasSaid: (words) => text.includes(words) };
  }
}

/** Creates a record, or what else the path stands for, under an Idempotency-Key. */
export async function post(url: string, key: string, path: string, body: Json, once: string): Promise<Sent> {
  const headers = { 'X-Service-Api-Key': key, 'Idempotency-Key': once };
  const response = await fetch(`${url}/api/v2${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** The ids of all records of a resource. */
export async function allIds(url: string, key: string, resource: string): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor = ''; ; ) {
    const headers = { 'X-Service-Api-Key': key };
    const response = await fetch(`${url}/api/v2/${resource}?limit=200${cursor}`, { headers });
    const { data, page_info } = (await response.json()) as Json;
    ids.push(...data.map((one: Json) => one.id));
    if (!page_info.has_next_page) return ids;
    cursor = `&cursor=${page_info.end_cursor}`;
  }
}
