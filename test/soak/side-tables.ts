// What one write puts into several tables, looked at for halves.
import type { Database } from 'bun:sqlite';

// Each finds rows that miss what was written together with them.
const PARTIAL_WRITES: Record<string, string> = {
  'a contact without its address among the addresses':
    'SELECT id FROM contacts WHERE email IS NOT NULL EXCEPT SELECT contact_id FROM contact_emails',
  'an address of no contact': 'SELECT contact_id FROM contact_emails EXCEPT SELECT id FROM contacts',
  'an interaction without its contact':
    'SELECT id FROM interactions WHERE main_contact IS NOT NULL EXCEPT SELECT interaction_id FROM interaction_contacts',
  'a link of no deal': 'SELECT deal_id FROM deal_contacts EXCEPT SELECT id FROM deals',
  'an external ID of no record': `
    SELECT resource || ' ' || record_id FROM external_ids EXCEPT SELECT name || ' ' || id FROM (
      SELECT 'contacts' AS name, id FROM contacts UNION ALL SELECT 'companies', id FROM companies
      UNION ALL SELECT 'deals', id FROM deals UNION ALL SELECT 'pipelines', id FROM pipelines
      UNION ALL SELECT 'tasks', id FROM tasks UNION ALL SELECT 'notes', id FROM notes
      UNION ALL SELECT 'segments', id FROM segments)`,
  'a stored answer to a create of a deal that is not there': `
    SELECT json_extract(body, '$.data.id') FROM idempotency_keys WHERE key GLOB '*-d' AND status = 201
    EXCEPT SELECT id FROM deals`,
  'a deal whose create has no stored answer':
    "SELECT name || '-d' FROM deals EXCEPT SELECT key FROM idempotency_keys",
};

/** Tells of rows that one write put down without the others that belong to them. */
export function partialWritesIn(db: Database): string[] {
  return Object.entries(PARTIAL_WRITES).flatMap(([fault, query]) =>
    db
      .query(query)
      .values()
      .map(([row]) => `${fault}: ${row}`),
  );
}
