// Timelines in the model: worked out from what is there, and from the log of changes for what was there when.
import { expect } from 'bun:test';
import type { Json } from '../support/harness.ts';
import type { Client } from '../support/v2.ts';
import type { Actor, Data, World } from './world.ts';

/** What shows on timelines: the record at the other end of a tie, or an update of the record itself. */
interface Entry {
  kind: string;
  at: number;
  resource: string;
  record: string;
  /** Of the change that it is, if it is one. */
  sequence?: number;
  detail: Json;
  /** The contact or deal through which it shows on a company. */
  via: { resource: string; id: string } | null;
}

interface Tie {
  record: string;
  end: { resource: string; id: string };
  /** What ties them: fields, or a link. */
  by: Set<string>;
  /** The change that did, and the one since which it shows that a task is done. */
  since: number;
  doneSince: number;
}

const SUBJECTS = ['contacts', 'companies', 'deals'];
const FIELDS: Record<string, Record<string, string>> = {
  tasks: { person_id: 'contacts', company_id: 'companies', deal_id: 'deals' },
  deals: { point_of_contact_id: 'contacts', company_id: 'companies' },
  meetings: { company_id: 'companies', deal_id: 'deals' },
};
const KINDS: Record<string, string> = { tasks: 'task', deals: 'deal', notes: 'note', meetings: 'meeting' };
const PEOPLE: Record<string, string> = { meetings: 'meeting', bookings: 'booking' };

const key = (resource: string, id: string) => `${resource} ${id}`;

/** All that happened in an organization, by the record on whose timeline it is. */
export class Timelines {
  readonly #world: World;
  readonly #changes: Json[];
  readonly #ofRecord: ReadonlyMap<string, Json[]>;
  readonly #ties = new Map<string, Tie>();
  readonly #entries = new Map<string, Entry[]>();
  readonly #stageNames: (id: string, sequence: number) => string | null;

