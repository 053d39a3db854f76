// Relations: what leads from one record to another is what the contract says, for each pair of resources.
import { expect, test } from 'bun:test';
import { RESOURCES } from '../../db/model/resources/registry.ts';
import { relationsOf, type Way } from '../../db/model/resources/relations.ts';

const EXPECTED: Record<string, Record<string, string[]>> = {
  contacts: {
    companies: ['company_id'],
    deals: ['deals.point_of_contact_id', 'deal_contacts.contact_id → deal_id'],
    segments: ['segment_members.record_id → segment_id'],
  },
  companies: {
    contacts: ['contacts.company_id'],
    deals: ['deals.company_id', 'deal_companies.company_id → deal_id'],
    segments: ['segment_members.record_id → segment_id'],
  },
  deals: {
    contacts: ['point_of_contact_id', 'deal_contacts.deal_id → contact_id'],
    companies: ['company_id', 'deal_companies.deal_id → company_id'],
  },
  notes: {
    contacts: ['note_records.note_id → record_id (contact)'],
    companies: ['note_records.note_id → record_id (company)'],
    deals: ['note_records.note_id → record_id (deal)'],
  },
};

function told(way: Way, target: string): string {
  if (way.kind === 'own') return way.other;
  if (way.kind === 'inverse') return `${target}.${way.own}`;
  const rows = `${way.table}.${way.own} → ${way.other}`;
  return way.type === null ? rows : `${rows} (${way.type})`;
}

test('own fields and links alike lead to what a filter can name', () => {
  for (const resource of RESOURCES) {
    const found = Object.values(relationsOf(resource)).map(
      ({ name, ways }) => [name, ways.map((way) => told(way, name))] as const,
    );
    expect([resource.name, Object.fromEntries(found)]).toEqual([
      resource.name,
      EXPECTED[resource.name] ?? {},
    ]);
  }
});
