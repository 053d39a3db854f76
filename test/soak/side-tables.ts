// What one write puts into several tables, looked at for halves.
import type { Database } from 'bun:sqlite';

// Each finds rows that miss what was written together with them.
const HALVES: Record<string, string> = {
  'a contact without its address among the addresses': `
    SELECT id FROM contacts c WHERE email IS NOT NULL AND NOT EXISTS
      (SELECT 1 FROM contact_emails e WHERE e.org_id = c.org_id AND e.contact_id = c.id)`,
  'an address of no contact': `
    SELECT email_key FROM contact_emails e WHERE NOT EXISTS
      (SELECT 1 FROM contacts c WHERE c.org_id = e.org_id AND c.id = e.contact_id)`,
  'an interaction without its contact': `
    SELECT id FROM interactions i WHERE main_contact IS NOT NULL AND NOT EXISTS
      (SELECT 1 FROM interaction_contacts l WHERE l.org_id = i.org_id AND l.interaction_id = i.id)`,
  'a link of no deal': `
    SELECT deal_id FROM deal_contacts l WHERE NOT EXISTS
      (SELECT 1 FROM deals d WHERE d.org_id = l.org_id AND d.id = l.deal_id)`,
  'a stored answer to a create of a deal that is not there': `
    SELECT key FROM idempotency_keys k WHERE key GLOB '*-d' AND status = 201 AND NOT EXISTS
      (SELECT 1 FROM deals d WHERE d.org_id = k.org_id AND d.id = json_extract(k.body, '$.data.id'))`,
  'a deal whose create has no stored answer': `
    SELECT id FROM deals d WHERE NOT EXISTS
      (SELECT 1 FROM idempotency_keys k WHERE k.org_id = d.org_id AND k.key = d.name || '-d')`,
};

/** Tells of rows that one write put down without the others that belong to them. */
export function halvesIn(db: Database): string[] {
  return Object.entries(HALVES).flatMap(([fault, query]) =>
    db
      .query(query)
      .values()
      .map(([row]) => `${fault}: ${row}`),
  );
}
