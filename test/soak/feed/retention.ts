// Removes a long log of changes while others write: how long they wait, and what is left of it.
import { sql } from 'kysely';
import { takeSequence } from '../../../db/engine/change-log.ts';
import { purgeChanges } from '../../../db/removal/change-retention.ts';
import type { Store } from '../../../db/store.ts';
import { isPostgres } from '../../support/fresh-databases.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { type Client, clientOf } from '../../support/v2.ts';

const AGE_MS = 40 * 24 * 60 * 60 * 1_000;
const CALM_MS = 2_000;
// As a change of a deal's value has.
const DATA = JSON.stringify({ before: { estimated_value: 48_000 }, after: { estimated_value: 52_500.5 } });

/** How long writes took, in milliseconds. */
export interface Waits {
  count: number;
  p50: number;
  p99: number;
  longest: number;
}

export interface RetentionFigures {
  removed: number;
  seconds: number;
  /** Of another organization, and of the one whose log it is, while the log is shortened. */
  other: Waits;
  own: Waits;
  /** Of another organization before that. */
  calm: Waits;
  /** The most transactions of the removal that ended while one write of that organization waited. */
  jobsPerWrite: number;
  /** The sequence numbers that are left. */
  left: number[];
  /** The sequence number of the first write during the removal. */
  firstNew: number;
}

/** Fills the log of an organization with old changes, and removes them while it and another one write. */
export async function removeOldChanges(changes: number): Promise<RetentionFigures> {
  const harness = await startHarness({ now: Date.now() - AGE_MS });
  try {
    await fill(harness, changes);
    const { store, clock, orgNumber, otherOrgNumber } = harness;
    clock.now = Date.now();
    const firstNew = changes + 2;
    // Those that are too old now are removed by the next call.
    await purgeChanges(store, clock.now);
    const counted = { jobs: 0 };
    const purging: Pick<Store, 'read' | 'write'> = {
      read: store.read,
      write: async (scope, job) => {
        const done = await store.write(scope, job);
        counted.jobs += 1;
        return done;
      },
    };
    const writer = await writerOf(harness, orgNumber);
    const otherWriter = await writerOf(harness, otherOrgNumber);
    const calm = await writeUntil(otherWriter, Bun.sleep(CALM_MS), counted);
    const begun = performance.now();
    let seconds = 0;
    const removal = purgeChanges(purging, clock.now).finally(() => {
      seconds = (performance.now() - begun) / 1_000;
    });
    const [own, other] = await Promise.all(
      [writer, otherWriter].map((client) => writeUntil(client, removal, counted)),
    );
    const rows = await store.read
      .selectFrom('changes')
      .select('sequence')
      .where('org_id', '=', orgNumber)
      .orderBy('sequence')
      .execute();
    return {
      ...{ removed: await removal, seconds, firstNew, left: rows.map(({ sequence }) => sequence) },
      ...{ other: waitsOf(other?.ms ?? []), own: waitsOf(own?.ms ?? []), calm: waitsOf(calm.ms) },
      jobsPerWrite: own?.jobsMax ?? 0,
    };
  } finally {
    await harness.close();
  }
}

async function fill({ store, clock, orgNumber }: Harness, changes: number): Promise<void> {
  const record = isPostgres ? sql`decode(md5(i::text), 'hex')` : sql`randomblob(16)`;
  const at = clock.now;
  await store.write(orgNumber, async (trx) => {
    const first = await takeSequence(trx, { orgNumber, at }, changes);
    await sql`
      with recursive n(i) as (select ${sql.lit(first)} union all select i + 1 from n where i < ${sql.lit(first + changes - 1)})
      insert into changes (org_id, sequence, at, action, resource, record, actor, data)
      select ${sql.lit(orgNumber)}, i, ${sql.lit(at)}, 1, 2, ${record}, 0, ${sql.lit(DATA)} from n`.execute(
      trx,
    );
  });
}

/** A client with a key of that organization. */
export async function writerOf(harness: Harness, orgNumber: number): Promise<Client> {
  return clientOf(harness, (await harness.issue({ orgNumber })).key);
}

/** One write after the other, until something has ended: how long they took, and the most jobs beside one of them. */
export async function writeUntil(
  client: Client,
  end: Promise<unknown>,
  counted: { jobs: number } = { jobs: 0 },
): Promise<{ ms: number[]; jobsMax: number }> {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  end.then(over, over);
  const ms: number[] = [];
  let jobsMax = 0;
  while (!isOver) {
    const [begun, jobs] = [performance.now(), counted.jobs];
    await client.create('tasks', { name: 'T' });
    ms.push(performance.now() - begun);
    jobsMax = Math.max(jobsMax, counted.jobs - jobs);
    // As over a network, so that the removal has its turn.
    await Bun.sleep(1);
  }
  return { ms, jobsMax };
}

/** Sums up how long writes took. */
export function waitsOf(ms: readonly number[]): Waits {
  const sorted = ms.toSorted((one, other) => one - other);
  const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), longest: at(1) };
}
