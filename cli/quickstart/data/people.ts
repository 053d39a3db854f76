// Generates the contacts of the demo data: who works for the companies, and how to reach them.
import type { Data } from '../../../db/model/json.ts';
import type { DemoCompany } from './companies.ts';
import { TITLES } from './industries.ts';
import { asciiWords, CULTURES, type CultureName } from './names.ts';
import texts from './people.json' with { type: 'json' };
import { createRandom, type Random } from './random.ts';
import type { DemoRecord } from './types.ts';

/** A contact, with details for later records. */
export interface DemoContact extends DemoRecord {
  readonly firstName: string;
  readonly name: string;
  readonly email: string;
  readonly company: DemoCompany;
}

/** `count` contacts with unique emails, distributed over the companies by size. */
export function makeContacts(count: number, companies: readonly DemoCompany[]): DemoContact[] {
  const random = createRandom('contacts');
  const taken = new Set<string>();
  const shares = companies.map((company) => [company, Math.sqrt(company.headcount)] as const);
  return Array.from({ length: count }, (_, index) => {
    // Every company gets one contact first; the others are distributed by size.
    const company = companies[index] ?? random.weighted(shares);
    return makeContact(`contacts/${index}`, company, random, taken);
  });
}

function makeContact(key: string, company: DemoCompany, random: Random, taken: Set<string>): DemoContact {
  const { given, family } = CULTURES[random.weighted(culturesOf(company))];
  const [firstName, lastName] = [random.pick(given), random.pick(family)];
  const email = coinEmail(firstName, lastName, company.domain, taken);
  const data: Data = {
    ...{ first_name: firstName, last_name: lastName, email, title: pickTitle(company, random) },
    ...{ phone: dial(company, random), company_id: company.key, owner_id: company.owner.key },
    alt_emails: random.chance(0.06) ? [email.replace('@', '@mail.')] : [],
    linkedin: random.chance(0.4) ? `https://linkedin.example/in/${email.split('@')[0]}` : null,
    remarks: random.chance(0.15) ? random.pick(texts.remarks) : null,
    keep_in_touch: random.chance(0.2),
    custom: random.chance(0.3)
      ? { prefers: random.pick(texts.channels), newsletter: random.chance(0.6) }
      : {},
  };
  return { key, data, firstName, name: `${firstName} ${lastName}`, email, company };
}

function culturesOf({ country }: DemoCompany): [CultureName, number][] {
  return Object.entries(country.cultures) as [CultureName, number][];
}

function pickTitle(company: DemoCompany, random: Random): string {
  return random.pick(random.chance(0.3) ? company.industry.titles : TITLES);
}

function dial(company: DemoCompany, random: Random): string | null {
  if (company.city.phone === null || random.chance(0.1)) return null;
  return company.city.phone.replace(/#/g, () => String(random.integer(0, 9)));
}

function coinEmail(first: string, last: string, domain: string, taken: Set<string>): string {
  const [given, family] = [asciiWords(first).join(''), asciiWords(last).join('')];
  // One pattern of emails per company, derived from the length of its domain.
  const habits = [
    `${given}.${family}`,
    `${given[0]}.${family}`,
    `${given}${family[0]}`,
    `${given}.${family}`,
  ];
  const local = habits[domain.length % habits.length] ?? given;
  for (let suffix = 1; ; suffix++) {
    const address = `${local}${suffix === 1 ? '' : suffix}@${domain}`;
    if (!taken.has(address)) {
      taken.add(address);
      return address;
    }
  }
}
