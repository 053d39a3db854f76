// What a large database is asked, a few hundred different requests of each kind.
import { instantOfId } from '../../../db/tables/record-id.ts';
import { Draw } from './draw.ts';
import type { ContactSample, Samples } from './samples.ts';
import { JOBS, SCRIPTS } from './vocabulary.ts';

export interface Request {
  method: 'GET' | 'POST';
  /** After `/api/v2/`. */
  path: string;
  body?: unknown;
}

/** Milliseconds that the project set itself as a target, at the median and at the slowest of a hundred; null for none. */
export interface Target {
  p50: number | null;
  p99: number | null;
}

export interface Question {
  name: string;
  label: string;
  target: Target;
  /** Whether a key of one user asks, who sees a fifth of the records. */
  isOfUser?: boolean;
  /** So many of them. */
  requests(samples: Samples, count: number): Request[];
}

const SEED = 7;
const DAYS_BACK = [30, 90, 180, 365] as const;
const INCLUDED = 'include=company&include=owner&include=deals';

const NO_TARGET: Target = { p50: null, p99: null };
const SEARCH: Target = { p50: 2, p99: 10 };
const QUERY: Target = { p50: null, p99: 15 };
const TIMELINE: Target = { p50: 1, p99: null };

const times = (count: number, request: (draw: Draw, index: number) => Request): Request[] => {
  const draw = new Draw(SEED);
  return Array.from({ length: count }, (_, index) => request(draw, index));
};

const get = (path: string): Request => ({ method: 'GET', path });
const at = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;

function search(
  name: string,
  label: string,
  target: Target,
  words: (contact: ContactSample, index: number) => string | null,
): Question {
  const requests = ({ contacts }: Samples, count: number) => {
    const all = contacts.flatMap((contact, index) => words(contact, index) ?? []);
    return times(count, (_, index) => get(`search?q=${encodeURIComponent(at(all, index))}`));
  };
  return { name, label, target, requests };
}

const [LATIN, CYRILLIC] = SCRIPTS as [(typeof SCRIPTS)[number], (typeof SCRIPTS)[number]];
/** Whether a contact has a name of some letters in Latin script. */
export const isLatin = ({ last }: ContactSample) => /^\p{Script=Latin}{4}/u.test(last);

/** Two of the most common names, which no contact has together: they are of different scripts. */
export const neverMeeting = (index: number) => [at(CYRILLIC.firstNames, index), at(LATIN.lastNames, index)];

const SEARCHES: readonly Question[] = [
  search('search-email', 'search: an email', SEARCH, ({ email }) => email),
  search('search-phone', 'search: a phone number', SEARCH, ({ phone }) => phone),
  search('search-name', 'search: a last name', SEARCH, ({ last }) => last),
  {
    ...search(
      'search-name-user',
      'search: a last name, with a user-bound key',
      NO_TARGET,
      ({ last }) => last,
    ),
    isOfUser: true,
  },
  search('search-two-words', 'search: first and last name', SEARCH, ({ first, last }) => `${first} ${last}`),
  search('search-prefix', 'search: two or three letters', NO_TARGET, (contact, index) =>
    isLatin(contact) ? contact.last.slice(0, 2 + (index % 2)) : null,
  ),
  search('search-never-meet', 'search: two common names that never meet', NO_TARGET, (_, index) =>
    neverMeeting(index).join(' '),
  ),
  search('search-text', 'search: a common word of texts', NO_TARGET, (_, index) => at(LATIN.words, index)),
];

function query(
  name: string,
  label: string,
  path: string,
  target: Target,
  body: (draw: Draw, samples: Samples) => object,
): Question {
  const requests = (samples: Samples, count: number) =>
    times(count, (draw): Request => ({ method: 'POST', path, body: body(draw, samples) }));
  return { name, label, target, requests };
}

const dealsWanted = (draw: Draw, { users }: Samples) => ({
  and: [
    { status: draw.one(['open', 'won', 'lost']) },
    { currency: draw.one(['EUR', 'USD', 'GBP', 'JPY']) },
    { owner_id: at(users, draw.below(users.length)) },
    { estimated_value: { gte: Math.round(100 * 10 ** (draw.share() * 3)) } },
    { created_at: { gte: { ago: `${draw.one(DAYS_BACK)}d` } } },
  ],
});

