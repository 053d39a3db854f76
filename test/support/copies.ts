// Copies of databases, made in the tests' own process so that they can fail at any write.
import { copyTable, countAllRows, tablesToCopy } from '../../db/copy/copy.ts';
import { digestOf, type TableDigest } from '../../db/copy/digest.ts';
import { beginCopy, endCopy, type Readiness } from '../../db/copy/readiness.ts';
import { indexPending } from '../../db/search/pending.ts';
import { openSnapshot, openStore } from '../../db/store.ts';
import { recordAudit } from '../../db/tables/audit.ts';
import { beginBackfill } from '../../db/tables/backfills.ts';
import { insertWaiting } from '../../db/webhooks/queue.ts';
import { type Harness, type Json, startHarness } from './harness.ts';
import { longText } from './long-texts.ts';
import { fillOrganization } from './organization.ts';
import { insertReadOnly, insertTranscribed } from './read-only.ts';
import { clientOf } from './v2.ts';

/** What is created with keys; the answer to the second is stored compressed. */
export const KEYED_CONTACTS: Record<string, Json> = {
  k1: { phone: '1' },
  k2: { phone: '1', remarks: 'long '.repeat(1_000) },
};

/** A service whose database has rows in every table, some of them long, in two organizations. */
export async function startFilled(options: { db?: string } = {}): Promise<Harness> {
  const harness = await startHarness(options);
  await fillOrganization(harness);
  const { send, issue, otherOrgNumber } = harness;
  await insertTranscribed(harness, { external_id: longText('CJK') });
  await insertReadOnly(harness, 'bookings', {
    attendee: { name: null, email: 'x@y.test', contact_id: null },
  });
  const [task = ''] = await clientOf(harness).ids('/tasks');
  const external = { source: 'salesforce', id: longText('emoji', 250) };
  await clientOf(harness).post(`/tasks/${task}/external_ids`, external);
  for (const [key, body] of Object.entries(KEYED_CONTACTS))
    await send('POST', '/api/v2/contacts', { body, headers: { 'Idempotency-Key': key } });
  await addWebhook(harness);
  const other = clientOf(harness, (await issue({ orgNumber: otherOrgNumber })).key);
  await other.create('companies', { name: longText('emoji'), domain: `${longText('CJK', 900)}.test` });
  await other.create('contacts', {
    phone: longText('emoji'),
    alt_emails: [`${longText('letters')}@x.test`.slice(-990)],
  });
  // So many that they take several batches; the first stands under one of the last.
  for (let round = 0; round < 3; round++) {
    const items = Array.from({ length: 40 }, (_, index) => ({
      title: `${round} ${index}`,
      content: longText('CJK'),
    }));
    await other.post('/notes/batch', items);
  }
  const [first = ''] = await other.ids('/notes?sort_direction=asc&limit=1');
  const [last = ''] = await other.ids('/notes?limit=1');
  await other.update('notes', first, { parent_id: last });
  await harness.store.write(otherOrgNumber, (trx) => beginBackfill(trx, otherOrgNumber, 'sample'));
  // The rest stays pending.
  await harness.store.write(otherOrgNumber, (trx) => indexPending(trx, otherOrgNumber));
  const actor = { type: 'operator', id: 'ada@sandbox', userId: null, origin: 'command line' } as const;
  await harness.store.write('accounts', (trx) =>
    recordAudit(trx, { orgNumber: null, actor, action: 'secrets.rotated', target: null, now: Date.now() }),
  );
  return harness;
}

/** What the webhook of `startFilled` is created with. */
export const KEYED_WEBHOOK = {
  body: { url: 'https://example.com/', events: ['*'] },
  headers: { 'Idempotency-Key': 'webhook' },
};

async function addWebhook({ send, store, orgNumber }: Harness): Promise<void> {
  const { id } = (await send('POST', '/api/v2/webhooks', KEYED_WEBHOOK)).body.data;
  await send('POST', `/api/v2/webhooks/${id}/ping`);
  await send('POST', `/api/v2/webhooks/${id}/replay`, { body: { since: '0' } });
  const waiting = { org_id: orgNumber, webhook_id: id, pass: 0, sequence: 1, resource: 0, record: 'x' };
  await store.write(orgNumber, (trx) => insertWaiting(trx, [{ ...waiting, attempt: 1, next_attempt_at: 5 }]));
}

export interface CopyOutcome {
  readiness: Readiness;
  /** Rows that had been copied before. */
  done: number;
  /** Of both sides, for each table. */
  compared: Map<string, [source: TableDigest, copy: TableDigest]>;
}

/**
 * Copies a database as `crm migrate` does.
 * @param beforeWrite called before each write; an error of it is that of the write
 */
export async function copyOf(
  source: string,
  target: string,
  beforeWrite: () => void = () => undefined,
): Promise<CopyOutcome> {
  const snapshot = await openSnapshot(source);
  const store = await openStore(target, { isBeingFilled: true });
  try {
    const from = { db: source, read: snapshot.read };
    const write: typeof store.write = async (scope, job) => {
      beforeWrite();
      return store.write(scope, job);
    };
    const to = { db: target, read: store.read, write };
    const tables = await tablesToCopy();
    const outcome: CopyOutcome = {
      readiness: await beginCopy(from, to, tables),
      done: 0,
      compared: new Map(),
    };
    if (outcome.readiness === 'not empty' || outcome.readiness === 'of another database') return outcome;
    outcome.done = (await countAllRows(from, to, tables)).done;
    for (const table of tables) await copyTable(from, to, table, () => undefined);
    for (const table of tables) {
      const digests = [
        await digestOf(from, table, () => undefined),
        await digestOf(to, table, () => undefined),
      ];
      outcome.compared.set(table.name, digests as [TableDigest, TableDigest]);
    }
    await endCopy(to, async () => undefined);
    return outcome;
  } finally {
    await store.close();
    await snapshot.close();
  }
}
