// Generates the segments of the demo data, and the links of their members and of deals.
import type { DemoCompany } from './companies.ts';
import type { DemoContact } from './people.ts';
import { createRandom, type Random } from './random.ts';
import { colleaguesOf, type DemoDeal } from './sales.ts';
import type { DemoLink, DemoRecord } from './types.ts';

/** Three segments, and the links of their members. */
export function makeSegments(
  companies: readonly DemoCompany[],
  contacts: readonly DemoContact[],
  deals: readonly DemoDeal[],
): { segments: DemoRecord[]; links: DemoLink[] } {
  const random = createRandom('segments');
  const won = deals.filter((deal) => deal.stage === 'Closed Won').map((deal) => deal.company);
  const enterprises = companies.filter((company) => company.headcount >= 500);
  const leaders = contacts.filter((contact) => /^Chief|Director$/.test(String(contact.data.title)));
  return assemble(random, [
    ['Spring trade fair', 'Decision makers to invite to our stand.', 'contact', leaders, 14],
    ['Reference customers', 'Companies that tell others about us.', 'company', [...new Set(won)], 9],
    ['Enterprise accounts', 'More than 500 people; reviewed every quarter.', 'company', enterprises, 9],
  ]);
}

type SegmentRow = readonly [string, string, 'contact' | 'company', readonly DemoRecord[], number];

function assemble(random: Random, rows: readonly SegmentRow[]) {
  const segments: DemoRecord[] = [];
  const links: DemoLink[] = [];
  for (const [name, description, recordType, candidates, memberCount] of rows) {
    const key = `segments/${segments.length}`;
    segments.push({ key, data: { name, description, record_type: recordType } });
    for (const member of random.sample(candidates, memberCount)) {
      links.push({ parent: key, name: 'members', body: { record_id: member.key } });
    }
  }
  return { segments, links };
}

/** Colleagues of the point of contact in `dealCount` deals, supervised by them, and a partner company in a few. */
export function makeDealLinks(
  dealCount: number,
  deals: readonly DemoDeal[],
  contacts: readonly DemoContact[],
  companies: readonly DemoCompany[],
): DemoLink[] {
  const random = createRandom('deal links');
  const links: DemoLink[] = [];
  for (const deal of random.sample(deals, dealCount)) {
    const colleague = random.sample(colleaguesOf(deal, contacts), 1)[0];
    if (colleague !== undefined) {
      const body = { contact_id: colleague.key, supervisor: deal.contact.key };
      links.push({ parent: deal.key, name: 'contacts', body });
    }
    const partner = random.pick(companies);
    if (random.chance(0.3) && partner !== deal.company) {
      links.push({ parent: deal.key, name: 'companies', body: { company_id: partner.key } });
    }
  }
  return links;
}