const contactsWanted = (draw: Draw, { users }: Samples) => ({
  owner_id: at(users, draw.below(users.length)),
  keep_in_touch: true,
  title: { contains: at(JOBS, draw.below(JOBS.length)) },
  created_at: { gte: { ago: `${draw.one(DAYS_BACK)}d` } },
  'custom.plan': draw.one(['free', 'team', 'gold']),
});

const QUERIES: readonly Question[] = [
  query(
    'query-created',
    'query: deals, five conditions, by created_at',
    'deals/query',
    QUERY,
    (draw, all) => ({
      ...{ filter: dealsWanted(draw, all), sort_by: 'created_at', limit: 50 },
    }),
  ),
  query(
    'query-value',
    'query: deals, five conditions, by estimated_value',
    'deals/query',
    QUERY,
    (draw, all) => ({ filter: dealsWanted(draw, all), sort_by: 'estimated_value', limit: 50 }),
  ),
  query(
    'query-contacts',
    'query: contacts, five conditions, by created_at',
    'contacts/query',
    QUERY,
    (draw, all) => ({ filter: contactsWanted(draw, all), limit: 50 }),
  ),
  query('count-deals', 'count: deals, two conditions', 'deals/count', NO_TARGET, (draw, { users }) => ({
    filter: { status: draw.one(['open', 'won', 'lost']), owner_id: at(users, draw.below(users.length)) },
  })),
  query('count-contacts', 'count: contacts, two conditions', 'contacts/count', NO_TARGET, (draw) => ({
    filter: { keep_in_touch: true, title: { contains: at(JOBS, draw.below(JOBS.length)) } },
  })),
];

const timeline = (
  name: string,
  label: string,
  path: string,
  ids: (samples: Samples) => readonly string[],
): Question => ({
  ...{ name, label, target: TIMELINE },
  requests: (samples, count) =>
    times(count, (_, index) => get(`${path}/${at(ids(samples), index)}/timeline`)),
});

const TIMELINES: readonly Question[] = [
  timeline('timeline-contact', 'timeline: a contact', 'contacts', ({ contacts }) =>
    contacts.map(({ id }) => id),
  ),
  timeline(
    'timeline-contact-long',
    'timeline: a contact with most interactions',
    'contacts',
    ({ busyContacts }) => busyContacts,
  ),
  timeline('timeline-company', 'timeline: a company', 'companies', ({ companies }) =>
    companies.map(({ id }) => id),
  ),
  timeline(
    'timeline-company-long',
    'timeline: a company with most contacts',
    'companies',
    ({ busyCompanies }) => busyCompanies,
  ),
  timeline('timeline-deal', 'timeline: a deal', 'deals', ({ deals }) => deals),
];

// Pages of an owner's contacts, from any place in time, the same ones with what belongs to them and without.
const page = ({ users, contacts }: Samples, index: number) => {
  const since = instantOfId(at(contacts, index).id);
  return `contacts?limit=100&owner_id=${at(users, index)}&created_since=${since}&sort_direction=asc`;
};
const oneOf = ({ contacts }: Samples, index: number) => `contacts/${at(contacts, index).id}`;

const READS: readonly Question[] = [
  {
    name: 'get',
    label: 'get a contact',
    target: NO_TARGET,
    requests: (all, count) => times(count, (_, index) => get(oneOf(all, index))),
  },
  {
    name: 'get-included',
    label: 'get a contact with company, owner and deals',
    target: NO_TARGET,
    requests: (all, count) => times(count, (_, index) => get(`${oneOf(all, index)}?${INCLUDED}`)),
  },
  {
    name: 'list',
    label: 'list 100 contacts of an owner',
    target: NO_TARGET,
    requests: (all, count) => times(count, (_, index) => get(page(all, index))),
  },
  {
    name: 'list-included',
    label: 'the same with company, owner and deals',
    target: NO_TARGET,
    requests: (all, count) => times(count, (_, index) => get(`${page(all, index)}&${INCLUDED}`)),
  },
];

/** All of them, in the order in which they are asked. */
export const QUESTIONS: readonly Question[] = [...READS, ...SEARCHES, ...QUERIES, ...TIMELINES];