  /** @param changes all of them, in order */
  constructor(world: World, changes: Json[]) {
    this.#world = world;
    this.#changes = changes;
    this.#ofRecord = Map.groupBy(changes, ({ resource, record_id }) => key(resource, record_id));
    this.#stageNames = (id, sequence) => {
      for (const pipeline of this.#everyPipeline()) {
        const stage = this.#valueAt('pipelines', pipeline, 'stages', sequence)?.find(
          (one: Json) => one.id === id,
        );
        if (stage !== undefined) return stage.name;
      }
      return null;
    };
    for (const change of changes) this.#replay(change);
    this.#showTies();
    this.#showPeople();
  }

  #everyPipeline(): Set<string> {
    const known = this.#changes.flatMap(({ resource, record_id }) =>
      resource === 'pipelines' ? [record_id] : [],
    );
    return new Set([...known, ...this.#world.table('pipelines').keys()]);
  }

  // Before the change with that number.
  #valueAt(resource: string, id: string, field: string, sequence: number): Json {
    for (const { sequence: number, action, before } of this.#ofRecord.get(key(resource, id)) ?? []) {
      if (number < sequence) continue;
      if (action === 'deleted' || (action === 'updated' && before !== null && field in before))
        return before?.[field] ?? null;
    }
    return this.#world.table(resource).get(id)?.[field] ?? null;
  }

  #replay(change: Json): void {
    const { sequence, action, resource, record_id: id, cause, before, after, link } = change;
    const fields = Object.entries(FIELDS[resource] ?? {});
    if (action === 'created' || action === 'undeleted') {
      for (const [field, target] of fields) {
        const value = this.#valueAt(resource, id, field, sequence + 1);
        for (const tie of this.#ties.values())
          if (tie.record === id && tie.end.id !== value) tie.by.delete(field);
        if (value !== null) this.#tie(id, target, value, field, change);
      }
      if (resource === 'deals' && action === 'created') this.#tie(id, 'deals', id, 'itself', change);
    }
    if (action === 'linked' && ['deals', 'notes'].includes(resource))
      this.#tie(id, link.resource, link.id, 'link', change);
    if (action === 'unlinked') this.#ties.get(`${id} ${link.id}`)?.by.delete('link');
    if (action !== 'updated') return;
    for (const [field, target] of fields) {
      if (!(field in after)) continue;
      if (before[field] !== null) this.#ties.get(`${id} ${before[field]}`)?.by.delete(field);
      if (after[field] !== null) this.#tie(id, target, after[field], field, change);
    }
    if (typeof after.done_at === 'string')
      for (const tie of this.#ties.values())
        if (tie.record === id && tie.by.size > 0) tie.doneSince = sequence;
    if (SUBJECTS.includes(resource)) this.#showChange(change);
    if (resource === 'deals' && 'stage_id' in after) this.#showStage(change);
    void cause;
  }

  #tie(record: string, resource: string, id: string, by: string, { sequence, cause }: Json): void {
    const tie = this.#ties.getOrInsertComputed(`${record} ${id}`, () => ({
      ...{ record, end: { resource, id }, by: new Set<string>() },
      ...{ since: 0, doneSince: 0 },
    }));
    const isRestored = cause !== null && tie.since > 0;
    if (tie.by.size === 0 && !isRestored) {
      Object.assign(tie, { since: sequence, doneSince: sequence });
      // What it showed before it was untied is gone.
      const old = this.#entries.get(key(resource, id)) ?? [];
      this.#entries.set(
        key(resource, id),
        old.filter((entry) => entry.kind !== 'stage' || entry.record !== record || resource === 'deals'),
      );
      for (const [name, entries] of this.#entries)
        if (resource === 'contacts')
          this.#entries.set(
            name,
            entries.filter(
              (entry) => entry.kind !== 'stage' || entry.record !== record || entry.via?.id !== id,
            ),
          );
    } else if (tie.by.size === 0) {
      const done = this.#doneSince(record);
      if (tie.doneSince < done) tie.doneSince = sequence;
    }
    tie.by.add(by);
  }

  // The change with which a task was done the last time.
  #doneSince(id: string): number {
    const done = (this.#ofRecord.get(key('tasks', id)) ?? []).filter(
      ({ action, after }) => action === 'updated' && typeof after.done_at === 'string',
    );
    return done.at(-1)?.sequence ?? 0;
  }

  #add(resource: string, id: string, entry: Omit<Entry, 'via'>, company: Json): void {
    const add = (name: string, shown: Entry) => this.#entries.getOrInsertComputed(name, () => []).push(shown);
    add(key(resource, id), { ...entry, via: null });
    if (resource !== 'companies' && company !== null)
      add(key('companies', company), { ...entry, via: { resource, id } });
  }

  #companyAfter(resource: string, id: string, sequence: number): Json {
    return resource === 'companies' ? null : this.#valueAt(resource, id, 'company_id', sequence + 1);
  }

  #showChange({ sequence, at, resource, record_id: record, cause, before, after }: Json): void {
    const isCleared = cause !== null && 'company_id' in after;
    const company =
      isCleared || resource === 'companies' ? null : this.#valueAt(resource, record, 'company_id', sequence);
    const entry = {
      kind: 'change',
      at: Date.parse(at),
      resource,
      record,
      sequence,
      detail: { before, after },
    };
    this.#add(resource, record, entry, company);
  }

  #showStage({ sequence, at, record_id: record, before, after }: Json): void {
    const nameOf = (id: string) => this.#stageNames(id, sequence);
    const detail = { from: nameOf(before.stage_id), to: nameOf(after.stage_id) };
    const entry = { kind: 'stage', at: Date.parse(at), resource: 'deals', record, sequence, detail };
    for (const { record: deal, end, by } of this.#ties.values())
      if (deal === record && end.resource !== 'companies' && (by.size > 0 || end.resource === 'deals'))
        this.#add(end.resource, end.id, entry, this.#companyAfter(end.resource, end.id, sequence));
  }

  #showTies(): void {
    const world = this.#world;
    for (const { record: id, end, since, doneSince } of this.#ties.values()) {
      const resource = Object.keys(KINDS).find((name) => world.table(name).has(id));
      if (resource === undefined || !this.#isTied(id, end)) continue;
      const record = world.table(resource).get(id) ?? {};
      const kind = KINDS[resource] ?? '';
      const at =
        resource === 'meetings'
          ? (record.start_time ?? Date.parse(record.created_at))
          : Date.parse(record.created_at);
      const detail = resource === 'meetings' ? { recording_ids: record.recording_ids } : null;
      const entry = { kind, at, resource, record: id, detail };
      const company = id === end.id ? null : this.#companyAfter(end.resource, end.id, since);
      this.#add(end.resource, end.id, entry, company);
      if (typeof record.done_at !== 'string') continue;
      const done = { ...entry, at: Date.parse(record.done_at), detail: { is_done: true } };
      this.#add(end.resource, end.id, done, this.#companyAfter(end.resource, end.id, doneSince));
    }
    for (const interaction of world.records('interactions')) {
      const created = this.#ofRecord.get(key('interactions', interaction.id))?.[0]?.sequence;
      const { id: record, interaction_date: at } = interaction;
      const entry = { kind: 'interaction', at, resource: 'interactions', record, detail: null };
      for (const id of interaction.contact_ids)
        this.#add('contacts', id, entry, this.#companyAfter('contacts', id, created));
      for (const id of interaction.company_ids) this.#add('companies', id, entry, null);
    }
  }

  // Meetings and bookings were there before any contact had an address in them.
  #showPeople(): void {
    for (const [resource, kind] of Object.entries(PEOPLE))
      for (const record of this.#world.records(resource)) {
        const invited = [
          record.organizer,
          ...(record.attendees ?? [record.attendee]),
          ...(record.guests ?? []),
        ];
        const owners = invited.map((one) => this.#world.ownerOfEmail(one?.email ?? one));
        const detail = resource === 'meetings' ? { recording_ids: record.recording_ids } : null;
        const at = record.start_time ?? Date.parse(record.created_at);
        for (const contact of new Set(owners.filter((one) => one !== undefined)))
          this.#add('contacts', contact.id, { kind, at, resource, record: record.id, detail }, null);
      }
  }

  #isTied(id: string, end: Tie['end']): boolean {
    const world = this.#world;
    if (!world.table(end.resource).has(end.id)) return false;
    if (id === end.id) return true;
    const resource = Object.keys(KINDS).find((name) => world.table(name).has(id));
    if (resource === undefined) return false;
    const record = world.table(resource).get(id) ?? {};
    const isNamed = Object.keys(FIELDS[resource] ?? {}).some((field) => record[field] === end.id);
    return isNamed || world.links.some(({ parent, child }) => parent === id && child === end.id);
  }

  /** What an actor sees of a timeline: what it shows, in no order. */
  of(actor: Actor, resource: string, id: string, scope: 'own' | 'all'): Data[] {
    const world = this.#world;
    const seen = new Map<string, Data>();
    for (const entry of this.#entries.get(key(resource, id)) ?? []) {
      const { kind, at, resource: type, record: recordId, detail, via } = entry;
      if (via !== null && (scope === 'own' || world.find(actor, via.resource, via.id) === undefined))
        continue;
      const end = via ?? { resource, id };
      const isAbout = kind === 'change' || this.#isSeenTie(recordId, type, end);
      const record = world.find(actor, type, recordId);
      if (record === undefined || !isAbout) continue;
      const shown = { at: new Date(at).toISOString(), kind, record_type: type, record_id: recordId, detail };
      seen.set(JSON.stringify([shown, entry.sequence]), {
        ...shown,
        record: world.show(actor, type, record),
      });
    }
    return [...seen.values()];
  }

  #isSeenTie(id: string, resource: string, end: Tie['end']): boolean {
    return resource in KINDS && resource !== 'meetings' ? this.#isTied(id, end) : true;
  }
}

