// The model: what an organization holds and who sees what of it, in memory, written from the contract alone.
import type { Json } from '../support/harness.ts';
import type { Grave } from './undeletes.ts';

/** A record, or a body, as JSON. */
export type Data = Record<string, Json>;

/** Who sends requests: the organization as a whole, or one user of it. */
export interface Actor {
  name: string;
  /** The user that the key is bound to; null for an organization-wide key. */
  userId: string | null;
  /** What created_by says of the actor's records. */
  principal: string;
}

export interface Fault {
  path: string;
  code: string;
}

/** What an answer must be. */
export type Outcome =
  | { status: 200 | 201; data: Json }
  | { status: 204 }
  | { status: 403 | 404 }
  | { status: 409; conflicts: { path: string | null; location: string | null }[] }
  | { status: 422; faults: Fault[] };

export interface LinkRow {
  /** Name of the collection, `deals/contacts`. */
  collection: string;
  parent: string;
  child: string;
  /** Resource of the child. */
  childResource: string;
  supervisor: string | null;
  linkedAt: string;
}

/** An ID that a record has in another system. */
export interface ExternalIdRow {
  resource: string;
  record: string;
  source: string;
  id: string;
  createdAt: string;
}

/** The field that says whose record it is. */
export const OWNER: Record<string, string | null> = {
  contacts: 'owner_id',
  companies: 'owner_id',
  pipelines: null,
  deals: 'owner_id',
  tasks: 'main_assignee_id',
  notes: 'created_by',
  segments: 'created_by',
  interactions: 'created_by',
  meetings: 'owner_id',
  recordings: 'owner_id',
  bookings: 'owner_id',
};

/** Names of all resources. */
export const RESOURCES = Object.keys(OWNER);

export class World {
  /** Unix milliseconds: of a write its instant. */
  now = 0;
  /** The instant of the last write. */
  lastInstant = 0;
  /** Ids of the organization's users. */
  readonly users: string[];
  readonly #tables = new Map<string, Map<string, Data>>(RESOURCES.map((name) => [name, new Map()]));
  /** In the order in which they were made. */
  links: LinkRow[] = [];
  externalIds: ExternalIdRow[] = [];
  /** What is kept of deleted records, by resource and id. */
  readonly graves = new Map<string, Grave>();
  /** When a meeting got the deal or company that it has, by `deal` or `company` and its id. */
  readonly associatedAt = new Map<string, string>();

  constructor(users: string[]) {
    this.users = users;
  }

  get timestamp(): string {
    return new Date(this.now).toISOString();
  }

  /** The records of a resource by id, in the order in which they came. */
  table(resource: string): Map<string, Data> {
    const table = this.#tables.get(resource);
    if (table === undefined) throw new Error(`the model has no ${resource}`);
    return table;
  }

  records(resource: string): Data[] {
    return [...this.table(resource).values()];
  }

  sees(actor: Actor, resource: string, record: Data): boolean {
    const owner = OWNER[resource] ?? null;
    return actor.userId === null || owner === null || record[owner] === actor.userId;
  }

  /** The record of that id, if it is there and the actor sees it. */
  find(actor: Actor, resource: string, id: unknown): Data | undefined {
    const record = this.table(resource).get(String(id));
    return record !== undefined && this.sees(actor, resource, record) ? record : undefined;
  }

  /** All records that the actor sees. */
  seenBy(actor: Actor, resource: string): Data[] {
    return this.records(resource).filter((record) => this.sees(actor, resource, record));
  }

  /** The contact that an email, primary or alternative, belongs to. */
  ownerOfEmail(email: unknown): Data | undefined {
    const key = String(email).toLowerCase();
    return this.records('contacts').find((contact) =>
      [contact.email, ...contact.alt_emails].some((one) => one?.toLowerCase() === key),
    );
  }

  /** A record as the actor is shown it. */
  show(actor: Actor, resource: string, record: Data): Data {
    const shown = { ...record };
    for (const people of ['attendees', 'attendee'])
      if (people in shown) shown[people] = structuredClone(shown[people]);
    if (resource === 'segments')
      shown.member_count = this.childrenOf(actor, 'segments/members', record.id).length;
    if (resource === 'meetings') for (const one of shown.attendees) this.#match(actor, one);
    if (resource === 'bookings' && shown.attendee !== null) this.#match(actor, shown.attendee);
    return shown;
  }

  /** The links of a parent whose children the actor sees, newest first; those of one batch by their ids. */
  childrenOf(actor: Actor, collection: string, parent: string): LinkRow[] {
    return this.links
      .filter((link) => link.collection === collection && link.parent === parent)
      .filter((link) => this.find(actor, link.childResource, link.child) !== undefined)
      .toSorted((a, b) => (a.linkedAt + a.child < b.linkedAt + b.child ? 1 : -1));
  }

  #match(actor: Actor, attendee: Data): void {
    const contact = attendee.email === null ? undefined : this.ownerOfEmail(attendee.email);
    const isSeen = contact !== undefined && this.sees(actor, 'contacts', contact);
    attendee.contact_id = isSeen ? contact.id : null;
  }
}

export const MISSING: Outcome = { status: 404 };
export const FORBIDDEN: Outcome = { status: 403 };

/** The outcome of a body with faults; a path is told once. */
export function refused(all: Fault[]): Outcome {
  const faults = all.filter(({ path }, index) => index === all.findIndex((one) => one.path === path));
  return { status: 422, faults };
}
