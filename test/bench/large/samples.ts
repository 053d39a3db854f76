// Some of the records of a large database; the questions are about these.
import type { TableRow } from '../../../db/engine/bulk-insert.ts';
import type { Records, Rows } from './records.ts';
import { busiest, type Counts, type World } from './world.ts';

const SAMPLES = 400;

export interface ContactSample {
  id: string;
  email: string;
  first: string;
  last: string;
  phone: string | null;
}

/** What the one who asks knows of the database. */
export interface Samples {
  counts: Counts;
  users: string[];
  contacts: ContactSample[];
  companies: { id: string; name: string; domain: string }[];
  deals: string[];
  /** Those with thousands of interactions in a full database, and companies with thousands of contacts. */
  busyContacts: string[];
  busyCompanies: string[];
}

const text = (value: unknown) => (typeof value === 'string' ? value : '');

/** Keeps some of what is written, evenly spread. */
export class SampleKeeper {
  readonly #world: World;
  readonly #contacts: ContactSample[] = [];
  readonly #companies: Samples['companies'] = [];
  readonly #deals: string[] = [];

  constructor(world: World) {
    this.#world = world;
  }

  /** Looks at the rows of a record of a number. */
  look(kind: keyof Counts, index: number, rows: Rows): void {
    const every = Math.max(1, Math.floor(this.#world.counts[kind] / SAMPLES));
    if (index % every !== 0) return;
    for (const row of rows.contacts ?? []) this.#contacts.push(contactOf(row));
    for (const { id, name, domain } of rows.companies ?? [])
      this.#companies.push({ id: text(id), name: text(name), domain: text(domain) });
    for (const { id } of rows.deals ?? []) this.#deals.push(text(id));
  }

  samples({ ids }: Records, users: readonly string[]): Samples {
    const busy = (kind: 'contacts' | 'companies') =>
      busiest(SAMPLES / 10, this.#world.counts[kind]).map((index) => ids[kind][index] ?? '');
    return {
      counts: this.#world.counts,
      users: [...users],
      ...{ contacts: this.#contacts, companies: this.#companies, deals: this.#deals },
      ...{ busyContacts: busy('contacts'), busyCompanies: busy('companies') },
    };
  }
}

const contactOf = ({ id, email, first_name, last_name, phone }: TableRow): ContactSample => ({
  ...{ id: text(id), email: text(email), first: text(first_name), last: text(last_name) },
  phone: typeof phone === 'string' ? phone : null,
});
