// The log of changes: what it contains of an erased person is erased, and that something changed remains.

import { CHANGE_ACTIONS, CHANGE_RESOURCES, withoutValues } from '../changes/changes.ts';
import { findLogState } from '../changes/log-state.ts';
import type { ChangeRow } from '../engine/change-row.ts';
import type { Db } from '../engine/schema.ts';
import { nextTurn } from '../event-loop.ts';
import { type Data, isObject, type JsonValue } from '../model/json.ts';
import { contacts } from '../model/resources/contacts.ts';
import type { Store } from '../store.ts';
import { emailsOf } from '../tables/contact-emails.ts';
import { idOfBytes } from '../tables/id-bytes.ts';
import type { DataSubject } from './person.ts';

// A row can have several hundred kilobytes.
const ROWS_PER_PAGE = 100;
// Few of them can be wanted, and a database server ends a statement that takes seconds.
const EXAMINED_PER_PAGE = 10_000;

const DELETED_CONTACTS = {
  action: CHANGE_ACTIONS.indexOf('deleted'),
  resource: CHANGE_RESOURCES.indexOf(contacts.name),
};

type LoggedChange = Pick<ChangeRow, 'sequence' | 'record' | 'data'>;

/**
 * Erases the values of changes of these records, of contacts of the person that were deleted before, of links with any of
 * them, and of all changes that mention the person.
 * @param ids of records that were deleted or changed with the person
 */
export async function eraseLoggedChanges(
  store: Store,
  { orgNumber, addresses, contactId }: DataSubject,
  ids: ReadonlySet<string>,
): Promise<void> {
  const former = await findFormerContacts(store.read, orgNumber, addresses);
  const contactIds = new Set([...former.keys(), ...(contactId === '' ? [] : [contactId])]);
  const deletes = new Set(former.values());
  const isTheirs = ({ sequence, record, data }: LoggedChange): boolean => {
    if (data === null || isErased(data) || deletes.has(sequence)) return false;
    const id = idOfBytes(record);
    if (ids.has(id) || contactIds.has(id) || addresses.isInStored(data)) return true;
    return endsAt(JSON.parse(data), contactIds);
  };
  for await (const rows of pagesOf(store.read, orgNumber)) {
    await eraseValues(store, orgNumber, rows.filter(isTheirs));
    await nextTurn();
  }
  // Last: after an interruption they are needed to find the contacts again.
  for await (const rows of pagesOf(store.read, orgNumber, DELETED_CONTACTS))
    await eraseValues(
      store,
      orgNumber,
      rows.filter(({ sequence }) => deletes.has(sequence)),
    );
}

/** By ID, the sequence number of the delete of each contact that had one of the addresses. */
async function findFormerContacts(
  db: Db,
  orgNumber: number,
  addresses: DataSubject['addresses'],
): Promise<Map<string, number>> {
  const former = new Map<string, number>();
  for await (const rows of pagesOf(db, orgNumber, DELETED_CONTACTS)) {
    for (const { sequence, record, data } of rows) {
      const contact = JSON.parse(data ?? '{}').record ?? {};
      const emails = [contact.email, contact.alt_emails].flatMap((value) => emailsOf(value));
      if (emails.some((email) => addresses.has(email))) former.set(idOfBytes(record), sequence);
    }
    await nextTurn();
  }
  return former;
}

async function eraseValues(store: Store, orgNumber: number, rows: readonly LoggedChange[]): Promise<void> {
  if (rows.length === 0) return;
  await store.write(orgNumber, async (trx) => {
    for (const { sequence, data } of rows) {
      const kept = withoutValues(JSON.parse(data ?? '{}'));
      await trx
        .updateTable('changes')
        .set({ data: kept && JSON.stringify(kept) })
        .where('org_id', '=', orgNumber)
        .where('sequence', '=', sequence)
        .execute();
    }
  });
}

function isErased(data: string): boolean {
  const values: JsonValue = JSON.parse(data);
  return isObject(values) && Object.keys(values).every((name) => name === 'owner');
}

// Whether it is a link of one of the contacts, or one with such a contact in a field of its own.
function endsAt(data: Data, contactIds: ReadonlySet<unknown>): boolean {
  const { id, fields } = data;
  if (typeof id !== 'string') return false;
  return contactIds.has(id) || (isObject(fields) && Object.values(fields).some((one) => contactIds.has(one)));
}

/** The changes that have values, in order; only those of one kind if it is given. */
async function* pagesOf(
  db: Db,
  orgNumber: number,
  kind?: Pick<ChangeRow, 'action' | 'resource'>,
): AsyncGenerator<LoggedChange[]> {
  const inOrder = db.selectFrom('changes').where('org_id', '=', orgNumber).orderBy('sequence');
  const oldest = await inOrder.select('sequence').limit(1).executeTakeFirst();
  for (let after = (oldest?.sequence ?? 0) - 1; ; ) {
    // Others go on writing.
    const { last } = await findLogState(db, orgNumber);
    if (after >= last) return;
    const to = Math.min(after + EXAMINED_PER_PAGE, last);
    let query = inOrder
      .select(['sequence', 'record', 'data'])
      .where('sequence', '>', after)
      .where('sequence', '<=', to)
      .where('data', 'is not', null);
    if (kind !== undefined)
      query = query.where('action', '=', kind.action).where('resource', '=', kind.resource);
    const rows = await query.limit(ROWS_PER_PAGE).execute();
    after = rows[ROWS_PER_PAGE - 1]?.sequence ?? to;
    yield rows;
  }
}
