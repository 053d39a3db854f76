// `bun run soak:webhooks`: receivers that fail, are slow and are gone, servers that are killed, and what arrives.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { BINARY } from '../support/command.ts';
import type { Json } from '../support/json.ts';
import { PostgresServer } from '../support/postgres.ts';
import { type Received, WebhookReceiver } from '../support/webhook-receiver.ts';
import { NO_LIMITS, Node, runOnce } from './service.ts';
import { exitWithVerdict, report, show } from './verdict.ts';

const USAGE = `bun run soak:webhooks [--minutes N] [--webhooks N] [--postgres]
  --minutes   how long changes are written (5); then it waits until nothing has arrived for a minute
  --webhooks  how many webhooks there are (5)
  --postgres  two nodes on a PostgreSQL server of their own, of which one is killed at a time`;

const CONTACTS = 40;
const KILL_EVERY_MS = 20_000;
const AWAY_MS = 2_000;
// What failed twice is tried again in minutes, or at once at a new URL.
const RENEW_MS = 10_000;
const PATIENCE_MS = 60_000;

interface Trial {
  nodes: readonly Node[];
  key: string;
  faults: string[];
}

async function request({ nodes, key }: Trial, method: string, path: string, body?: Json): Promise<Json> {
  const headers = { 'X-Service-Api-Key': key, 'Idempotency-Key': crypto.randomUUID() };
  for (let attempt = 0; ; attempt++) {
    const url = nodes[attempt % nodes.length]?.url;
    const response = await fetch(`${url}/api/v2${path}`, {
      method,
      headers: method === 'GET' ? { 'X-Service-Api-Key': key } : headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }).catch(() => null);
    if (response?.ok) return response.json();
    if (response !== null && response.status < 500 && response.status !== 409 && response.status !== 429)
      throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    if (attempt > 600) throw new Error(`${method} ${path} has no answer`);
    await Bun.sleep(100);
  }
}

/** What one webhook got: the first and every further request for each change. */
class Inbox {
  receiver = new WebhookReceiver();
  readonly delivered = new Map<number, Received[]>();
  readonly order: Received[] = [];
  readonly #failed = new Set<string>();
  readonly #port = this.receiver.port;
  #id = '';
  #renewals = 0;

  constructor() {
    this.open();
  }

  /** Creates the webhook. */
  async subscribe(trial: Trial): Promise<void> {
    const body = { url: this.receiver.url, events: ['contacts.*'] };
    this.#id = (await request(trial, 'POST', '/webhooks', body)).data.id;
  }

  /** Has what failed tried again at once. */
  async renew(trial: Trial): Promise<void> {
    this.#renewals += 1;
    await request(trial, 'PATCH', `/webhooks/${this.#id}`, { url: `${this.receiver.url}?${this.#renewals}` });
  }

  open(): void {
    this.receiver.answer = async (one) => {
      await Bun.sleep(Math.random() < 0.02 ? 1_000 : Math.random() * 20);
      if (Math.random() < 0.03 && !this.#failed.has(one.id)) {
        this.#failed.add(one.id);
        return new Response(null, { status: 500 + Math.floor(Math.random() * 4) });
      }
      this.delivered.getOrInsert(Number(one.body.data.sequence), []).push(one);
      this.order.push(one);
      return new Response(null, { status: 204 });
    };
  }

