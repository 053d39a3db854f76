// The names of organizations, for the completion of --org.
import { listOrganizations } from '../../db/accounts/accounts.ts';
import { withSnapshot } from '../database/database.ts';

/** The names of the organizations in a database, which is neither created nor upgraded; throws what the engine throws. */
export async function organizationNames(db: string): Promise<string[]> {
  const rows = await withSnapshot(db, listOrganizations);
  return rows.map(({ name }) => name);
}
