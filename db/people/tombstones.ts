// Whom an organization has erased, as digests that do not reveal the person, to check restored backups.
import type { Db, Trx } from '../engine/schema.ts';
import { findSetting, initializeSetting, setSetting } from '../engine/setting.ts';

const KEY = 'erasure_key';
const PREFIX = 'erased:';

/** Digests use a key stored in the database; the name of each setting contains the organization's ID and a digest. */
export interface Tombstones {
  key: string;
  /** Setting → time of erasure, RFC 3339 in UTC. */
  erased: Map<string, string>;
}

/** The digest of an erased address of an organization, made with the key of the database. */
function tombstoneOf(key: string, organizationId: string, address: string): string {
  const digest = new Bun.CryptoHasher('sha256', key).update(`${organizationId} ${address.toLowerCase()}`);
  return `${PREFIX}${organizationId}:${digest.digest('hex').slice(0, 32)}`;
}

/** Notes that addresses were erased. */
export async function setTombstones(
  trx: Trx,
  organizationId: string,
  addresses: readonly string[],
  at: string,
): Promise<string[]> {
  await initializeSetting(trx, KEY, Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex'));
  const key = (await findSetting(trx, KEY)) ?? '';
  const names = addresses.map((address) => tombstoneOf(key, organizationId, address));
  for (const name of names) await setSetting(trx, name, at);
  return names.map((name) => name.slice(name.lastIndexOf(':') + 1));
}

/** All tombstones of a database; null if no one was ever erased. */
export async function findTombstones(db: Db): Promise<Tombstones | null> {
  const rows = await db
    .selectFrom('settings')
    .selectAll()
    .where((eb) => eb.or([eb('name', '=', KEY), eb('name', 'like', `${PREFIX}%`)]))
    .execute();
  const settings = new Map(rows.map(({ name, value }) => [name, value]));
  const key = settings.get(KEY);
  if (key === undefined) return null;
  settings.delete(KEY);
  return { key, erased: settings };
}

/** A person erased after the restored backup was made. */
export interface ReturnedPerson {
  organization: string;
  address: string;
}

const CONTACTS_PER_PAGE = 1_000;

/** Copies the tombstones of a replaced database, and finds the people whom only that one had erased. */
export async function copyTombstones(trx: Trx, former: Tombstones): Promise<ReturnedPerson[]> {
  const own = await findTombstones(trx);
  // Tombstones with another key belong to another database.
  if (own !== null && own.key !== former.key) return [];
  const since = new Map([...former.erased].filter(([name, at]) => own?.erased.get(name) !== at));
  for (const [name, value] of [[KEY, former.key] as const, ...since]) await setSetting(trx, name, value);
  return since.size === 0 ? [] : findReturned(trx, former.key, since);
}

async function findReturned(
  db: Db,
  key: string,
  erased: ReadonlyMap<string, string>,
): Promise<ReturnedPerson[]> {
  const found: ReturnedPerson[] = [];
  const organizations = await db.selectFrom('organizations').select(['number', 'id', 'name']).execute();
  for (const { number, id, name } of organizations) {
    // One address is enough to erase a contact.
    const contacts = new Set<string>();
    for (let after = ''; ; ) {
      const rows = await db
        .selectFrom('contact_emails')
        .select(['email_key', 'contact_id'])
        .where('org_id', '=', number)
        .where('email_key', '>', after)
        .orderBy('email_key')
        .limit(CONTACTS_PER_PAGE)
        .execute();
      for (const { email_key: address, contact_id: contact } of rows) {
        if (contacts.has(contact) || !erased.has(tombstoneOf(key, id, address))) continue;
        contacts.add(contact);
        found.push({ organization: name, address });
      }
      if (rows.length < CONTACTS_PER_PAGE) break;
      after = rows.at(-1)?.email_key ?? '';
    }
  }
  return found;
}
