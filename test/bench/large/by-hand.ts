// The same questions asked of PostgreSQL without crm: the SQL and the indexes that a developer would write for them.
import type { SQL } from 'bun';
import { isLatin, neverMeeting } from './questions.ts';
import type { Samples } from './samples.ts';
import { JOBS } from './vocabulary.ts';

/** A question by hand: a prepared statement, and the values for each time that it is asked. */
export interface HandQuestion {
  /** The name of the question of crm that it is asked instead of. */
  besides: string;
  how: string;
  text: string;
  values(samples: Samples, index: number): readonly unknown[];
}

/** What one of them took, in milliseconds. */
export interface HandAnswer {
  besides: string;
  how: string;
  count: number;
  p50: number;
  p99: number;
}

const MILLISECONDS_MAX = 30_000;
const DAY_MS = 86_400_000;

const DOCUMENT = `to_tsvector('simple', concat_ws_immutable(first_name, last_name, email, title, remarks))`;

/** What is made first, and how long and how large it may be is told. */
const INDEXES = [
  // concat_ws itself is not immutable, so that no index can have it.
  `create function concat_ws_immutable(variadic parts text[]) returns text language sql immutable as
   $$ select array_to_string(parts, ' ') $$`,
  `create extension if not exists pg_trgm`,
  `create index by_hand_words on contacts using gin (${DOCUMENT})`,
  `create index by_hand_trigrams on contacts using gin
   (concat_ws_immutable(first_name, last_name, email) gin_trgm_ops)`,
  `create index by_hand_email on contacts (org_id, lower(email))`,
  `analyze contacts`,
];

const WORDS = `select * from contacts where org_id = 1 and ${DOCUMENT} @@ to_tsquery('simple', $1)
  order by created_at desc limit 20`;
const LIKE = `select * from contacts where org_id = 1
  and concat_ws_immutable(first_name, last_name, email) ilike $1 order by created_at desc limit 20`;
const DEALS = `select * from deals where org_id = 1 and status = $1 and currency = $2 and owner_id = $3
  and estimated_value >= $4 and created_at >= $5`;

const at = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;
const quoted = (word: string) => `'${word.replaceAll("'", "''")}'`;
const dealValues = ({ users }: Samples, index: number) => [
  at(['open', 'won', 'lost'], index),
  at(['EUR', 'USD', 'GBP', 'JPY'], index >> 2),
  at(users, index),
  100 * 10 ** ((index % 30) / 10),
  Date.now() - at([30, 90, 180, 365], index) * DAY_MS,
];

const TIMELINE = `
  select 'interaction' as kind, i.interaction_date as at, i.id from interaction_contacts c
    join interactions i on i.org_id = c.org_id and i.id = c.interaction_id where c.org_id = 1 and c.contact_id = $1
  union all select 'deal', created_at, id from deals where org_id = 1 and point_of_contact_id = $1
  union all select 'deal', d.created_at, d.id from deal_contacts c join deals d on d.org_id = c.org_id and d.id = c.deal_id
    where c.org_id = 1 and c.contact_id = $1
  union all select 'task', created_at, id from tasks where org_id = 1 and person_id = $1
  union all select 'note', n.created_at, n.id from note_records r join notes n on n.org_id = r.org_id and n.id = r.note_id
    where r.org_id = 1 and r.record_id = $1
  order by at desc, id desc limit 20`;

const WITH_GIN = 'tsvector, GIN';

export const HAND_QUESTIONS: readonly HandQuestion[] = [
  {
    besides: 'search-email',
    how: 'index on lower(email)',
    text: 'select * from contacts where org_id = 1 and lower(email) = lower($1)',
    values: ({ contacts }, index) => [at(contacts, index).email],
  },
  {
    ...{ besides: 'search-name', how: WITH_GIN, text: WORDS },
    values: ({ contacts }, index) => [`${quoted(at(contacts, index).last)}:*`],
  },
  {
    ...{ besides: 'search-name', how: 'ILIKE, trigrams', text: LIKE },
    values: ({ contacts }, index) => [`%${at(contacts, index).last}%`],
  },
  {
    ...{ besides: 'search-two-words', how: WITH_GIN, text: WORDS },
    values: ({ contacts }, index) => {
      const { first, last } = at(contacts, index);
      return [`${quoted(first)} & ${quoted(last)}:*`];
    },
  },
  {
    ...{ besides: 'search-prefix', how: WITH_GIN, text: WORDS },
    values: ({ contacts }, index) => {
      const { last } = at(contacts.filter(isLatin), index);
      return [`${quoted(last.slice(0, 2 + (index % 2)))}:*`];
    },
  },
  {
    ...{ besides: 'search-never-meet', how: WITH_GIN, text: WORDS },
    values: (_, index) => [neverMeeting(index).map(quoted).join(' & ')],
  },
  {
    besides: 'query-created',
    how: 'one SELECT',
    text: `${DEALS} order by created_at desc, id desc limit 50`,
    values: dealValues,
  },
  {
    besides: 'query-value',
    how: 'one SELECT',
    text: `${DEALS} order by estimated_value desc, id desc limit 50`,
    values: dealValues,
  },
  {
    besides: 'count-contacts',
    how: 'count(*), ILIKE',
    text: 'select count(*) from contacts where org_id = 1 and keep_in_touch = 1 and title ilike $1',
    values: (_, index) => [`%${at(JOBS, index)}%`],
  },
  {
    ...{ besides: 'timeline-contact', how: 'UNION ALL', text: TIMELINE },
    values: ({ contacts }, index) => [at(contacts, index).id],
  },
  {
    ...{ besides: 'timeline-contact-long', how: 'UNION ALL', text: TIMELINE },
    values: ({ busyContacts }, index) => [at(busyContacts, index)],
  },
];

/** Makes the indexes; gives how long that took, in seconds, and how many bytes they have. */
export async function indexByHand(db: SQL): Promise<{ seconds: number; bytes: number }> {
  const startedAt = performance.now();
  for (const text of INDEXES) await db.unsafe(text);
  const seconds = (performance.now() - startedAt) / 1_000;
  const [row] = await db.unsafe(
    `select sum(pg_relation_size(oid))::float8 as bytes from pg_class where relname like 'by_hand_%'`,
  );
  return { seconds, bytes: row.bytes };
}

/** Asks a question so many times, one after another, on one connection. */
export async function askByHand(
  db: SQL,
  question: HandQuestion,
  samples: Samples,
  requests: number,
): Promise<HandAnswer> {
  const { besides, how, text, values } = question;
  const times: number[] = [];
  const endsAt = performance.now() + MILLISECONDS_MAX;
  for (let index = 0; index < requests * 2 && performance.now() < endsAt; index++) {
    const startedAt = performance.now();
    await db.unsafe(text, [...values(samples, index)]);
    // The first pass is not counted, because caches are still empty; with time for only one, it is.
    if (index === requests) times.length = 0;
    times.push(performance.now() - startedAt);
  }
  times.sort((a, b) => a - b);
  const of = (share: number) => times[Math.floor(times.length * share)] ?? 0;
  return { besides, how, count: times.length, p50: of(0.5), p99: of(0.99) };
}
