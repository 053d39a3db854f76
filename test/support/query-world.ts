// Records by chance for queries: every resource and link, of two users, with values that often agree.
import type { Harness, Json } from './harness.ts';
import { IMPORTED } from './organization.ts';
import type { Seen } from './query-model.ts';
import type { Random } from './random.ts';
import { insertAtOnce } from './read-only.ts';
import { type Client, clientOf } from './v2.ts';

/** Text that differs in case, script and length, and where the order of code points and of UTF-16 differ. */
export const TEXTS = [
  ...['Ada', 'ada', 'ADA Lovelace', 'Åse', 'ÅSE', 'straße', 'STRASSE', 'İstanbul', 'ΟΔΟΣ', 'οδός', 'Zoë', ''],
  ...[
    '\u{1F600} smile',
    '\uFFFD last',
    'ﬁrst',
    '100%',
    'a_b',
    "o'neil",
    'naïve',
    '東京',
    '東京タワー',
    'ΜΟΥΣ',
    'Μουσείο Κως',
    'x'.repeat(300),
  ],
];
export const NUMBERS = [0, 1, 2, 2.5, 10, 1_000, 48_000, 9_007_199_254_740_991];
export const DAYS = ['2026-01-31', '2026-02-28', '2026-11-24', '2027-01-01'];
const LONG = 'n'.repeat(256);
const NAMES = [...TEXTS.filter((text) => text !== ''), `${LONG}B`, `${LONG}a`, `${LONG}C\u{1F600}`, LONG];

export interface QueryWorld {
  /** When instants are, Unix milliseconds. */
  instants: number[];
  ids: Record<string, string[]>;
  users: string[];
  stages: string[];
}

/** Fills the organization. */
export async function makeQueryWorld(harness: Harness, random: Random, scale: number): Promise<QueryWorld> {
  const api = clientOf(harness);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const maybe = <T>(list: readonly T[]): T | null =>
    random() < 0.4 || list.length === 0 ? null : pick(list);
  const now = harness.clock.now;
  const instants = [-90, -30, -7, 0, 7, 30].map((days) => now + days * 86_400_000);
  const ids: Record<string, string[]> = {};
  const users = [harness.alice, harness.bob];
  const custom = () => ({
    ...(random() < 0.6 && { size: pick<Json>([5, 7.5, 'Five', true, false, 'big']) }),
    ...(random() < 0.3 && { 'a.b': pick<Json>(['Ada', 1]) }),
  });
  const many = async (name: string, count: number, make: (index: number) => Json) => {
    const made: string[] = [];
    for (let from = 0; from < count; from += 20) {
      const items = Array.from({ length: Math.min(20, count - from) }, (_, index) => make(from + index));
      const batch = await api.batch(`/${name}/batch`, items);
      for (const item of batch.items) {
        if (item.data === undefined) throw new Error(JSON.stringify(item));
        made.push(item.data.id);
      }
    }
    ids[name] = made;
    return made;
  };
  const companies = await many('companies', scale, (index) => ({
    ...{ name: index % 5 === 0 ? null : pick(NAMES), domain: `c${index}.test`, city: maybe(TEXTS) },
    ...{
      employee_count: maybe([0, 1, 10, 1_000]),
      estimated_revenue: maybe(NUMBERS),
      owner_id: maybe(users),
    },
    custom: custom(),
  }));
  const contacts = await many('contacts', 2 * scale, (index) => ({
    ...{ first_name: maybe(TEXTS), last_name: `L${index}`, phone: maybe(['+44 20 7946', '+1 555', 'ext A']) },
    ...{ email: random() < 0.5 ? `P${index}@X.test` : null, keep_in_touch: random() < 0.3 },
    ...{ alt_emails: random() < 0.3 ? [`Alt${index}@x.test`] : [], company_id: maybe(companies) },
    ...{ owner_id: maybe(users), custom: custom(), remarks: maybe(TEXTS) },
  }));
  const pipeline = (await api.create('pipelines', { name: 'Partners' })).id;
  const pipelines = await api.all('/pipelines');
  ids.pipelines = pipelines.map(({ id }) => id);
  const stages = pipelines.flatMap((one) => one.stages.map(({ id }: Json) => id));
  const deals = await many('deals', 2 * scale, () => ({
    ...{
      name: pick(NAMES),
      ...(random() < 0.3 && { pipeline_id: pipeline }),
      currency: maybe(['EUR', 'GBP']),
    },
    ...{ estimated_value: maybe(NUMBERS), estimated_close_date: maybe(DAYS), company_id: maybe(companies) },
    ...{ point_of_contact_id: maybe(contacts), owner_id: maybe(users), custom: custom() },
  }));
  await many('tasks', scale, () => ({
    ...{ name: pick(NAMES), description: maybe(TEXTS), due_date: maybe(instants), done: random() < 0.5 },
    ...{ company_id: maybe(companies), deal_id: maybe(deals), person_id: maybe(contacts) },
    main_assignee_id: maybe(users),
  }));
  const notes = await many('notes', scale, () => ({
    ...{ title: pick(NAMES), content: maybe(TEXTS), is_archived: random() < 0.3 },
  }));
  for (const note of notes.slice(0, 5)) await api.update('notes', note, { parent_id: notes.at(-1) });
  const segments = await many('segments', 6, (index) => ({
    ...{ name: pick(NAMES), description: maybe(TEXTS), record_type: index % 2 === 0 ? 'contact' : 'company' },
  }));
  await many('interactions', scale, () => ({
    ...{ type: pick(['EMAIL', 'MEMO']), direction: pick(['INBOUND', 'EVENT']), title: pick(NAMES) },
    ...{ summary: maybe(TEXTS), interaction_date: pick(instants), main_contact: pick(contacts) },
    ...{
      contact_ids: random() < 0.5 ? [pick(contacts)] : [],
      company_ids: random() < 0.5 ? [pick(companies)] : [],
    },
  }));
  const integrated = async (name: string, make: (index: number) => Json) => {
    ids[name] = await insertAtOnce(
      harness,
      name,
      Array.from({ length: scale }, (_, index) => make(index)),
    );
  };
  await integrated('meetings', (index) => ({
    ...{ external_id: `M${index}`, title: maybe(TEXTS), start_time: maybe(instants), owner_id: maybe(users) },
    ...{ status: pick(['confirmed', 'tentative']), deal_id: maybe(deals), company_id: maybe(companies) },
  }));
  await integrated('recordings', (index) => ({
    ...{ external_id: `R${index}`, title: maybe(TEXTS), started_at: maybe(instants), owner_id: maybe(users) },
    ...{
      meeting_id: maybe(ids.meetings ?? []),
      duration_seconds: maybe(NUMBERS),
      has_transcript: random() < 0.5,
    },
  }));
  await integrated('bookings', (index) => ({
    ...{ external_id: `B${index}`, title: maybe(TEXTS), start_time: maybe(instants), owner_id: maybe(users) },
    ...{ status: pick(['booked', 'cancelled']), guests: random() < 0.4 ? ['Grace@x.test'] : [] },
    meeting_id: maybe(ids.meetings ?? []),
  }));
  const link = (of: string, parent_id: string, id: string, more: Json = {}) => ({
    of,
    parent_id,
    id,
    ...more,
  });
  const links = Array.from({ length: 3 * scale }, () => {
    const [index, of] = [Math.floor(random() * segments.length), Math.floor(random() * 4)];
    if (of === 0) return link('deals.contacts', pick(deals), pick(contacts));
    if (of === 1) return link('deals.companies', pick(deals), pick(companies));
    if (of === 2) {
      const [record_type, list] = pick([
        ['contact', contacts],
        ['company', companies],
        ['deal', deals],
      ] as const);
      return link('notes.records', pick(notes), pick(list), { record_type });
    }
    return link('segments.members', segments[index] ?? '', pick(index % 2 === 0 ? contacts : companies));
  });
  for (let from = 0; from < links.length; from += 100)
    await api.batch('/links/batch', links.slice(from, from + 100));
  // What was written by users belongs to them.
  for (const userId of users) {
    const own = await api.withKey({ userId });
    for (let count = 0; count < 4; count++) {
      ids.notes?.push((await own.create('notes', { title: pick(NAMES) })).id);
      ids.segments?.push((await own.create('segments', { name: pick(NAMES) })).id);
    }
  }
  return { instants, ids, users, stages };
}

