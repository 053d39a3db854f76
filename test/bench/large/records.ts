// The rows of a large database, kind by kind, as crm itself would have written them.
import type { TableRow } from '../../../db/engine/bulk-insert.ts';
import type { Data } from '../../../db/model/json.ts';
import { storedRow } from '../../../db/model/record-forms.ts';
import type { Resource } from '../../../db/model/resource.ts';
import { companies } from '../../../db/model/resources/companies.ts';
import { contacts } from '../../../db/model/resources/contacts.ts';
import { deals } from '../../../db/model/resources/deals.ts';
import {
  INTERACTION_DIRECTIONS,
  INTERACTION_TYPES,
  interactions,
} from '../../../db/model/resources/interactions.ts';
import { notes } from '../../../db/model/resources/notes.ts';
import { tasks } from '../../../db/model/resources/tasks.ts';
import { caselessKey } from '../../../db/model/text.ts';
import { recordId } from '../../../db/tables/record-id.ts';
import { FIELDS_OF_WORK, INDUSTRIES, JOBS, RANKS, SCRIPTS, type Script } from './vocabulary.ts';
import type { Wording } from './wording.ts';
import { instantOf, NONE, type World } from './world.ts';

const DAY_MS = 86_400_000;
const CURRENCIES = ['EUR', 'EUR', 'USD', 'USD', 'GBP', 'JPY'] as const;
const PLANS = ['free', 'free', 'free', 'team', 'team', 'gold'] as const;

/** What was there before: the organization, its users and the stages of its pipeline. */
export interface Ground {
  orgNumber: number;
  users: readonly string[];
  stages: readonly { id: string; pipeline_id: string; type: string }[];
}

/** Rows of several tables that belong together. */
export type Rows = Partial<Record<string, TableRow[]>>;

/** Makes the rows of each kind, in order, and remembers the IDs for those that follow. */
export class Records {
  readonly ids: Record<'companies' | 'contacts' | 'deals', string[]> = {
    companies: [],
    contacts: [],
    deals: [],
  };
  readonly names: string[] = [];
  readonly #domains: string[] = [];
  readonly #taken = new Set<string>();
  readonly #world: World;
  readonly #wording: Wording;
  readonly #ground: Ground;

  constructor(world: World, wording: Wording, ground: Ground) {
    this.#world = world;
    this.#wording = wording;
    this.#ground = ground;
  }

