// One service for a soak: nodes of the executable on one database, to be killed, frozen and started again.
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BINARY } from '../support/command.ts';
import { freePort } from '../support/ports.ts';
import { SPARINGLY } from '../support/sparingly.ts';

// A busy machine runs the trials at a low priority.
const READY_MS_MAX = 120_000;
const BATCH_MAX = 100;

/** Flags that have the limits out of the way. */
export const NO_LIMITS = ['--key-limit', '100000000', '--org-limit', '100000000'];

/** For requests to a server whose certificate nobody signed. */
export const ANY = { rejectUnauthorized: false };

/** A node, which keeps its port from one start to the next. */
export class Node {
  readonly url: string;
  readonly #command: readonly string[];
  readonly #log: string | undefined;
  readonly #env: Record<string, string>;
  #child: Bun.Subprocess | null = null;
  readonly #formers: Bun.Subprocess[] = [];

  private constructor(
    url: string,
    command: readonly string[],
    log: string | undefined,
    env: Record<string, string>,
  ) {
    this.url = url;
    this.#command = command;
    this.#log = log;
    this.#env = { ...SPARINGLY, ...env };
  }

  /** Starts one. @param log a file for what it logs, from its last start on; nothing is logged unless named */
  static async start(db: string, args: readonly string[], log?: string, env = {}): Promise<Node> {
    const node = await Node.prepare(db, args, log, env);
    await node.start();
    return node;
  }

  /** One that is still to be started. */
  static async prepare(db: string, args: readonly string[], log?: string, env = {}): Promise<Node> {
    const port = await freePort();
    const scheme = args.includes('--tls-cert') ? 'https' : 'http';
    const usual = ['--db', db, '--port', String(port), '--log', log === undefined ? 'off' : 'json'];
    return new Node(`${scheme}://127.0.0.1:${port}`, [BINARY, 'serve', ...usual, ...args], log, env);
  }

  get pid(): number {
    return this.#child?.pid ?? 0;
  }

  /** Starts it again, with these flags too, and waits until it serves. */
  async start(more: readonly string[] = []): Promise<void> {
    this.spawn(more);
    await this.ready();
  }

  /** Starts it and waits for nothing. */
  spawn(more: readonly string[] = []): void {
    const stderr = this.#log === undefined ? 'ignore' : Bun.file(this.#log);
    this.#child = Bun.spawn([...this.#command, ...more], { env: this.#env, stdout: 'ignore', stderr });
  }

  /** Waits until it serves. */
  async ready(): Promise<void> {
    const endAt = performance.now() + READY_MS_MAX;
    const isReady = async () =>
      (await fetch(`${this.url}/readyz`, { tls: ANY }).catch(() => null))?.ok === true;
    while (!(await isReady())) {
      const { exitCode = null, signalCode = null } = this.#child ?? {};
      const end = exitCode ?? signalCode;
      if (end !== null) throw new Error(`the server at ${this.url} has ended with ${end}`);
      if (performance.now() > endAt) throw new Error(`${this.url} is not ready after ${READY_MS_MAX} ms`);
      await Bun.sleep(20);
    }
  }

  signal(name: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL' | 'SIGHUP' | 'SIGTERM'): void {
    this.#child?.kill(name);
  }

  /** Has another process take over on the same port; the former one ends once its connections have. */
  async takeOver(): Promise<void> {
    if (this.#child !== null) this.#formers.push(this.#child);
    const child = Bun.spawn([...this.#command, '--takeover'], {
      ...{ env: SPARINGLY, stdout: 'ignore', stderr: 'pipe' },
    });
    this.#child = child;
    let said = '';
    const decoder = new TextDecoder();
    for await (const chunk of child.stderr) {
      said += decoder.decode(chunk, { stream: true });
      if (/^Docs /m.test(said)) return;
    }
    throw new Error(`nothing took over from ${this.url}: ${said}`);
  }

  /** Has it end in good order; gives its exit code. */
  async stop(): Promise<number> {
    this.signal('SIGTERM');
    const code = (await this.#child?.exited) ?? -1;
    await Promise.all(this.#formers.splice(0).map((former) => former.exited));
    return code;
  }

  async kill(): Promise<void> {
    this.signal('SIGKILL');
    for (const former of this.#formers) former.kill('SIGKILL');
    await Promise.all([this.#child, ...this.#formers.splice(0)].map((child) => child?.exited));
  }
}

/** Nodes on one database, and a key for everything in it. */
export interface Service {
  nodes: readonly Node[];
  key: string;
  kill(): Promise<void>;
}

// Where nobody has profiles.
const WITHOUT_PROFILES = { XDG_CONFIG_HOME: '/dev/null' };

/** Runs a command that must succeed, and gives its stdout. */
export async function runOnce(
  args: readonly string[],
  cwd = process.cwd(),
  env: Record<string, string> = {},
): Promise<string> {
  const options = { cwd, env: { ...WITHOUT_PROFILES, ...env }, stdout: 'pipe', stderr: 'pipe' } as const;
  const child = Bun.spawn([BINARY, ...args], options);
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  if ((await child.exited) !== 0) throw new Error(`crm ${args.join(' ')} failed: ${stderr}`);
  return stdout.trim();
}

/** Has an organization have a meeting, its recording with a transcript of forty sentences, and a booking. */
export async function ingestReadOnly(db: string, org: readonly string[]): Promise<void> {
  const meeting = { external_id: 'm', title: 'Kick-off', start_time: 1_767_225_600_000 };
  const speech = { speaker: { name: 'Ada', email: null }, start_time: 0, end_time: 1 };
  const segments = Array.from({ length: 40 }, (_, index) => ({ ...speech, speech: `Sentence ${index}.` }));
  const recording = { external_id: 'r', meeting_external_id: 'm', title: 'Kick-off', segments };
  const bookings = { external_id: 'b', title: 'Call', status: 'booked' };
  for (const [kind, entry] of Object.entries({ meetings: meeting, recordings: recording, bookings })) {
    const file = join(tmpdir(), `crm-soak-${crypto.randomUUID()}.json`);
    await Bun.write(file, JSON.stringify([entry]));
    await runOnce(['ingest', kind, file, ...org, '--db', db]);
    rmSync(file);
  }
}

/** Makes an organization in an empty database, and serves that by some nodes. */
export async function startService(db: string, count: number, args: readonly string[]): Promise<Service> {
  const key = await runOnce(['init', '--org', 'Soak', '--db', db]);
  const nodes = await Promise.all(Array.from({ length: count }, () => Node.start(db, args)));
  return {
    nodes,
    key,
    kill: async () => {
      await Promise.all(nodes.map((node) => node.kill()));
    },
  };
}

/** Creates contacts by batches, each with an address of its own. */
export async function createContacts(url: string, key: string, count: number, name: string): Promise<void> {
  const contacts = Array.from({ length: count }, (_, index) => ({
    first_name: name,
    email: `${name}${index}@example.com`,
    custom: { index },
  }));
  for (let at = 0; at < count; at += BATCH_MAX) {
    const response = await fetch(`${url}/api/v2/contacts/batch`, {
      method: 'POST',
      headers: { 'X-Service-Api-Key': key },
      body: JSON.stringify(contacts.slice(at, at + BATCH_MAX)),
    });
    if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  }
}
