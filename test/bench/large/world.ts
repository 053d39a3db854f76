// Which records of a large database belong together: how many of each there are, and which contacts, companies and dates they have.
import { Draw } from './draw.ts';

const DAY_MS = 86_400_000;
const SPAN_MS = 730 * DAY_MS;
/** Of each kind at scale 1. */
const FULL = {
  companies: 200_000,
  contacts: 1_000_000,
  deals: 300_000,
  interactions: 2_000_000,
  notes: 100_000,
  tasks: 200_000,
};
const WITH_COMPANY = 0.8;
// Companies have from one contact to thousands, contacts from no interaction to thousands.
const COMPANY_STEEPNESS = 0.7;
const CONTACT_STEEPNESS = 0.6;
// Has a factor in common with no number of records that is a product of 2, 5 and 3.
const SCATTER = 7_919;

export type Counts = Readonly<Record<keyof typeof FULL, number>>;

/** No company. */
export const NONE = -1;

/** Whatever refers to something else, as numbers of records from 0. */
export interface World {
  counts: Counts;
  /** Unix milliseconds of the first record, and of now. */
  begunAt: number;
  endsAt: number;
  /** By contact; `NONE` for none. */
  companyOf: Int32Array;
  /** By interaction. */
  contactOf: Int32Array;
  /** By contact and by company: the last interaction; 0 for none. */
  lastOfContact: Float64Array;
  lastOfCompany: Float64Array;
}

/** How many of each kind there are at a scale; 1 is a million contacts. */
export function countsAt(scale: number): Counts {
  const entries = Object.entries(FULL).map(([name, count]) => [name, Math.max(1, Math.round(count * scale))]);
  return Object.fromEntries(entries) as Counts;
}

/** Draws it all. */
export function worldAt(scale: number, seed: number, now: number): World {
  const counts = countsAt(scale);
  const draw = new Draw(seed);
  const company = draw.ranked(counts.companies, COMPANY_STEEPNESS);
  const contact = draw.ranked(counts.contacts, CONTACT_STEEPNESS);
  const world: World = {
    ...{ counts, begunAt: now - SPAN_MS, endsAt: now },
    companyOf: Int32Array.from({ length: counts.contacts }, () =>
      draw.happens(WITH_COMPANY) ? scattered(company(), counts.companies) : NONE,
    ),
    contactOf: Int32Array.from({ length: counts.interactions }, () => scattered(contact(), counts.contacts)),
    lastOfContact: new Float64Array(counts.contacts),
    lastOfCompany: new Float64Array(counts.companies),
  };
  for (const [index, who] of world.contactOf.entries()) {
    const at = instantOf(world, index, counts.interactions);
    world.lastOfContact[who] = at;
    const where = world.companyOf[who] ?? NONE;
    if (where !== NONE) world.lastOfCompany[where] = at;
  }
  return world;
}

/** When a record of a number is created, of so many that follow each other evenly. */
export function instantOf({ begunAt, endsAt }: World, index: number, count: number): number {
  return begunAt + Math.floor(((endsAt - begunAt) * index) / count);
}

/** Those with the most and those with the least, in this order: the first ranks of a draw, and the last. */
export function busiest(count: number, of: number): number[] {
  return Array.from({ length: Math.min(count, of) }, (_, rank) => scattered(rank, of));
}

/** The number of the record of a rank, so that those with the most lie anywhere. */
function scattered(rank: number, count: number): number {
  return (rank * SCATTER) % count;
}
