// Writes of every kind that leaves changes, drawn by chance from what there is.
import type { Json } from '../../support/json.ts';
import type { Random } from '../../support/random.ts';

const IDS_MAX = 40;
const ITEMS = 8;

const RECORD_PATH = /^\/\w+\/[\w-]+$/;
const CREATING_PATH = /^\/\w+(\/batch|\/upsert|\/[\w-]+\/undelete)?$/;

/** A write of v2. */
export interface Write {
  method: string;
  path: string;
  body?: Json;
  /** Whether it leaves a change whenever it succeeds; what may be there already does not. */
  isSure: boolean;
}

const NEW: Record<string, (name: string) => Json> = {
  contacts: (first_name) => ({ first_name, custom: { first_name } }),
  companies: (name) => ({ name }),
  deals: (name) => ({ name }),
  tasks: (name) => ({ name }),
  notes: (title) => ({ title }),
  segments: (name) => ({ name, record_type: 'contact' }),
};
const CREATED = Object.keys(NEW);
/** The field that an update changes, and references that it may set. */
const NAMES: Record<string, string> = { contacts: 'title', notes: 'title', segments: 'description' };
const OWNED = ['contacts', 'companies', 'deals'];

export class Writes {
  readonly #name: string;
  readonly #users: readonly string[];
  readonly #ids = new Map<string, string[]>();
  readonly #deleted: string[] = [];
  #next = 0;

  /**
   * @param name what all values begin with
   * @param users who own records at times
   */
  constructor(name: string, users: readonly string[]) {
    this.#name = name;
    this.#users = users;
  }

  /** Notes what became of a write that succeeded: what was created is changed later. @param data of the response */
  note({ method, path }: Write, data: Json): void {
    if (method === 'DELETE' && RECORD_PATH.test(path)) this.#deleted.push(path);
    if (method !== 'POST' || !CREATING_PATH.test(path)) return;
    const resource = path.split('/')[1] ?? '';
    const records = data.items === undefined ? [data] : data.items.map((item: Json) => item.data);
    const ids = this.#ids.getOrInsertComputed(resource, () => []);
    ids.push(...records.flatMap((record: Json) => record?.id ?? []));
    ids.splice(0, ids.length - IDS_MAX);
  }

  /** Draws a write; null if there is nothing yet for it. */
  draw(random: Random): Write | null {
    const draw = random() * 100;
    const resource = oneOf(CREATED, random);
    const name = `${this.#name}-${this.#next++}`;
    const id = this.#idOf(resource, random);
    if (draw < 20 || id === undefined)
      return { method: 'POST', path: `/${resource}`, body: this.#new(resource, name, random), isSure: true };
    if (draw < 25) {
      const body = Array.from({ length: ITEMS }, () => this.#new(resource, name, random));
      return { method: 'POST', path: `/${resource}/batch`, body, isSure: true };
    }
    if (draw < 55) return this.#update(resource, id, name, random);
    if (draw < 61) return { method: 'DELETE', path: `/${resource}/${id}`, isSure: true };
    if (draw < 62) return this.#undelete();
    if (draw < 64) {
      const body = Array.from({ length: ITEMS }, () => this.#idOf(resource, random));
      return { method: 'POST', path: `/${resource}/batch/delete`, body: [...new Set(body)], isSure: false };
    }
    if (draw < 70) {
      const email = `upserted-${Math.floor(random() * IDS_MAX)}@load.example`;
      return { method: 'POST', path: '/contacts/upsert', body: { email, title: name }, isSure: true };
    }
    if (draw < 74) return this.#interaction(name, random);
    return this.#link(draw > 92, random);
  }

  #update(resource: string, id: string, name: string, random: Random): Write {
    const body: Json = { [NAMES[resource] ?? 'name']: name };
    if (OWNED.includes(resource)) body.owner_id = this.#owner(random);
    if (['contacts', 'tasks'].includes(resource)) body.company_id = this.#idOf('companies', random) ?? null;
    return { method: 'PATCH', path: `/${resource}/${id}`, body, isSure: true };
  }

  #undelete(): Write | null {
    const path = this.#deleted.shift();
    return path === undefined ? null : { method: 'POST', path: `${path}/undelete`, isSure: true };
  }

  #interaction(title: string, random: Random): Write | null {
    const main_contact = this.#idOf('contacts', random);
    if (main_contact === undefined) return null;
    const body = { type: 'CALL', direction: 'OUTBOUND', title, main_contact };
    return { method: 'POST', path: '/interactions', body, isSure: true };
  }

  #link(isRemoved: boolean, random: Random): Write | null {
    const [deal, contact, company] = ['deals', 'contacts', 'companies'].map((name) =>
      this.#idOf(name, random),
    );
    const [note, segment] = ['notes', 'segments'].map((name) => this.#idOf(name, random));
    const kinds: [parent: string | undefined, path: string, child: string | undefined, body: Json][] = [
      [deal, `/deals/${deal}/contacts`, contact, { contact_id: contact }],
      [deal, `/deals/${deal}/companies`, company, { company_id: company }],
      [note, `/notes/${note}/records`, contact, { record_type: 'contact', record_id: contact }],
      [segment, `/segments/${segment}/members`, contact, { record_id: contact }],
    ];
    const [parent, path, child, body] = oneOf(kinds, random);
    if (parent === undefined || child === undefined) return null;
    if (isRemoved) return { method: 'DELETE', path: `${path}/${child}`, isSure: true };
    return { method: 'POST', path, body, isSure: false };
  }

  #new(resource: string, name: string, random: Random): Json {
    const owner = OWNED.includes(resource) ? { owner_id: this.#owner(random) } : {};
    return { ...NEW[resource]?.(name), ...owner };
  }

  #owner(random: Random): string | null {
    return oneOf([...this.#users, null], random);
  }

  #idOf(resource: string, random: Random): string | undefined {
    const ids = this.#ids.get(resource) ?? [];
    return ids.length === 0 ? undefined : oneOf(ids, random);
  }
}

/** One of a list, by chance. */
export function oneOf<T>(list: readonly T[], random: Random): T {
  return list[Math.floor(random() * list.length)] as T;
}
