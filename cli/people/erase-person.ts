// Erases a person from an organization, and from deleted rows that the file still contains.

import { isDatabaseAddress } from '../../db/database-address.ts';
import type { OrganizationRow } from '../../db/engine/schema.ts';
import { freePages, scrubFreePages } from '../../db/maintenance.ts';
import { type Erasure, erasePerson } from '../../db/people/erase.ts';
import { findRemainingTexts } from '../../db/people/erasure-check.ts';
import { countSearchedRows } from '../../db/people/mentions.ts';
import { type DataSubject, findPerson } from '../../db/people/person.ts';
import { setTombstones } from '../../db/people/tombstones.ts';
import type { Store } from '../../db/store.ts';
import { findLastBackup } from '../../db/tables/last-backup.ts';
import { recordAction } from '../database/audit.ts';
import { checkedEmail, organizationNamed, withStore } from '../database/database.ts';
import { usageError } from '../errors.ts';
import { withProgress } from '../terminal/progress.ts';
import { findRemainingPlaces, type RemainingPlace } from './erasure-check.ts';
import { type KnownBackup, knownBackups } from './known-backups.ts';

export interface EraseOptions {
  org?: string;
  confirm?: boolean;
  dryRun?: boolean;
  quiet?: boolean;
}

/** What was erased, or would be. */
export interface EraseSummary extends Erasure {
  dry_run: boolean;
  organization: string;
  contact_id: string | null;
  /** Accounts of crm itself, which are kept. */
  users: { id: string; email: string }[];
  backups: KnownBackup[];
  /** Where an email still is: in rows (which a new backup would contain), and in bytes of the file and its log. */
  left: RemainingPlace[];
}

/** Erases the person; with `dryRun` only returns what would be erased. */
export async function erase(db: string, address: string, options: EraseOptions): Promise<EraseSummary> {
  const { org: orgName, confirm = false, dryRun: isDryRun = false, quiet = false } = options;
  const email = checkedEmail(address);
  if (!confirm && !isDryRun)
    throw usageError(
      `Erasing ${email}${orgName === undefined ? '' : ` from ${orgName}`} cannot be undone.`,
      'review it with --dry-run, keep a copy if you must (crm people export), then add --confirm.',
    );
  const { summary, rest } = await withStore(db, async (store) => {
    const organization = await organizationNamed(store, orgName);
    const person = await findPerson(store.read, organization.number, email);
    const erasure = await eraseRecords(store, organization, person, { isDryRun, quiet });
    if (!isDryRun && !isDatabaseAddress(db)) await scrub(store, quiet);
    const found: Omit<EraseSummary, 'left'> = {
      dry_run: isDryRun,
      organization: organization.name,
      contact_id: person.contactId === '' ? null : person.contactId,
      ...erasure,
      users: person.users.map((user) => ({ id: user.id, email: user.email })),
      backups: knownBackups(db, await findLastBackup(store.read)),
    };
    const { number: orgNumber } = organization;
    const { addresses } = person;
    const rows = isDryRun ? [] : await findRemainingTexts(store.read, addresses, { orgNumber });
    return { summary: found, rest: { orgNumber, addresses, rows } };
  });
  return { ...summary, left: isDryRun ? [] : await findRemainingPlaces(db, rest) };
}

async function eraseRecords(
  store: Store,
  { id, number: orgNumber }: OrganizationRow,
  person: DataSubject,
  { isDryRun, quiet }: { isDryRun: boolean; quiet: boolean },
): Promise<Erasure> {
  const rows = await countSearchedRows(store.read, orgNumber);
  // Everything is read again at the end.
  const total = isDryRun ? rows : 2 * rows;
  return withProgress({ label: 'Reading', unit: 'rows', total, quiet }, (onProgress) =>
    erasePerson(store, person, {
      isDryRun,
      onProgress,
      finish: async (trx, { resources, transcripts }) => {
        const at = new Date().toISOString();
        const [person_digest = null] = await setTombstones(trx, id, person.addresses.list, at);
        const target = { type: 'contacts', id: person.contactId === '' ? null : person.contactId };
        const details = { person_digest, transcripts, ...sums(resources) };
        await recordAction(trx, { orgNumber, action: 'people.erased', target, details });
      },
    }),
  );
}

function sums(resources: Erasure['resources']) {
  const sum = (of: 'deleted' | 'changed' | 'unlinked') =>
    Object.values(resources).reduce((total, counts) => total + counts[of], 0);
  return { deleted: sum('deleted'), changed: sum('changed'), unlinked: sum('unlinked') };
}

async function scrub(store: Store, quiet: boolean): Promise<void> {
  const total = await freePages(store.read);
  await withProgress({ label: 'Overwriting', unit: 'free pages', total, quiet }, (add) =>
    scrubFreePages(store, add),
  );
}