/** Compares the timelines of all records with what the model makes of the log. */
export async function expectTimelines(world: World, actors: Actor[], clients: Client[]): Promise<void> {
  const [whole] = clients;
  if (whole === undefined) return;
  const timelines = new Timelines(world, await whole.all('/changes'));
  for (const [index, client] of clients.slice(0, 2).entries()) {
    const actor = actors[index];
    if (actor === undefined) return;
    // A user-bound key sees of changes what it saw at the time.
    const kinds =
      actor.userId === null
        ? ''
        : '&kinds=interaction&kinds=meeting&kinds=booking&kinds=note&kinds=task&kinds=deal&kinds=stage';
    for (const resource of SUBJECTS)
      for (const [number, { id }] of world.seenBy(actor, resource).entries())
        for (const scope of resource === 'companies' ? (['own', 'all'] as const) : (['all'] as const)) {
          const query = `${resource === 'companies' ? `&scope=${scope}` : ''}${kinds}`;
          const found = await client.all(
            `/${resource}/${id}/timeline?${query.slice(1)}`,
            number % 8 === 0 ? 1 : 200,
          );
          const expected = timelines
            .of(actor, resource, id, scope)
            .filter(({ kind }) => actor.userId === null || kind !== 'change');
          const places = found.map(({ at, record_id }: Json) => at + record_id);
          expect(places).toEqual(places.toSorted().toReversed());
          expect(plain(found)).toEqual(plain(expected));
          if (number % 3 === 0)
            await expectPart(client, `/${resource}/${id}/timeline?${query.slice(1)}`, found);
        }
  }
}

const EVERY_KIND = ['interaction', 'meeting', 'booking', 'note', 'task', 'deal', 'stage', 'change'];

/** Compares what is between two instants, of some kinds, with the whole timeline. */
async function expectPart(client: Client, path: string, whole: Json[]): Promise<void> {
  const [until, since] = [whole[Math.floor(whole.length / 4)], whole[Math.floor((whole.length * 3) / 4)]];
  if (until === undefined || since === undefined) return;
  const url = new URL(path, 'http://crm.test');
  const known = url.searchParams.getAll('kinds');
  url.searchParams.delete('kinds');
  const kinds = (known.length > 0 ? known : EVERY_KIND).filter(
    (kind, index) => kind === since.kind || index % 2 === whole.length % 2,
  );
  const asked = kinds.map((kind) => `kinds=${kind}`);
  const part = `${url.pathname}?${[...url.searchParams].map((pair) => pair.join('=')).join('&')}`;
  const found = await client.all(`${part}&since=${since.at}&until=${until.at}&${asked.join('&')}`, 3);
  const isIn = ({ at, kind }: Json) => at >= since.at && at < until.at && kinds.includes(kind);
  expect(found).toEqual(whole.filter(isIn));
}

function plain(entries: Json[]): string[] {
  return entries.map(({ title: _, ...entry }) => JSON.stringify(sorted(entry))).toSorted();
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.keys(value)
      .toSorted()
      .map((name) => [name, sorted(value[name])]),
  );
}