const RESOURCES = [...IMPORTED, 'meetings', 'recordings', 'bookings'];

/** What a key sees, from lists: links as one that sees everything lists them, without those that lead to what is hidden. */
export async function seenBy(api: Client, all: Client): Promise<Seen> {
  const records: Seen['records'] = {};
  for (const name of RESOURCES) records[name] = await api.all(`/${name}`);
  const visible = new Set(Object.values(records).flatMap((list) => list.map(({ id }) => id)));
  const ends: Seen['ends'] = {};
  const tie = (resource: string, id: string, name: string, other: string | null) => {
    if (other === null || !visible.has(other)) return;
    const byId = ends[resource] ?? {};
    ends[resource] = byId;
    const byName = byId[id] ?? {};
    byId[id] = byName;
    byName[name] = [...(byName[name] ?? []), other];
  };
  const both = (one: string, oneId: string, other: string, otherId: string | null) => {
    if (otherId === null) return;
    tie(one, oneId, other, otherId);
    tie(other, otherId, one, oneId);
  };
  for (const { id, company_id } of await all.all('/contacts')) both('contacts', id, 'companies', company_id);
  for (const { id, company_id, point_of_contact_id } of await all.all('/deals')) {
    both('deals', id, 'companies', company_id);
    both('deals', id, 'contacts', point_of_contact_id);
  }
  for (const { parent_id, id } of await all.all('/links?of=deals.contacts'))
    both('deals', parent_id, 'contacts', id);
  for (const { parent_id, id } of await all.all('/links?of=deals.companies'))
    both('deals', parent_id, 'companies', id);
  for (const { parent_id, id, record_type } of await all.all('/links?of=notes.records')) {
    tie('notes', parent_id, record_type === 'company' ? 'companies' : `${record_type}s`, id);
  }
  const segments = new Map((await all.all('/segments')).map((one) => [one.id, one.record_type]));
  for (const { parent_id, id } of await all.all('/links?of=segments.members')) {
    tie(segments.get(parent_id) === 'contact' ? 'contacts' : 'companies', id, 'segments', parent_id);
  }
  return { records, ends };
}
