// A copy of an organization that follows the feed of changes, and nothing else.
import { expect } from 'bun:test';
import type { Json } from './harness.ts';
import type { Client } from './v2.ts';

/** What the lists give: of a resource, and of a kind of links in a collection. */
export interface Truth {
  records(resource: string): Promise<Json[]> | Json[];
  links(kind: string): Promise<Json[]> | Json[];
}

export const MIRRORED = [
  ...['contacts', 'companies', 'deals', 'pipelines', 'tasks', 'notes', 'segments'],
  ...['interactions', 'meetings', 'recordings', 'bookings'],
];
/** Associations are fields of their records. */
export const MIRRORED_LINKS = ['deals.contacts', 'deals.companies', 'notes.records', 'segments.members'];

// What the service works out from other records leaves no change.
const COMPUTED = ['last_interaction_at', 'member_count', 'recording_ids', 'contact_ids', 'company_ids'];
const MOVED_BY_INTERACTIONS = ['contacts', 'companies'];

const nameOf = ({ parent_id, id }: Json) => `${parent_id} ${id}`;

/** The feed refused a request, such as for a cursor that is too old. */
export class FeedRefusal extends Error {
  readonly status: number;

  constructor(status: number, text: string) {
    super(`the feed gives ${status}: ${text}`);
    this.status = status;
  }
}

export class ChangeMirror {
  readonly #client: Client;
  readonly #records = new Map<string, Map<string, Json>>(MIRRORED.map((name) => [name, new Map()]));
  readonly #links = new Map<string, Map<string, Json>>(MIRRORED_LINKS.map((name) => [name, new Map()]));
  readonly #isOfUser: boolean;
  readonly #onChange: (change: Json) => void;
  readonly #changes: Json[] = [];
  #cursor: string | null = null;
  #sequence = 0;

  /**
   * @param isOfUser whether the client's key is bound to a user, who gets no sequence numbers
   * @param onChange gets each change once
   */
  constructor(client: Client, isOfUser: boolean, onChange: (change: Json) => void = () => undefined) {
    this.#client = client;
    this.#isOfUser = isOfUser;
    this.#onChange = onChange;
  }

