// Responses stored for repeated requests: those that mention a person are erased with the person.

import type { Db, IdempotencyRow } from '../engine/schema.ts';
import { nextTurn } from '../event-loop.ts';
import type { Store } from '../store.ts';
import { deleteResponses } from '../tables/idempotency.ts';
import { readStoredText } from '../tables/stored-response-text.ts';
import type { DataSubject } from './person.ts';

type Key = Pick<IdempotencyRow, 'principal' | 'key'>;

// A body can have several megabytes.
const ROWS_PER_PAGE = 10;

/**
 * Deletes the stored responses that mention a person, the contact, or a deleted record; a repeated request is then executed
 * again. Returns their number.
 */
export async function deleteStoredResponses(
  store: Store,
  { orgNumber, addresses }: DataSubject,
  ids: ReadonlySet<string>,
  isDryRun: boolean,
): Promise<number> {
  let count = 0;
  for (let after: Key = { principal: '', key: '' }; ; ) {
    const rows = await readSome(store.read, orgNumber, after);
    const last = rows.at(-1);
    if (last === undefined) return count;
    after = last;
    const those = rows.filter((row) => {
      // The client chooses the key of a request, so it is searched as well.
      const texts = [readStoredText(row), row.location ?? '', row.key];
      return texts.some(
        (text) => addresses.isInStored(text) || (text.match(IDS) ?? []).some((id) => ids.has(id)),
      );
    });
    count += those.length;
    if (those.length > 0 && !isDryRun)
      await store.write(orgNumber, (trx) => deleteResponses(trx, orgNumber, those, Date.now()));
    await nextTurn();
  }
}

const IDS = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

function readSome(db: Db, orgNumber: number, { principal, key }: Key) {
  return db
    .selectFrom('idempotency_keys')
    .select(['principal', 'key', 'body', 'packed', 'location'])
    .where('org_id', '=', orgNumber)
    .where((eb) => eb(eb.refTuple('principal', 'key'), '>', eb.tuple(principal, key)))
    .orderBy('principal')
    .orderBy('key')
    .limit(ROWS_PER_PAGE)
    .execute();
}
