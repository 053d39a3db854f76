// Carries out `crm orgs delete`.
import { isDatabaseAddress } from '../../db/database-address.ts';
import type { OrganizationRow } from '../../db/engine/schema.ts';
import { freePages, scrubFreePages } from '../../db/maintenance.ts';
import { countOrganizationRows, removeOrganization } from '../../db/removal/organization.ts';
import type { Store } from '../../db/store.ts';
import { recordAction } from '../database/audit.ts';
import { databaseFlag, organizationNamed, withStore } from '../database/database.ts';
import { assertRoom, keepBackup } from '../database/kept-backup.ts';
import { usageError } from '../errors.ts';
import type { Config } from '../settings/config.ts';
import { counted } from '../terminal/format.ts';
import { withProgress } from '../terminal/progress.ts';
import { note } from '../terminal/streams.ts';
import { shellWord } from '../terminal/text.ts';

export interface DeleteFlags {
  confirm?: string;
  backup: boolean;
  quiet?: boolean;
}

const WAY_OUT = 'or delete it without a backup: add --no-backup';

/** Deletes an organization with everything that it has, after a backup. */
export async function runOrgsDelete(
  nameOrId: string | undefined,
  { confirm, backup, quiet = false }: DeleteFlags,
  config: Config,
): Promise<void> {
  const { db } = config;
  await withStore(db, async (store) => {
    const org = await organizationNamed(store, nameOrId);
    requireName(org, confirm);
    const restore = backup ? await backUp(db, org, quiet) : null;
    const rows = await remove(store, db, org, quiet);
    if (quiet) return;
    note(
      `Deleted the organization ${org.name} with ${counted(rows, 'row')}. Its entries in the audit log stay.`,
    );
    if (restore !== null) note(restore);
  });
}

function requireName({ name }: OrganizationRow, confirm: string | undefined): void {
  if (confirm === name) return;
  throw usageError(
    confirm === undefined
      ? `Deleting the organization ${name} deletes all its records, users and keys.`
      : `--confirm "${confirm}" is not the name of the organization, ${name}.`,
    `to confirm, add --confirm ${shellWord(name)}`,
  );
}

async function backUp(db: string, { id }: OrganizationRow, quiet: boolean): Promise<string> {
  if (isDatabaseAddress(db))
    throw usageError(
      'A database server is backed up with its own tools.',
      'back it up with pg_dump, then add --no-backup.',
    );
  assertRoom(db, WAY_OUT);
  const what = { name: `before-deletion-of-${id}`, task: 'the deletion', wayOut: WAY_OUT };
  const { file, words } = await keepBackup(db, what);
  if (!quiet) note(words);
  return (
    `The backup still has it. To bring everything back to that moment, with the server stopped: ` +
    `crm restore ${shellWord(file)} --confirm${databaseFlag(db)}`
  );
}

async function remove(store: Store, db: string, org: OrganizationRow, quiet: boolean): Promise<number> {
  const total = await countOrganizationRows(store.read, org.number);
  let removed = 0;
  await withProgress({ label: 'Deleting', unit: 'rows', total, quiet }, (onProgress) =>
    removeOrganization(store, org, {
      onProgress,
      finish: async (trx, rows) => {
        removed = rows;
        const target = { type: 'organizations', id: org.id };
        const entry = { orgNumber: org.number, action: 'organization.deleted', target } as const;
        await recordAction(trx, { ...entry, details: { rows } });
      },
    }),
  );
  if (isDatabaseAddress(db)) return removed;
  const pages = await freePages(store.read);
  if (pages === 0) return removed;
  await withProgress({ label: 'Overwriting', unit: 'free pages', total: pages, quiet }, (add) =>
    scrubFreePages(store, add),
  );
  return removed;
}
