// Generates the companies of the demo data.

import syllables from './companies.json' with { type: 'json' };
import { INDUSTRIES, type Industry } from './industries.ts';
import { asciiWords } from './names.ts';
import { type City, COUNTRIES, type Country, type NameStyle } from './places.ts';
import { createRandom, type Random } from './random.ts';
import type { DemoData, DemoRecord, DemoUser } from './types.ts';

/** A company, with details for later records. */
export interface DemoCompany extends DemoRecord {
  readonly name: string;
  /** The name without its legal form. */
  readonly shortName: string;
  readonly domain: string;
  readonly country: Country;
  readonly city: City;
  readonly industry: Industry;
  readonly headcount: number;
  readonly owner: DemoUser;
}

/** `count` companies with unique names and domains. */
export function makeCompanies(count: number, users: DemoData['users']): DemoCompany[] {
  const random = createRandom('companies');
  const taken = new Set<string>();
  return Array.from({ length: count }, (_, index) => makeCompany(index, random, users, taken));
}

function makeCompany(
  index: number,
  random: Random,
  users: DemoData['users'],
  taken: Set<string>,
): DemoCompany {
  const country = random.weighted(COUNTRIES.map((one) => [one, one.weight] as const));
  const industry = random.pick(INDUSTRIES);
  const city = random.pick(country.cities);
  const shortName = coinName(country.style, industry, random, taken);
  const name = random.chance(0.6) ? `${shortName} ${random.pick(country.forms)}` : shortName;
  const domain = `${asciiWords(shortName).join(random.chance(0.5) ? '-' : '')}.example`;
  const headcount = Math.max(3, Math.round(industry.headcount * 5 ** (random.next() * 2 - 1)));
  const owner = random.pick(users);
  const data = {
    ...{ name, domain, industry: industry.name, employee_count: headcount },
    estimated_revenue: roundTo(headcount * industry.revenuePerHead * (0.7 + random.next() * 0.6), 10_000),
    ...{ city: city.name, state: city.state, country: country.name, owner_id: owner.key },
    linkedin: random.chance(0.7)
      ? `https://linkedin.example/company/${domain.replace('.example', '')}`
      : null,
    custom: { tier: tierOf(headcount), since: 2014 + random.integer(0, 11) },
  };
  const key = `companies/${index}`;
  return { key, data, name, shortName, domain, country, city, industry, headcount, owner };
}

function coinName(style: NameStyle, industry: Industry, random: Random, taken: Set<string>): string {
  const { beginnings, endings } = syllables[style];
  for (;;) {
    const name = `${random.pick(beginnings)}${random.pick(endings)} ${random.pick(industry.trades)}`;
    const slug = asciiWords(name).join('');
    if (!taken.has(slug)) {
      taken.add(slug);
      return name;
    }
  }
}

function tierOf(headcount: number): string {
  if (headcount >= 500) return 'enterprise';
  return headcount >= 100 ? 'mid-market' : 'small business';
}

/** The nearest multiple of `step`. */
export function roundTo(value: number, step: number): number {
  return Math.round(value / step) * step;
}