  /** Is gone for a moment, with all connections. */
  async leave(): Promise<void> {
    await this.receiver.close();
    await Bun.sleep(AWAY_MS);
    this.receiver = new WebhookReceiver(this.#port);
    this.open();
  }

  /** What is wrong with what came. */
  faults(name: string, wanted: ReadonlySet<number>): string[] {
    const missing = [...wanted].filter((sequence) => !this.delivered.has(sequence));
    const strange = [...this.delivered.keys()].filter((sequence) => !wanted.has(sequence));
    const ids = [...this.delivered].filter(([, some]) => new Set(some.map(({ id }) => id)).size > 1);
    const seen = new Map<string, number>();
    const late = new Set<number>();
    const overtaken: number[] = [];
    for (const { body } of this.order) {
      const { record_id, sequence } = body.data;
      if (late.has(sequence)) continue;
      late.add(sequence);
      if ((seen.get(record_id) ?? 0) > sequence) overtaken.push(sequence);
      seen.set(record_id, Math.max(seen.get(record_id) ?? 0, sequence));
    }
    return [
      ...missing.map((sequence) => `${name}: change ${sequence} did not arrive`),
      ...strange.map((sequence) => `${name}: change ${sequence} is not in the log`),
      ...ids.map(([sequence]) => `${name}: change ${sequence} came with several IDs`),
      ...overtaken.map((sequence) => `${name}: change ${sequence} came after a later one of its record`),
    ];
  }
}

async function write(trial: Trial, until: number): Promise<number> {
  const contacts: string[] = [];
  for (let n = 0; n < CONTACTS; n++)
    contacts.push((await request(trial, 'POST', '/contacts', { first_name: `c${n}` })).data.id);
  let count = contacts.length;
  const writer = async (worker: number) => {
    while (Date.now() < until) {
      const id = contacts[Math.floor(Math.random() * contacts.length)];
      await request(trial, 'PATCH', `/contacts/${id}`, { title: `${worker} ${count}` });
      count += 1;
      await Bun.sleep(20);
    }
  };
  await Promise.all([1, 2, 3, 4].map(writer));
  return count;
}

async function disturb(trial: Trial, inboxes: readonly Inbox[], until: number): Promise<number> {
  const { nodes } = trial;
  let kills = 0;
  while (Date.now() + KILL_EVERY_MS < until) {
    await Bun.sleep(KILL_EVERY_MS / 2);
    await inboxes[kills % inboxes.length]?.leave();
    await Bun.sleep(KILL_EVERY_MS / 2);
    const node = nodes[kills % nodes.length];
    await node?.kill();
    await node?.start();
    kills += 1;
    await renew(trial, inboxes);
  }
  return kills;
}

async function renew(trial: Trial, inboxes: readonly Inbox[]): Promise<void> {
  await Promise.all(inboxes.map((inbox) => inbox.renew(trial)));
}

// Until everything has arrived, or nothing does any more.
async function settle(trial: Trial, inboxes: readonly Inbox[], changes: number): Promise<void> {
  const missing = () => inboxes.filter(({ delivered }) => delivered.size < changes);
  const arrived = () => inboxes.reduce((sum, { delivered }) => sum + delivered.size, 0);
  let [last, arrivedAt, renewedAt] = [arrived(), performance.now(), performance.now()];
  while (missing().length > 0 && performance.now() - arrivedAt < PATIENCE_MS) {
    await Bun.sleep(100);
    if (arrived() > last) [last, arrivedAt] = [arrived(), performance.now()];
    if (performance.now() - renewedAt < RENEW_MS) continue;
    await renew(trial, missing());
    renewedAt = performance.now();
  }
}

async function logged(trial: Trial): Promise<Set<number>> {
  const sequences = new Set<number>();
  for (let cursor = ''; ; ) {
    const page = await request(trial, 'GET', `/changes?resource=contacts&limit=200${cursor}`);
    for (const { sequence } of page.data) sequences.add(sequence);
    if (!page.page_info.has_next_page) return sequences;
    cursor = `&cursor=${encodeURIComponent(page.page_info.end_cursor)}`;
  }
}

async function main(): Promise<void> {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    options: {
      ...{ minutes: { ...text, default: '5' }, webhooks: { ...text, default: '5' } },
      ...{ postgres: flag, help: flag },
    },
  });
  if (values.help) return console.log(USAGE);
  console.log(`${BINARY}: ${await runOnce(['version'])}, ${values.minutes} minutes`);
  const folder = mkdtempSync(join(tmpdir(), 'crm-soak-'));
  const server = values.postgres ? await PostgresServer.start() : null;
  const db = server?.address() ?? join(folder, 'crm.db');
  const key = await runOnce(['init', '--org', 'Webhooks', '--db', db]);
  const args = [...NO_LIMITS, '--webhooks-allow', '127.0.0.0/8'];
  const nodes = await Promise.all([0, 1].slice(server === null ? 1 : 0).map(() => Node.start(db, args)));
  const inboxes = Array.from({ length: Number(values.webhooks) }, () => new Inbox());
  try {
    const trial: Trial = { nodes, key, faults: [] };
    for (const inbox of inboxes) await inbox.subscribe(trial);
    const until = Date.now() + Number(values.minutes) * 60_000;
    const [written, kills] = await Promise.all([write(trial, until), disturb(trial, inboxes, until)]);
    const wanted = await logged(trial);
    const writtenAt = performance.now();
    await settle(trial, inboxes, wanted.size);
    const seconds = ((performance.now() - writtenAt) / 1_000).toFixed(0);
    const faults = inboxes.flatMap((inbox, index) => inbox.faults(`webhook ${index + 1}`, wanted));
    const came = inboxes.reduce((sum, { order }) => sum + order.length, 0);
    const expected = wanted.size * inboxes.length;
    const isGood = faults.length === 0 && wanted.size >= written;
    const again = ((came / expected - 1) * 100).toFixed(1);
    report(
      `${inboxes.length} webhooks, ${kills} kills`,
      isGood,
      `${written} changes acknowledged, ${wanted.size} in the log; ${came} deliveries, ${again}% of them repeated; settled in ${seconds} s`,
    );
    show(faults);
  } finally {
    await Promise.all(nodes.map((node) => node.kill()));
    await Promise.all(inboxes.map(({ receiver }) => receiver.close()));
    await server?.close();
    rmSync(folder, { recursive: true });
  }
  exitWithVerdict();
}

await main();
