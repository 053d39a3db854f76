// The demo data of quickstart: a few thousand believable, fictional records, the same on every machine.
import { makeCalendar } from './calendar.ts';
import { makeCompanies } from './companies.ts';
import { midnightBefore } from './days.ts';
import { makeDealLinks, makeSegments } from './groups.ts';
import { makeInteractions } from './interactions.ts';
import { makeNotes } from './notes.ts';
import { makeContacts } from './people.ts';
import { makeDeals, makeTasks } from './sales.ts';
import type { DemoData, DemoUser } from './types.ts';

/** The organization that the demo data belongs to: a maker of monitoring instruments. */
export const DEMO_ORGANIZATION = 'Tern & Tide Instruments';

const USERS: readonly DemoUser[] = [
  { key: 'users/0', name: 'Mara Lindqvist', email: 'mara@tern-and-tide.example' },
  { key: 'users/1', name: 'Tomás Herrera', email: 'tomas@tern-and-tide.example' },
  { key: 'users/2', name: 'Priya Nair', email: 'priya@tern-and-tide.example' },
];

/** The demo data as of the day (UTC) of `now`, in Unix milliseconds: only dates depend on it. */
export function buildDemoData(now: number): DemoData {
  const today = midnightBefore(now);
  const companies = makeCompanies(300, USERS);
  const contacts = makeContacts(2_400, companies);
  const deals = makeDeals(700, contacts, today);
  const { notes, links: noteLinks } = makeNotes(300, deals);
  const { segments, links: memberLinks } = makeSegments(companies, contacts, deals);
  const calendar = makeCalendar({ meetings: 40, recordings: 14, bookings: 20 }, deals, contacts, today);
  const bare = ({ key, data }: (typeof notes)[number]) => ({ key, data });
  return {
    users: USERS,
    records: {
      companies: companies.map(bare),
      contacts: contacts.map(bare),
      deals: deals.map(bare),
      tasks: makeTasks(500, deals, today),
      notes,
      segments,
      interactions: makeInteractions(800, deals, today),
    },
    links: [...makeDealLinks(28, deals, contacts, companies), ...noteLinks, ...memberLinks],
    ...calendar,
  };
}
