// Checks whether anything is left of an erased person: in rows, in statistics, in bytes of the file.

import { isDatabaseAddress } from '../../db/database-address.ts';
import { emptyWal, findBytes, findInPlannerStatistics, type PlannerValue } from '../../db/maintenance.ts';
import type { AddressSet } from '../../db/people/email-addresses.ts';
import { findRemainingTexts, isInColumn, type RemainingText } from '../../db/people/erasure-check.ts';
import type { Store } from '../../db/store.ts';
import { withSnapshot } from '../database/database.ts';
import { shellWord } from '../terminal/text.ts';

/** A place that still contains an email. */
export type RemainingPlace =
  | { kind: 'row'; organization: string | null; table: string; id: string | null; column: string }
  /** PostgreSQL's statistics: a few values of a column, which its planner uses for estimates; stale if no row is left. */
  | { kind: 'statistics'; table: string; column: string; is_stale: boolean }
  | { kind: 'free' | 'log'; file: string; offset: number };

/** Adds the name of the organization. */
async function named(read: Store['read'], rows: readonly RemainingText[]): Promise<RemainingPlace[]> {
  const organizations = await read.selectFrom('organizations').select(['number', 'name']).execute();
  const names = new Map(organizations.map(({ number, name }) => [number, name]));
  return rows.map(({ org_id: number, ...row }) => ({
    kind: 'row',
    organization: number === null ? null : (names.get(number) ?? String(number)),
    ...row,
  }));
}

/**
 * Everything that is left, once the store is closed. Deleted rows are found by their bytes; rows of other organizations
 * are read only if such bytes are in use.
 */
export async function findRemainingPlaces(
  db: string,
  {
    orgNumber,
    addresses,
    rows,
  }: { orgNumber: number; addresses: AddressSet; rows: readonly RemainingText[] },
): Promise<RemainingPlace[]> {
  const left: RemainingPlace[] = [];
  let othersMayHave = rows.length > 0;
  if (isDatabaseAddress(db)) {
    const columns = new Map<string, RemainingPlace>();
    for (const { table, column, isStale } of await findInPlannerStatistics(db, (one) =>
      isTheirs(addresses, one),
    ))
      columns.set(`${table} ${column}`, { kind: 'statistics', table, column, is_stale: isStale });
    left.push(...columns.values());
  } else {
    emptyWal(db);
    const forms = addresses.list.flatMap((one) => [one, one.replace('@', '%40')]);
    for (const { file, offset, part } of findBytes(db, forms)) {
      if (part === 'used') othersMayHave = true;
      else left.push({ kind: part, file, offset });
    }
  }
  if (!othersMayHave) return left;
  return withSnapshot(db, async (read) => {
    const others = isDatabaseAddress(db)
      ? []
      : await findRemainingTexts(read, addresses, { orgNumber, isOthers: true });
    return [...(await named(read, [...rows, ...others])), ...left];
  });
}

function isTheirs(addresses: AddressSet, { table, column, value, isIndex }: PlannerValue): boolean {
  // What expressions are indexed by is mostly an address and nothing else.
  return isIndex ? addresses.isAt(value) : isInColumn(addresses, { table, column, text: value });
}

/** A place in words. */
export function describePlace(left: RemainingPlace): string {
  if (left.kind === 'statistics') return `statistics of ${left.table}.${left.column}`;
  if (left.kind === 'row') {
    const of = left.organization === null ? '' : ` of ${left.organization}`;
    return `${left.table}${left.id === null ? '' : ` ${left.id}`}, ${left.column}${of}`;
  }
  return `${left.file}, byte ${left.offset}${left.kind === 'free' ? ', in free space' : ''}`;
}

// What they have is for people to change.
const KEPT_TABLES = ['users', 'webhooks', 'organizations'];

/** The next steps for what is left. */
export function nextStepsFor(left: readonly RemainingPlace[], organization: string): string[] {
  const rows = left.filter((one) => one.kind === 'row');
  const steps: string[] = [];
  if (rows.some(({ table }) => table === 'users'))
    steps.push(
      'ignore users: they are crm accounts, not contacts, and are kept. To list them: crm users list',
    );
  const own = rows.filter((row) => row.organization === organization);
  for (const { table, id } of own) {
    if (table === 'webhooks')
      steps.push(`change the URL of the webhook, or delete it: crm webhooks update ${id} url=URL`);
    if (table === 'organizations')
      steps.push(`give the organization another name: crm orgs rename ${shellWord(organization)} NAME`);
  }
  if (own.some(({ table }) => !KEPT_TABLES.includes(table)))
    steps.push('run the same command again to erase what was written in the meantime.');
  if (
    rows.some(
      (row) => row.organization !== null && row.organization !== organization && row.table !== 'users',
    )
  )
    steps.push('erase the person from other organizations too, with the same command and their --org.');
  if (rows.some((row) => row.organization === null))
    steps.push('change names and settings of crm itself where you set them.');
  const statistics = left.filter((one) => one.kind === 'statistics');
  if (statistics.some((one) => !one.is_stale))
    steps.push('check the rows that are left, in other organizations too: statistics contain their values.');
  for (const table of new Set(statistics.flatMap((one) => (one.is_stale ? [one.table] : []))))
    steps.push(
      `have a superuser of PostgreSQL remove what it kept of rows that are gone: DELETE FROM pg_statistic WHERE starelid = '${table}'::regclass`,
    );
  if (left.some(({ kind }) => kind === 'log'))
    steps.push(
      'wait until readers of an older state, such as a backup, are done, then run the same command again.',
    );
  if (left.some(({ kind }) => kind === 'free'))
    steps.push(
      'replace the file with a copy, which has no free space: stop the server, then crm backup NEW and crm restore NEW --confirm',
    );
  return steps;
}
