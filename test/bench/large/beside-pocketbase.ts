// The same questions asked of PocketBase, each as its API has words for it, and of crm in the same way.
import { cpuMicros } from '../process.ts';
import type { Asked } from './answers.ts';
import { PocketBase } from './pocketbase.ts';
import { QUESTIONS, type Request } from './questions.ts';
import type { Samples } from './samples.ts';

/** What a question took, one after another over HTTP: milliseconds, µs of the server's CPU time, and items on a page. */
export interface Timed {
  p50: number;
  p99: number;
  cpuMicros: number;
  items: number;
}

export interface PocketBaseAnswer {
  name: string;
  label: string;
  how: string;
  crm: Timed;
  pocketbase: Timed;
}

export interface PocketBaseReport {
  version: string;
  seconds: number;
  answers: PocketBaseAnswer[];
}

/** A question of crm, in the words of PocketBase: after `/api/collections/`, asked at once where there are several. */
interface Translation {
  how: string;
  paths(request: Request): string[];
}

const MILLISECONDS_MAX = 30_000;
const DAY_MS = 86_400_000;
const TOTAL = 'skipTotal=0';
const WITHOUT_TOTAL = 'skipTotal=1';
const EXPANDED = 'expand=company,owner,deal_contacts_via_contact.deal';

const quoted = (value: unknown) => `'${String(value).replaceAll("'", "\\'")}'`;
const literal = (value: unknown) => (typeof value === 'string' ? quoted(value) : String(value));
const query = (...parts: readonly string[]) => parts.join('&');
const filter = (condition: string) => `filter=${encodeURIComponent(condition)}`;
const paramsOf = ({ path }: Request) => new URL(path, 'http://crm.test').searchParams;
const idOf = ({ path }: Request) => path.split(/[/?]/)[1] ?? '';
const records = (collection: string, ...parts: readonly string[]) =>
  `${collection}/records?${query(...parts)}`;
const stored = (iso: string) => iso.replace('T', ' ');

const pageOf = (request: Request, ...more: readonly string[]) => {
  const params = paramsOf(request);
  const since = `created_at >= ${quoted(stored(params.get('created_since') ?? ''))}`;
  const where = filter(`owner = ${quoted(params.get('owner_id'))} && ${since}`);
  return [records('contacts', where, 'sort=created_at', 'perPage=100', WITHOUT_TOTAL, ...more)];
};

const search = (condition: (words: readonly string[]) => string) => (request: Request) => {
  const words = (paramsOf(request).get('q') ?? '').split(' ');
  return [records('contacts', filter(condition(words)), 'sort=-created_at', 'perPage=20', WITHOUT_TOTAL)];
};
const within = (...fields: readonly string[]) =>
  search((words) =>
    words.map((word) => `(${fields.map((field) => `${field} ~ ${quoted(word)}`).join(' || ')})`).join(' && '),
  );
const NAMES = ['first_name', 'last_name', 'email'];

/** A condition of a query of crm, in the words of a filter; only what the questions have. */
function conditionOf([field, value]: [string, unknown]): string {
  const name = field.replace(/_id$/, '');
  const { gte, contains } = (typeof value === 'object' && value !== null ? value : {}) as Record<
    string,
    unknown
  >;
  if (contains !== undefined) return `${name} ~ ${quoted(contains)}`;
  if (gte === undefined) return `${name} = ${literal(value)}`;
  const { ago } = (typeof gte === 'object' && gte !== null ? gte : {}) as { ago?: string };
  if (ago === undefined) return `${name} >= ${literal(gte)}`;
  const days = Number.parseInt(ago, 10);
  return `${name} >= ${quoted(stored(new Date(Date.now() - days * DAY_MS).toISOString()))}`;
}

const queried =
  (collection: string, ...parts: readonly string[]) =>
  (request: Request) => {
    const { filter: wanted } = request.body as { filter: Record<string, unknown> };
    const all = Array.isArray(wanted.and) ? wanted.and : [wanted];
    const conditions = all.flatMap((group) => Object.entries(group as object).map(conditionOf));
    return [records(collection, filter(conditions.join(' && ')), ...parts)];
  };
const fifty = (collection: string, sort: string) =>
  queried(collection, `sort=-${sort}`, 'perPage=50', WITHOUT_TOTAL);
const counted = (collection: string) => queried(collection, 'perPage=1', 'fields=id', TOTAL);

// There is no union of collections by an index: a list of each, which the client would merge.
const timeline = (request: Request) => {
  const page = (collection: string, by: string, sort: string, expand = '') =>
    records(
      ...([collection, filter(`${by} = ${quoted(idOf(request))}`), `sort=-${sort}`] as const),
      ...['perPage=20', WITHOUT_TOTAL, ...(expand === '' ? [] : [`expand=${expand}`])],
    );
  return [
    page('interaction_contacts', 'contact', 'interaction.interaction_date', 'interaction'),
    page('note_records', 'record', 'note.created_at', 'note'),
    page('deal_contacts', 'contact', 'deal.created_at', 'deal'),
    page('tasks', 'contact', 'created_at'),
  ];
};
const FOUR_LISTS = 'four lists';