  /** The rows of the record of that kind and number. */
  rowsOf(kind: keyof World['counts'], index: number): Rows {
    const now = instantOf(this.#world, index, this.#world.counts[kind]);
    return MAKERS[kind].call(this, index, now);
  }

  company(index: number, now: number): Rows {
    const { draw } = this.#wording;
    const { name, domain } = this.#wording.company();
    const [city, country] = this.#wording.place();
    const own = this.#unused(domain, (number) => domain.replace('.', `${number}.`));
    this.#domains[index] = own;
    const data = {
      ...{ name, domain: own, city, country },
      industry: draw.one(INDUSTRIES as [string, ...string[]]),
      employee_count: Math.ceil(10 ** (draw.share() * 4)),
      owner_id: this.#user(),
      last_interaction_at: this.#world.lastOfCompany[index] || null,
    };
    return { companies: [this.#row(companies, this.#id('companies', now), now, data)] };
  }

  contact(index: number, now: number): Rows {
    const { draw } = this.#wording;
    const name = this.#wording.name();
    const company = this.#world.companyOf[index] ?? NONE;
    const host = (company === NONE ? undefined : this.#domains[company]) ?? this.#wording.mailHost();
    const box = this.#wording.mailbox(name);
    const email = this.#unused(`${box}@${host}`, (number) => `${box}${number}@${host}`);
    this.names[index] = `${name.first} ${name.last}`;
    const data = {
      ...{ email, first_name: name.first, last_name: name.last },
      title: this.#title(),
      phone: draw.happens(0.7) ? this.#wording.phone() : null,
      remarks: draw.happens(0.15) ? this.#wording.sentence(name.script, 6, 20) : null,
      company_id: company === NONE ? null : (this.ids.companies[company] ?? null),
      owner_id: this.#user(),
      keep_in_touch: draw.happens(0.3),
      custom: draw.happens(0.3) ? { plan: draw.one(PLANS), seats: draw.between(1, 200) } : null,
      last_interaction_at: this.#world.lastOfContact[index] || null,
    };
    const id = this.#id('contacts', now);
    const owner = { org_id: this.#ground.orgNumber, email_key: caselessKey(email), contact_id: id };
    return { contacts: [this.#row(contacts, id, now, data)], contact_emails: [owner] };
  }

  deal(_: number, now: number): Rows {
    const { draw } = this.#wording;
    const [contact, company] = this.#someone();
    const stage = draw.one(this.#ground.stages as [Ground['stages'][number], ...Ground['stages']]);
    const isClosed = stage.type !== 'open';
    const movedAt = now + draw.below(Math.max(1, this.#world.endsAt - now));
    const data = {
      name: this.#wording.sentence(SCRIPTS[0] as Script, 2, 4).slice(0, -1),
      ...{ pipeline_id: stage.pipeline_id, stage_id: stage.id, status: stage.type },
      estimated_value: Math.round(100 * 10 ** (draw.share() * 4)),
      currency: draw.one(CURRENCIES),
      estimated_close_date: dayOf(now + draw.between(10, 200) * DAY_MS),
      ...{ company_id: company, point_of_contact_id: contact, owner_id: this.#user() },
      ...{ stage_changed_at: movedAt, closed_at: isClosed ? movedAt : null },
    };
    const id = this.#id('deals', now);
    const others = Array.from({ length: draw.below(4) }, () => this.#someone()[0]);
    const tie = { org_id: this.#ground.orgNumber, deal_id: id, created_at: now };
    return {
      deals: [this.#row(deals, id, now, data)],
      deal_contacts: [...new Set(others)].map((contact_id) => ({ ...tie, contact_id })),
    };
  }

  interaction(index: number, now: number): Rows {
    const { draw } = this.#wording;
    const who = this.#world.contactOf[index] ?? 0;
    const where = this.#world.companyOf[who] ?? NONE;
    const contact = this.ids.contacts[who] ?? '';
    const script = this.#wording.script();
    const title = this.#wording.sentence(script, 2, 6).slice(0, -1);
    const data = {
      type: draw.one(INTERACTION_TYPES as unknown as [string, ...string[]]),
      direction: draw.one(INTERACTION_DIRECTIONS as unknown as [string, ...string[]]),
      title: draw.happens(0.15) ? `${title} ${this.names[who]}` : title,
      summary: draw.happens(0.25) ? this.#wording.sentence(script, 8, 30) : null,
      ...{ interaction_date: now, main_contact: contact },
    };
    const id = recordId(now);
    const tie = { org_id: this.#ground.orgNumber, interaction_id: id };
    const all = draw.happens(0.1) ? new Set([contact, this.#someone()[0]]) : [contact];
    return {
      interactions: [this.#row(interactions, id, now, data)],
      interaction_contacts: [...all].map((contact_id) => ({ ...tie, contact_id })),
      interaction_companies: where === NONE ? [] : [{ ...tie, company_id: this.ids.companies[where] ?? '' }],
    };
  }

  note(_: number, now: number): Rows {
    const { script } = this.#wording.name();
    const title = this.#wording.sentence(script, 2, 5).slice(0, -1);
    const data = { title, content: this.#wording.sentence(script, 10, 60) };
    const id = recordId(now);
    const tie = { org_id: this.#ground.orgNumber, note_id: id, created_at: now };
    const about = { ...tie, record_id: this.#someone()[0], record_type: 'contact' };
    return { notes: [this.#row(notes, id, now, data)], note_records: [about] };
  }

  task(_: number, now: number): Rows {
    const { draw } = this.#wording;
    const [contact, company] = this.#someone();
    const isDone = draw.happens(0.6);
    const data = {
      name: this.#wording.sentence(SCRIPTS[0] as Script, 2, 5).slice(0, -1),
      due_date: now + draw.below(30) * DAY_MS,
      ...{ done: isDone, done_at: isDone ? now + draw.below(DAY_MS) : null },
      ...{ person_id: contact, company_id: company, main_assignee_id: this.#user() },
    };
    return { tasks: [this.#row(tasks, recordId(now), now, data)] };
  }

  #row(resource: Resource, id: string, now: number, data: Data): TableRow {
    const { draw } = this.#wording;
    const left = Math.max(1, this.#world.endsAt - now);
    const updated = draw.happens(0.4) ? now + draw.below(left) : now;
    const origin = { org_id: this.#ground.orgNumber, id, created_by: this.#user() };
    return storedRow(resource.fields, data, { ...origin, created_at: now, updated_at: updated });
  }

  #id(kind: keyof Records['ids'], now: number): string {
    const id = recordId(now);
    this.ids[kind].push(id);
    return id;
  }

  /** A contact by chance, and its company: large companies come more often. */
  #someone(): [contact: string, company: string | null] {
    const who = this.#wording.draw.below(this.ids.contacts.length);
    const where = this.#world.companyOf[who] ?? NONE;
    return [this.ids.contacts[who] ?? '', this.ids.companies[where] ?? null];
  }

  #title(): string {
    const { draw } = this.#wording;
    const job = draw.one(JOBS as [string, ...string[]]);
    const field = draw.happens(0.5) ? `, ${draw.one(FIELDS_OF_WORK as [string, ...string[]])}` : '';
    return `${draw.one(RANKS)} ${job}${field}`.trim();
  }

  #user(): string {
    return this.#wording.draw.one(this.#ground.users as [string, ...string[]]);
  }

  #unused(value: string, numbered: (number: number) => string): string {
    let unused = value;
    for (let number = 2; this.#taken.has(unused); number++) unused = numbered(number);
    this.#taken.add(unused);
    return unused;
  }
}

const MAKERS: Record<keyof World['counts'], (this: Records, index: number, now: number) => Rows> = {
  companies: Records.prototype.company,
  contacts: Records.prototype.contact,
  deals: Records.prototype.deal,
  interactions: Records.prototype.interaction,
  notes: Records.prototype.note,
  tasks: Records.prototype.task,
};

const dayOf = (instant: number) => new Date(instant).toISOString().slice(0, 10);
