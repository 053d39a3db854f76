// Looks whether anything is left of a person who was erased: in rows, in what the engine keeps beside them, in bytes of the file.
import { isDatabaseAddress } from '../../db/database-address.ts';
import type { AddressSet } from '../../db/people/email-addresses.ts';
import type { RemainingText } from '../../db/people/erasure-check.ts';
import type { Store } from '../../db/store.ts';

/** A place that still has an address. */
export type RemainingPlace =
  | { kind: 'row'; organization: string | null; table: string; id: string | null; column: string }
  /** PostgreSQL's: a few values of a column, of which its planner makes estimates. */
  | { kind: 'statistics'; table: string; column: string }
  | { kind: 'free' | 'log'; file: string; offset: number };

/** The rows of an organization that are left. */
export async function remainingRows(store: Pick<Store, 'read'>, orgNumber: number, addresses: AddressSet) {
  const { findRemainingTexts } = await import('../../db/people/erasure-check.ts');
  return findRemainingTexts(store.read, addresses, { orgNumber });
}

/** With the organization by its name. */
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
 * Everything that is left, once the store is closed. What SQLite has let go of is found by its bytes; the rows of others are
 * read only where such bytes are in use.
 */
export async function findRemainingPlaces(
  db: string,
  {
    orgNumber,
    addresses,
    rows,
  }: { orgNumber: number; addresses: AddressSet; rows: readonly RemainingText[] },
): Promise<RemainingPlace[]> {
  const { analyzeDatabase, openSnapshot } = await import('../../db/store.ts');
  const { emptyWal, findBytes, findInPlannerStatistics } = await import('../../db/maintenance.ts');
  const left: RemainingPlace[] = [];
  let othersMayHave = rows.length > 0;
  if (isDatabaseAddress(db)) {
    // Some values of the rows that are gone are in its statistics until then.
    await analyzeDatabase(db);
    left.push(
      ...(await findInPlannerStatistics(db, addresses.list)).map(
        (one) => ({ kind: 'statistics', ...one }) as const,
      ),
    );
  } else {
    emptyWal(db);
    const forms = addresses.list.flatMap((one) => [one, one.replace('@', '%40')]);
    for (const { file, offset, part } of findBytes(db, forms)) {
      if (part === 'used') othersMayHave = true;
      else left.push({ kind: part, file, offset });
    }
  }
  if (!othersMayHave) return left;
  const { findRemainingTexts } = await import('../../db/people/erasure-check.ts');
  const snapshot = await openSnapshot(db);
  try {
    const others = isDatabaseAddress(db)
      ? []
      : await findRemainingTexts(snapshot.read, addresses, { orgNumber, isOthers: true });
    return [...(await named(snapshot.read, [...rows, ...others])), ...left];
  } finally {
    await snapshot.close();
  }
}

/** A place in words. */
export function describePlace(left: RemainingPlace): string {
  if (left.kind === 'statistics') return `statistics of ${left.table}.${left.column}`;
  if (left.kind === 'row') {
    const of = left.organization === null ? '' : ` of ${left.organization}`;
    return `${left.table}${left.id === null ? '' : ` ${left.id}`}, ${left.column}${of}`;
  }
  return `${left.file}, byte ${left.offset}${left.kind === 'free' ? ', in a part that is free' : ''}`;
}

/** What to do about what is left. */
export function nextStepsFor(left: readonly RemainingPlace[], organization: string): string[] {
  const rows = left.filter((one) => one.kind === 'row');
  const steps: string[] = [];
  if (rows.some(({ table }) => table === 'users'))
    steps.push('users are accounts of crm, not contacts, and stay; see crm users list.');
  if (rows.some((row) => row.organization === organization && row.table !== 'users'))
    steps.push('what was written meanwhile goes with the same command, run again.');
  if (
    rows.some(
      (row) => row.organization !== null && row.organization !== organization && row.table !== 'users',
    )
  )
    steps.push('other organizations erase for themselves: the same command with their --org.');
  if (rows.some((row) => row.organization === null))
    steps.push('names and settings of crm itself are changed where they were given.');
  if (left.some(({ kind }) => kind === 'statistics'))
    steps.push('statistics have values of rows that are left, in other organizations too.');
  if (left.some(({ kind }) => kind === 'log'))
    steps.push(
      'somebody reads an older state of the file, such as a backup: run the same command again after that.',
    );
  if (left.some(({ kind }) => kind === 'free'))
    steps.push(
      'a copy has none of what is free: stop the server, then crm backup NEW and crm restore NEW --confirm',
    );
  return steps;
}