  /** Begins again with what there is: the copy, and the place of the feed from before it. */
  async copy(truth: Truth): Promise<void> {
    const { status, body, text } = await this.#client.get('/changes?start=now');
    if (status !== 200) throw new FeedRefusal(status, text);
    for (const copied of [...this.#records.values(), ...this.#links.values()]) copied.clear();
    this.#cursor = body.page_info.end_cursor;
    this.#sequence = body.page_info.head ?? 0;
    for (const name of MIRRORED) for (const one of await truth.records(name)) this.#of(name).set(one.id, one);
    for (const kind of MIRRORED_LINKS)
      for (const one of await truth.links(kind)) this.#linksOf(kind).set(nameOf(one), one);
  }

  /** What the feed has had of a record since it last came into sight, newest first, as its history shows it. */
  historyOf(resource: string, id: string): Json[] {
    const changes = this.#changes.filter((one) => one.resource === resource && one.record_id === id);
    const first = changes.findLastIndex(({ action }) => action === 'created');
    return changes.slice(Math.max(0, first)).toReversed();
  }

  /** Reads the feed to its end, and waits so many seconds for more where there is nothing. @throws FeedRefusal */
  async follow(waitSeconds = 0): Promise<void> {
    for (let isMore = true; isMore; ) {
      const place: string = this.#cursor === null ? '' : `&cursor=${this.#cursor}`;
      const { status, body, text } = await this.#client.get(`/changes?limit=200&wait=${waitSeconds}${place}`);
      if (status !== 200) throw new FeedRefusal(status, text);
      for (const change of body.data) await this.#apply(change);
      this.#cursor = body.page_info.end_cursor;
      isMore = body.page_info.has_next_page;
    }
  }

  /** How many records of a resource, or links of a kind, the copy has. */
  count(name: string): number {
    return (this.#records.get(name) ?? this.#links.get(name))?.size ?? 0;
  }

  /** The differences between the copy and these records of a list. */
  differences(resource: string, records: readonly Json[]): string[] {
    const copy = this.#of(resource);
    return records.flatMap((one) => {
      const copied = copy.get(one.id);
      if (areSame(resource, copied, one)) return [];
      return [
        `${resource}/${one.id}: the copy has ${inShort(resource, copied)}, the list ${inShort(resource, one)}`,
      ];
    });
  }

  /** Holds the copy against what the lists give. */
  expectSame(truth: Truth): Promise<void> {
    const copy = {
      records: (name: string) => [...this.#of(name).values()],
      links: (kind: string) => [...this.#linksOf(kind).values()],
    };
    return expectSameLists(copy, truth);
  }

  async #apply(change: Json): Promise<void> {
    const { sequence, action, resource, record_id, link, record } = change;
    if (this.#isOfUser) expect(sequence).toBe(null);
    else expect(sequence).toBe(this.#sequence + 1);
    this.#sequence = sequence ?? 0;
    const { record: _, ...logged } = change;
    this.#changes.push(logged);
    this.#onChange(change);
    if (action === 'linked' || action === 'unlinked') {
      if (link === null) return;
      const { name, resource: child, ...shown } = link;
      const links = this.#linksOf(`${resource}.${name}`);
      const item = { parent_id: record_id, ...shown };
      if (action === 'linked') links.set(nameOf(item), item);
      else links.delete(nameOf(item));
      return;
    }
    if (record === null) this.#of(resource).delete(record_id);
    else this.#of(resource).set(record_id, record);
    // Each has its own change as well, but those of a person who was erased do not say which link it was.
    if (action === 'deleted') this.#dropLinks(record_id);
    if (!this.#isOfUser) return;
    // It may have links from before it came into sight.
    if (action === 'created') await this.#listLinks(record_id);
  }

  #dropLinks(id: string): void {
    for (const links of this.#links.values())
      for (const [name, one] of links) if (one.parent_id === id || one.id === id) links.delete(name);
  }

  async #listLinks(id: string): Promise<void> {
    for (const kind of MIRRORED_LINKS)
      for (const one of await this.#client.all(`/links?of=${kind}`))
        if (one.parent_id === id || one.id === id) this.#linksOf(kind).set(nameOf(one), one);
  }

  #of(resource: string): Map<string, Json> {
    return this.#records.getOrInsertComputed(resource, () => new Map());
  }

  #linksOf(kind: string): Map<string, Json> {
    return this.#links.getOrInsertComputed(kind, () => new Map());
  }
}

/** Holds a copy against what the lists give, without what leaves no change. */
export async function expectSameLists(copy: Truth, truth: Truth): Promise<void> {
  expect(await listDifferences(copy, truth)).toEqual([]);
}

/** How a copy differs from what the lists give: a sentence for each list, with the first difference. */
export async function listDifferences(copy: Truth, truth: Truth): Promise<string[]> {
  const differences: string[] = [];
  for (const name of [...MIRRORED, ...MIRRORED_LINKS]) {
    const get = MIRRORED.includes(name) ? 'records' : 'links';
    differences.push(...differenceOf(name, await copy[get](name), await truth[get](name)));
  }
  return differences;
}

function differenceOf(name: string, copied: readonly Json[], listed: readonly Json[]): string[] {
  const [copy, list] = [inOrder(copied), inOrder(listed)];
  const at = list.findIndex((one, index) => !areSame(name, copy[index], one));
  if (at === -1 && copy.length === list.length) return [];
  const index = at === -1 ? list.length : at;
  const [inCopy, inList] = [copy[index], list[index]].map((one) => inShort(name, one));
  return [
    `${name}: ${copy.length} in the copy, ${list.length} in the list; number ${index + 1} is ${inCopy} in the copy, ${inList} in the list`,
  ];
}

function inOrder(all: readonly Json[]): Json[] {
  const named = all.map((one): [string, Json] => [nameOf(one), one]);
  return named.sort(([one], [other]) => (one < other ? -1 : 1)).map(([, one]) => one);
}

// Most are the same in all that they have.
function areSame(name: string, copied: Json, listed: Json): boolean {
  if (Bun.deepEquals(copied, listed)) return true;
  return copied !== undefined && Bun.deepEquals(plain(name, copied), plain(name, listed));
}

function inShort(name: string, one: Json): string {
  return one === undefined ? 'nothing' : JSON.stringify(plain(name, one));
}

// A record without what leaves no change.
function plain(resource: string, record: Json): Json {
  const left = { ...record };
  for (const name of COMPUTED) delete left[name];
  if (MOVED_BY_INTERACTIONS.includes(resource)) delete left.updated_at;
  const people = [left.attendees ?? [], left.attendee ?? []].flat();
  if (people.length === 0) return left;
  const nameless = people.map(({ contact_id: _, ...person }: Json) => person);
  return { ...left, attendees: nameless, attendee: null };
}

/** What the lists of a service give to a client. */
export function listsOf(client: Client): Truth {
  return {
    records: (resource) => client.all(`/${resource}`),
    links: (kind) => client.all(`/links?of=${kind}`),
  };
}
