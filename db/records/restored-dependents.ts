// What depended on a deleted record is restored with it, from what its delete caused, some changes at a time.

import { sql } from 'kysely';
import { memoize } from '../cache.ts';
import { type Db, type RecordRow, type RecordTrx, tableOf } from '../engine/schema.ts';
import { lookup, statement } from '../engine/statement.ts';
import { TimeSlices } from '../event-loop.ts';
import type { ColumnValue } from '../model/fields.ts';
import type { Resource } from '../model/resource.ts';
import { inOrderOf } from '../tables/in-order.ts';
import { columnsTo } from './dependents.ts';
import { fillReferences, updateReservedRecords } from './record-updates.ts';
import { type CausedChange, type LoggedEffect, type Restoration, readEffects } from './restoration.ts';
import { restoreLinks } from './restored-links.ts';

// Takes a few milliseconds to read, and as long to write.
const CHANGES_AT_ONCE = 1_000;

const causedBy = statement<LoggedEffect>((db, param) =>
  db
    .selectFrom('changes')
    .select(['action', 'resource', 'record', 'data'])
    .where('org_id', '=', param('org'))
    .where('sequence', '>=', param('from'))
    .where('sequence', '<=', param('to'))
    .where('cause', '=', param('cause'))
    .orderBy('sequence'),
);

/** What the delete of a record caused, some changes at a time. */
export async function* effectsOf(
  trx: RecordTrx,
  { orgNumber: org, sequence: cause }: Pick<Restoration, 'orgNumber' | 'sequence'>,
  until: number,
): AsyncGenerator<CausedChange[]> {
  const read = readEffects();
  const turns = new TimeSlices();
  // They follow the delete in one piece, each in a row of its own.
  for (let from = cause + 1; ; from += CHANGES_AT_ONCE) {
    const to = Math.min(from + CHANGES_AT_ONCE, until) - 1;
    const effects = (await causedBy(trx, { org, from, to, cause })).map(read);
    yield effects;
    if (effects.length < CHANGES_AT_ONCE) return;
    if (turns.isOver) await turns.next();
  }
}

/** Restores the references that the delete of a record cleared and that are still null, and its links whose other end exists. */
export async function restoreDependents(
  trx: RecordTrx,
  resource: Resource,
  restoration: Restoration,
): Promise<void> {
  for await (const effects of effectsOf(trx, restoration, restoration.cause)) {
    await restoreReferences(trx, resource, restoration, effects);
    await restoreLinks(trx, resource, restoration, effects);
  }
}

async function restoreReferences(
  trx: RecordTrx,
  resource: Resource,
  { orgNumber, id, cause, now }: Restoration,
  changes: readonly CausedChange[],
): Promise<void> {
  const updated = changes.filter(({ action }) => action === 'updated');
  for (const [other, ofOther] of Map.groupBy(updated, (change) => change.resource))
    for (const column of columnsTo(resource, other.fields)) {
      const cleared = ofOther.filter(({ values: { before } }) => before?.[column] === id);
      const ids = cleared.map((change) => change.id);
      const association = Object.values(other.associations).find((one) => one.column === column);
      if (association === undefined) {
        await fillReferences(trx, other, column, { orgNumber, ids, value: id, now, cause });
        continue;
      }
      const unset = (await findUnset(trx, other, column, { orgNumber, ids })) as RecordRow[];
      const columns = { [column]: id, updated_at: now };
      const values = new Map(cleared.map((change) => [change.id, change.values]));
      const updates = inOrderOf(ids, unset, (row) => row.id).map((row) => {
        const linkedAt = values.get(row.id)?.linked_at ?? null;
        return { row, columns: { ...columns, [association.linkedAt]: linkedAt } };
      });
      await updateReservedRecords(trx, other, orgNumber, updates, cause);
    }
}

/** Those of the records whose reference is null, in no order, with what the log needs of them. */
export async function findUnset(
  db: Db,
  resource: Resource,
  column: string,
  { orgNumber, ids }: { orgNumber: number; ids: readonly string[] },
): Promise<Record<string, ColumnValue>[]> {
  return unsetOf(resource)(column)(db, orgNumber, ids);
}

const unsetOf = memoize((resource: Resource) => {
  const statements = new Map<string, ReturnType<typeof unset>>();
  return (column: string) => statements.getOrInsertComputed(column, () => unset(resource, column));
});

function unset({ name, owner }: Resource, column: string) {
  const columns = ['id', column, ...(owner === null ? [] : [owner])];
  return lookup<Record<string, ColumnValue>>((db, param, isGiven) =>
    db
      .selectFrom(tableOf({ name }))
      .select(columns as never)
      .$castTo<Record<string, ColumnValue>>()
      .where('org_id', '=', param('org'))
      .where(isGiven(sql.ref('id')))
      .where(column, 'is', null),
  );
}
