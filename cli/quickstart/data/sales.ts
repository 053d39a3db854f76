// Generates the deals of the demo data, and their tasks.

import { DAY_MS } from '../../input/instant.ts';
import { type DemoCompany, roundTo } from './companies.ts';
import { isoDay, workingHour } from './days.ts';
import { OFFERS, type Offer } from './industries.ts';
import type { DemoContact } from './people.ts';
import { createRandom, type Random } from './random.ts';
import texts from './sales.json' with { type: 'json' };
import type { DemoRecord } from './types.ts';

/** A deal, with details for later records. */
export interface DemoDeal extends DemoRecord {
  readonly name: string;
  readonly stage: StageName;
  readonly offer: Offer;
  readonly sites: string;
  readonly company: DemoCompany;
  readonly contact: DemoContact;
}

const STAGES = [
  ['Prospecting', 24],
  ['Discovery', 19],
  ['Proposal', 15],
  ['Negotiation', 9],
  ['Closed Won', 20],
  ['Closed Lost', 13],
] as const;
type StageName = (typeof STAGES)[number][0];

// Roughly what one euro buys; the demo needs plausible amounts, not today's rates.
const UNITS_PER_EURO: Readonly<Record<string, number>> = texts.unitsPerEuro;

/** `count` deals over the stages of the default pipeline, each with a contact of its company. */
export function makeDeals(count: number, contacts: readonly DemoContact[], today: number): DemoDeal[] {
  const random = createRandom('deals');
  return Array.from({ length: count }, (_, index) =>
    makeDeal(`deals/${index}`, random.pick(contacts), random, today),
  );
}

function makeDeal(key: string, contact: DemoContact, random: Random, today: number): DemoDeal {
  const { company } = contact;
  const stage = random.weighted(STAGES);
  const offer = random.pick(OFFERS);
  const siteCount = random.integer(2, company.headcount > 200 ? 40 : 9);
  const sites = `${siteCount} ${random.pick(company.industry.sites)}`;
  const name = `${company.shortName}: ${offer.deal.replace('{n} {sites}', sites)}`;
  const closed = stage.startsWith('Closed');
  const closeDay = today + (closed ? -random.integer(2, 400) : random.integer(-10, 180)) * DAY_MS;
  const data = {
    ...{ name, stage_id: `stages/${stage}`, ...price(offer, siteCount, company.country.currency, random) },
    estimated_close_date: stage === 'Prospecting' && random.chance(0.4) ? null : isoDay(closeDay),
    ...{ company_id: company.key, point_of_contact_id: contact.key, owner_id: company.owner.key },
    custom: {
      source: random.pick(texts.sources),
      ...(stage === 'Closed Lost' && { lost_reason: random.pick(texts.lostReasons) }),
    },
  };
  return { key, data, name, stage, offer, sites, company, contact };
}

function price(offer: Offer, siteCount: number, currency: string, random: Random) {
  const euros = (offer.base + offer.perSite * siteCount) * (0.85 + random.next() * 0.3);
  const perEuro = UNITS_PER_EURO[currency] ?? 1;
  return {
    estimated_value: roundTo(euros * perEuro, perEuro < 5 ? 50 : perEuro < 50 ? 500 : 10_000),
    currency,
  };
}

// The next tasks in a stage; `{…}` is filled in from the deal.
const TASKS: Readonly<Record<StageName, readonly string[]>> = texts.tasks;

/** `count` tasks about the deals; old ones are done. */
export function makeTasks(count: number, deals: readonly DemoDeal[], today: number): DemoRecord[] {
  const random = createRandom('tasks');
  return Array.from({ length: count }, (_, index) => {
    const deal = random.pick(deals);
    const due = workingHour(today + random.integer(-60, 45) * DAY_MS, random);
    const data = {
      name: fillIn(random.pick(TASKS[deal.stage]), deal),
      description: random.chance(0.4) ? random.pick(texts.taskDetails) : null,
      due_date: random.chance(0.9) ? due : null,
      done: due < today && random.chance(0.85),
      ...{ company_id: deal.company.key, deal_id: deal.key, person_id: deal.contact.key },
      main_assignee_id: deal.company.owner.key,
    };
    return { key: `tasks/${index}`, data };
  });
}

/** Who else works for the company of a deal's contact. */
export function colleaguesOf(deal: DemoDeal, contacts: readonly DemoContact[]): DemoContact[] {
  return contacts.filter((one) => one.company === deal.company && one !== deal.contact);
}

/** A text with `{first}`, `{company}`, `{city}`, `{sites}`, `{industry}`, `{offer}` and `{owner}` filled in from a deal. */
export function fillIn(text: string, deal: DemoDeal): string {
  const values: Record<string, string> = {
    first: deal.contact.firstName,
    company: deal.company.shortName,
    city: deal.company.city.name,
    sites: deal.sites,
    industry: deal.company.industry.name.toLowerCase(),
    offer: deal.offer.spoken,
    owner: deal.company.owner.name.split(' ')[0] ?? '',
  };
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}
