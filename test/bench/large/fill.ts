// Fills an empty database with the records of a large one, as an older crm could have left it: straight into the tables.
import { type BulkInsert, bulkInsert } from '../../../db/engine/bulk-insert.ts';
import type { Trx } from '../../../db/engine/schema.ts';
import { FILLERS } from '../../../db/fillers.ts';
import { getResource } from '../../../db/model/resources/registry.ts';
import { openStore, type Store } from '../../../db/store.ts';
import { beginBackfill } from '../../../db/tables/backfills.ts';
import { withoutIndexes } from './bare-tables.ts';
import { type Ground, Records, type Rows } from './records.ts';
import { SampleKeeper, type Samples } from './samples.ts';
import { Wording } from './wording.ts';
import { type Counts, worldAt } from './world.ts';

const SEED = 20;
const RECORDS_PER_WRITE = 5_000;
// Each after what it refers to.
const KINDS = [
  'companies',
  'contacts',
  'deals',
  'interactions',
  'notes',
  'tasks',
] as const satisfies readonly (keyof Counts)[];

// Tables of rows beside records, in the order in which they are written after them.
const BESIDE: Readonly<Record<string, readonly string[]>> = {
  contact_emails: ['email_key', 'contact_id'],
  deal_contacts: ['deal_id', 'contact_id', 'created_at'],
  interaction_contacts: ['interaction_id', 'contact_id'],
  interaction_companies: ['interaction_id', 'company_id'],
  note_records: ['note_id', 'record_id', 'record_type', 'created_at'],
};

/**
 * Writes the records of a large database, without a log of changes and without what crm derives from records: that is noted as
 * missing, for the server to fill it in.
 * @param kinds which kinds of records; all of them if none is named
 */
export async function fillDatabase(
  address: string,
  scale: number,
  kinds: readonly string[],
): Promise<Samples> {
  return withoutIndexes(address, [...KINDS, ...Object.keys(BESIDE)], async () => {
    const store = await openStore(address, { create: false });
    try {
      return await fillStore(store, scale, kinds);
    } finally {
      await store.close();
    }
  });
}

async function fillStore(store: Store, scale: number, kinds: readonly string[]): Promise<Samples> {
  const ground = await groundOf(store);
  const world = worldAt(scale, SEED, Date.now());
  const records = new Records(world, new Wording(SEED), ground);
  const keeper = new SampleKeeper(world);
  for (const kind of KINDS.filter((one) => kinds.length === 0 || kinds.includes(one))) {
    for (let first = 0; first < world.counts[kind]; first += RECORDS_PER_WRITE) {
      const rows: Rows = {};
      for (let index = first; index < Math.min(world.counts[kind], first + RECORDS_PER_WRITE); index++) {
        const made = records.rowsOf(kind, index);
        keeper.look(kind, index, made);
        append(rows, made);
      }
      await store.write(ground.orgNumber, (trx) => insertAll(trx, rows));
    }
  }
  await store.write(ground.orgNumber, async (trx) => {
    for (const name of Object.keys(FILLERS)) await beginBackfill(trx, ground.orgNumber, name);
  });
  return keeper.samples(records, ground.users);
}

async function groundOf({ read }: Store): Promise<Ground> {
  const { number: orgNumber } = await read
    .selectFrom('organizations')
    .select('number')
    .executeTakeFirstOrThrow();
  const users = await read.selectFrom('users').select('id').where('org_id', '=', orgNumber).execute();
  const stages = await read
    .selectFrom('pipeline_stages')
    .select(['id', 'pipeline_id', 'type'])
    .where('org_id', '=', orgNumber)
    .orderBy('position')
    .execute();
  return { orgNumber, users: users.map(({ id }) => id), stages };
}

function append(all: Rows, more: Rows): void {
  for (const [table, rows = []] of Object.entries(more)) {
    const before = all[table];
    if (before === undefined) all[table] = rows;
    else before.push(...rows);
  }
}

const inserts = new Map<string, BulkInsert>();

// Records first, since rows beside them refer to them.
async function insertAll(trx: Trx, rows: Rows): Promise<void> {
  for (const [table, some] of Object.entries(rows)) {
    const columns = BESIDE[table] ?? getResource(table).storedColumns;
    const insert = inserts.getOrInsertComputed(table, () => bulkInsert(table, ['org_id', ...columns]));
    await insert(trx, some ?? []);
  }
}