const TRANSLATIONS: Readonly<Record<string, Translation>> = {
  get: { how: 'view', paths: (request) => [`contacts/records/${idOf(request)}`] },
  'get-included': { how: 'expand', paths: (request) => [`contacts/records/${idOf(request)}?${EXPANDED}`] },
  list: { how: 'filter', paths: (request) => pageOf(request) },
  'list-included': { how: 'filter, expand', paths: (request) => pageOf(request, EXPANDED) },
  'search-email': { how: 'email =', paths: search(([email]) => `email = ${quoted(email)}`) },
  'search-phone': { how: 'phone =', paths: search((words) => `phone = ${quoted(words.join(' '))}`) },
  'search-name': { how: '~ on names and email', paths: within(...NAMES) },
  'search-two-words': { how: '~ on names and email', paths: within(...NAMES) },
  'search-prefix': { how: '~ on names and email', paths: within(...NAMES) },
  'search-never-meet': { how: '~ on names and email', paths: within(...NAMES) },
  'query-created': { how: 'filter', paths: fifty('deals', 'created_at') },
  'query-value': { how: 'filter', paths: fifty('deals', 'estimated_value') },
  'query-contacts': { how: 'filter', paths: fifty('contacts', 'created_at') },
  'count-deals': { how: 'totalItems', paths: counted('deals') },
  'count-contacts': { how: 'totalItems', paths: counted('contacts') },
  'timeline-contact': { how: FOUR_LISTS, paths: timeline },
  'timeline-contact-long': { how: FOUR_LISTS, paths: timeline },
};

/** The questions of crm that PocketBase has words for. */
export const ASKED_OF_BOTH = QUESTIONS.filter(({ name }) => name in TRANSLATIONS);

/** What PocketBase is sent instead of a request to crm: paths after `/api/collections/`. */
export function pocketBasePaths(name: string, request: Request): string[] {
  return TRANSLATIONS[name]?.paths(request) ?? [];
}

/** A request as fetch takes it. */
interface Sent {
  url: string;
  init: RequestInit;
}

/** Fills PocketBase with the records of a file of crm, and asks both each question in turn. */
export async function askBesidePocketBase(
  executable: string,
  folder: string,
  { server, samples }: { server: Asked; samples: Samples },
  { requests: count, print }: { requests: number; print: (answer: PocketBaseAnswer) => void },
): Promise<PocketBaseReport> {
  const other = new PocketBase(executable, folder);
  const startedAt = performance.now();
  await other.fill(server.build.db);
  const report = { version: other.version, seconds: (performance.now() - startedAt) / 1_000 };
  await other.start();
  const answers: PocketBaseAnswer[] = [];
  try {
    for (const { name, label, requests } of ASKED_OF_BOTH) {
      const all = requests(samples, count);
      const toOther = (path: string) => ({ url: `${other.url}/${path}`, init: { headers: other.headers } });
      const answer = {
        ...{ name, label, how: TRANSLATIONS[name]?.how ?? '' },
        crm: await timesOf(
          server.pid,
          all.map((request) => [toCrm(server, request)]),
        ),
        pocketbase: await timesOf(
          other.pid,
          all.map((request) => pocketBasePaths(name, request).map(toOther)),
        ),
      };
      print(answer);
      answers.push(answer);
    }
  } finally {
    await other.stop();
  }
  return { ...report, answers };
}

function toCrm({ port, build }: Asked, { method, path, body }: Request): Sent {
  const headers = { Authorization: `Bearer ${build.key}`, 'Content-Type': 'application/json' };
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  return { url: `http://127.0.0.1:${port}/api/v2/${path}`, init: { method, headers, ...sent } };
}

/** Asks everything twice, as far as there is time; the first pass, which fills caches, counts the items. */
async function timesOf(pid: number, asked: readonly (readonly Sent[])[]): Promise<Timed> {
  const times: number[] = [];
  let [items, pages, before] = [0, 0, 0];
  for (const isCounted of [false, true]) {
    before = cpuMicros(pid);
    const endsAt = performance.now() + MILLISECONDS_MAX;
    for (const requests of asked) {
      const startedAt = performance.now();
      const texts = await Promise.all(requests.map(answerTo));
      if (isCounted) times.push(performance.now() - startedAt);
      else items += texts.reduce((sum, text) => sum + itemsIn(text), 0);
      pages += isCounted ? 0 : 1;
      if (performance.now() > endsAt) break;
    }
  }
  const cpu = (cpuMicros(pid) - before) / times.length;
  times.sort((a, b) => a - b);
  const of = (share: number) => times[Math.floor(times.length * share)] ?? 0;
  return { p50: of(0.5), p99: of(0.99), cpuMicros: cpu, items: items / pages };
}

async function answerTo({ url, init }: Sent): Promise<string> {
  const answer = await fetch(url, init);
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text}`);
  return text;
}

function itemsIn(text: string): number {
  const { data, items = data } = JSON.parse(text) as { data?: unknown; items?: unknown };
  return Array.isArray(items) ? items.length : 1;
}
