// How soon a stream has a change after its commit, and what requests cost that wait for one; for each build of crm.

import { createOrganization } from '../../db/accounts/accounts.ts';
import { issueKey } from '../../db/accounts/keys.ts';
import { actingAs } from '../../db/engine/acting.ts';
import { OPERATOR } from '../../db/engine/author.ts';
import { V2_SCOPES } from '../../db/model/resources/registry.ts';
import { tasks } from '../../db/model/resources/tasks.ts';
import { insertReservedRecords } from '../../db/records/records.ts';
import { openStore, type Store } from '../../db/store.ts';
import { recordId } from '../../db/tables/record-id.ts';
import { EventReader } from '../support/event-stream.ts';
import type { Measurement } from './measurements.ts';
import { cpuMicros } from './process.ts';
import { type BuildName, isBuild, type Running } from './servers.ts';
import { spread } from './statistics.ts';

const WRITES = 200;
const WRITES_ELSEWHERE = 30;
const PAUSE_MS = 10;
const WAITERS = 100;
const WAITERS_PER_ORGANIZATION = 50;
const WAITERS_PER_KEY = 20;

const ROWS = [
  { name: 'changes-lag', label: 'from the response of a write to its event on a stream, p99', unit: 'ms' },
  { name: 'changes-lag-other', label: 'the same of a commit by another process', unit: 'ms' },
  { name: 'changes-at-rest', label: '100 requests that wait for changes, CPU', unit: '% of a core' },
] as const;

/** The names of what is measured here. */
export const FOLLOWING: readonly string[] = ROWS.map(({ name }) => name);

interface Figures {
  lagMs: number;
  otherLagMs: number;
  cpuPercent: number;
}

/** Measures on each build that has a log of changes. @param seconds how long the waits are watched */
export async function measureFollowing(servers: readonly Running[], seconds: number): Promise<Measurement[]> {
  const found = new Map<BuildName, Figures>();
  for (const server of servers) {
    const { name } = server;
    if (!isBuild(name) || name === 'before' || name === 'crm-unlogged') continue;
    const store = await openStore(server.build.db);
    try {
      found.set(name, await figuresOf(server, store, seconds));
    } finally {
      await store.close();
    }
  }
  const values = [...found.values()];
  const names = [...found.keys()];
  const rowOf = (row: (typeof ROWS)[number], value: (figures: Figures) => number): Measurement => ({
    ...row,
    servers: Object.fromEntries(values.map((one, index) => [names[index], spread([value(one)])])),
  });
  return [
    rowOf(ROWS[0], ({ lagMs }) => lagMs),
    rowOf(ROWS[1], ({ otherLagMs }) => otherLagMs),
    rowOf(ROWS[2], ({ cpuPercent }) => cpuPercent),
  ];
}

async function figuresOf(server: Running, store: Store, seconds: number): Promise<Figures> {
  const { key, orgNumber } = await organizationWith(store, 1).then(({ keys, number }) => ({
    key: keys[0] ?? '',
    orgNumber: number,
  }));
  const url = `http://127.0.0.1:${server.port}/api/v2`;
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const overHttp = async () => {
    const response = await fetch(`${url}/tasks`, { method: 'POST', headers, body: '{"name":"T"}' });
    return ((await response.json()) as { data: { id: string } }).data.id;
  };
  const elsewhere = async () => {
    const now = Date.now();
    const id = recordId(now);
    const origin = { orgNumber, createdBy: 'integration', now };
    await store.write(orgNumber, async (trx) =>
      insertReservedRecords(actingAs(trx, OPERATOR), tasks, origin, [
        { id, data: { name: 'T', done: false } },
      ]),
    );
    return id;
  };
  const open = async () => new EventReader(await fetch(`${url}/changes/stream?start=now`, { headers }));
  return {
    lagMs: await lagOf(await open(), overHttp, WRITES),
    otherLagMs: await lagOf(await open(), elsewhere, WRITES_ELSEWHERE),
    cpuPercent: await cpuAtRest(server, store, seconds),
  };
}

// The 99th percentile; a change that comes before the response has no lag.
async function lagOf(stream: EventReader, write: () => Promise<string>, count: number): Promise<number> {
  const seenAt = new Map<string, number>();
  const read = async () => {
    for (const _ of Array.from({ length: count })) {
      const [event] = await stream.take(1);
      seenAt.set(event?.data.record_id, performance.now());
    }
  };
  const reading = read();
  const writtenAt = new Map<string, number>();
  for (let done = 0; done < count; done++) {
    const id = await write();
    writtenAt.set(id, performance.now());
    await Bun.sleep(PAUSE_MS);
  }
  await reading;
  await stream.close();
  const lags = [...writtenAt].map(([id, at]) => Math.max(0, (seenAt.get(id) ?? Number.NaN) - at));
  return lags.toSorted((a, b) => a - b)[Math.ceil(count * 0.99) - 1] ?? 0;
}

async function cpuAtRest({ port, pid }: Running, store: Store, seconds: number): Promise<number> {
  const leaving = new AbortController();
  const waits: Promise<unknown>[] = [];
  for (let held = 0; held < WAITERS; held += WAITERS_PER_ORGANIZATION) {
    const { keys } = await organizationWith(store, Math.ceil(WAITERS_PER_ORGANIZATION / WAITERS_PER_KEY));
    for (let count = 0; count < WAITERS_PER_ORGANIZATION; count++) {
      const key = keys[Math.floor(count / WAITERS_PER_KEY)] ?? '';
      const address = `http://127.0.0.1:${port}/api/v2/changes?start=now&wait=25`;
      const headers = { Authorization: `Bearer ${key}` };
      const waiting = fetch(address, { headers, signal: leaving.signal }).then((response) => {
        if (!response.ok) throw new Error(`a wait was answered with ${response.status}`);
      });
      waits.push(
        waiting.catch((error: Error) => (leaving.signal.aborted ? undefined : Promise.reject(error))),
      );
    }
  }
  await Bun.sleep(1_000);
  const [before, begunAt] = [cpuMicros(pid), performance.now()];
  await Bun.sleep(seconds * 1_000);
  const micros = cpuMicros(pid) - before;
  const percent = micros / 10 / (performance.now() - begunAt);
  leaving.abort();
  await Promise.all(waits);
  return percent;
}

async function organizationWith(store: Store, keys: number): Promise<{ number: number; keys: string[] }> {
  const now = Date.now();
  return store.write('accounts', async (trx) => {
    const { number } = await createOrganization(trx, `Bench ${crypto.randomUUID()}`, now);
    const issued: string[] = [];
    for (let count = 0; count < keys; count++) {
      const { key } = await issueKey(trx, {
        ...{ orgNumber: number, api: 'v2', name: null, scopes: V2_SCOPES },
        ...{ access: 'organization', userId: null, expiresAt: null, now },
      });
      issued.push(key);
    }
    return { number, keys: issued };
  });
}
