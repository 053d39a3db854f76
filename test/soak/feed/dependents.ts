// Deletes and restores records with many dependents while another organization writes: how long all of them wait.
import { actingAs } from '../../../db/engine/acting.ts';
import { OPERATOR } from '../../../db/engine/author.ts';
import type { Resource } from '../../../db/model/resource.ts';
import { contacts } from '../../../db/model/resources/contacts.ts';
import { deals } from '../../../db/model/resources/deals.ts';
import { getLinkKind } from '../../../db/model/resources/link-kinds.ts';
import { insertLinks } from '../../../db/records/link-batches.ts';
import { insertReservedRecords } from '../../../db/records/records.ts';
import { recordId } from '../../../db/tables/record-id.ts';
import { type Harness, type Json, startHarness } from '../../support/harness.ts';
import { clientOf } from '../../support/v2.ts';
import { type Waits, waitsOf, writerOf, writeUntil } from './retention.ts';

// A transaction on PostgreSQL ends after some seconds.
const ROWS_AT_ONCE = 5_000;

export interface DependentsFigures {
  /** What was done, and to what. */
  name: string;
  seconds: number;
  /** CPU time of this process, in seconds; on PostgreSQL the server's comes on top. */
  cpuSeconds: number;
  /** Of another organization meanwhile. */
  other: Waits;
}

/** Makes a record with that many dependents; returns its path. */
type Make = (harness: Harness, dependents: number) => Promise<string>;

const CASES: Record<string, Make> = {
  contacts: async (harness, dependents) => {
    const { id } = await clientOf(harness).create('companies');
    await createMany(harness, contacts, dependents, { first_name: 'A', company_id: id });
    return `/companies/${id}`;
  },
  // With the most indexes.
  deals: async (harness, dependents) => {
    const api = clientOf(harness);
    const { id } = await api.create('companies');
    const { pipeline_id, stage_id } = await api.create('deals', { name: 'D' });
    const deal = { name: 'D', pipeline_id, stage_id, status: 'open', company_id: id };
    await createMany(harness, deals, dependents, deal);
    return `/companies/${id}`;
  },
  members: async (harness, dependents) => {
    const { id } = await clientOf(harness).create('segments', { name: 'S', record_type: 'contact' });
    const members = await createMany(harness, contacts, dependents, { first_name: 'A' });
    const { orgNumber, clock, store } = harness;
    const end = (_: string, one: string) => ({ id: one, record_type: 'contact' });
    const writing = { orgNumber, now: clock.now, end };
    const rows = members.map((child_id) => ({ parent_id: id, child_id, linked_at: clock.now }));
    for (let from = 0; from < dependents; from += ROWS_AT_ONCE)
      await store.write(orgNumber, (trx) => {
        const some = rows.slice(from, from + ROWS_AT_ONCE);
        return insertLinks(actingAs(trx, OPERATOR), getLinkKind('segments.members'), writing, some);
      });
    return `/segments/${id}`;
  },
};

async function createMany(
  { store, orgNumber, alice, clock }: Harness,
  resource: Resource,
  count: number,
  data: Json,
): Promise<string[]> {
  const now = clock.now++;
  const records = Array.from({ length: count }, () => ({ id: recordId(now), data }));
  for (let from = 0; from < count; from += ROWS_AT_ONCE) {
    const some = records.slice(from, from + ROWS_AT_ONCE);
    await store.write(orgNumber, async (trx) =>
      insertReservedRecords(actingAs(trx, OPERATOR), resource, { orgNumber, createdBy: alice, now }, some),
    );
  }
  return records.map(({ id }) => id);
}

/** Deletes and restores a record of each kind on which so many others depend. */
export async function deleteWithDependents(dependents: number): Promise<DependentsFigures[]> {
  const figures: DependentsFigures[] = [];
  for (const [name, make] of Object.entries(CASES)) {
    const harness = await startHarness();
    try {
      const path = await make(harness, dependents);
      const api = clientOf(harness);
      const steps = { delete: () => api.del(path), undelete: () => api.post(`${path}/undelete`) };
      for (const [step, request] of Object.entries(steps))
        figures.push({ name: `${step}, ${name}`, ...(await measure(harness, request)) });
    } finally {
      await harness.close();
    }
  }
  return figures;
}

async function measure(harness: Harness, request: () => Promise<{ status: number; text: string }>) {
  const writer = await writerOf(harness, harness.otherOrgNumber);
  const [begun, cpu] = [performance.now(), process.cpuUsage()];
  const carriedOut = request();
  const { ms } = await writeUntil(writer, carriedOut);
  const { status, text } = await carriedOut;
  if (status >= 300) throw new Error(text);
  const { user, system } = process.cpuUsage(cpu);
  const seconds = (performance.now() - begun) / 1_000;
  return { seconds, cpuSeconds: (user + system) / 1e6, other: waitsOf(ms) };
}
