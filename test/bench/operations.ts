// Everything that is measured in rounds, in the order in which it is run: what only reads comes first.
import { exports, imports } from './commands.ts';
import type { Operation } from './operation.ts';
import {
  batches,
  changed,
  dealLinks,
  gets,
  idOf,
  keyedPosts,
  known,
  lastPage,
  linkBatches,
  newBatch,
  newContact,
  newInteraction,
  patches,
  posts,
  replays,
  same,
  upserts,
} from './requests.ts';
import { addressOf, phoneOf, type Seeds } from './seed.ts';
import type { BareName } from './servers.ts';

const ALL: readonly BareName[] = ['bare', 'same-tables', 'bare-postgres'];
const SAME_TABLES: readonly BareName[] = ['same-tables'];
const NONE: readonly BareName[] = [];

type Row = Pick<Operation, 'name' | 'label' | 'bare' | 'isLogged' | 'prepare'>;

const requests = (rows: readonly Row[]): Operation[] => rows.map((row) => ({ ...row, unit: 'request' }));
const rows = (all: readonly Row[]): Operation[] => all.map((row) => ({ ...row, unit: 'row' }));
const writing = (all: readonly Operation[]): Operation[] => all.map((one) => ({ ...one, isWriting: true }));

/** A page of what a filter finds; `value` is given a contact's number. */
function filter(
  name: string,
  label: string,
  bare: readonly BareName[],
  path: string,
  value: FilterValue,
): Row {
  const prepare = gets(({ seeds }, index) => {
    const found = encodeURIComponent(value(seeds, index));
    return `${path}=${found}&limit=100`;
  });
  return { name, label, bare, prepare };
}

/** A page of what a search finds: one contact, whose number `query` is given. */
function search(name: string, label: string, query: (number: number) => string): Row {
  const prepare = gets(({ seeds }, index) => {
    const number = longNumber(seeds.contacts.length, index);
    return `search?q=${encodeURIComponent(query(number))}`;
  });
  return { name, label, bare: NONE, prepare };
}

// One of the longest numbers of contacts: no other number begins with it, and the last word of a search is a prefix.
function longNumber(contacts: number, index: number): number {
  const least = 10 ** (String(contacts - 1).length - 1);
  return least + (index % (contacts - least));
}

type FilterValue = (seeds: Seeds, index: number) => string;

const of =
  (kind: keyof Seeds): FilterValue =>
  (seeds, index) =>
    seeds[kind][index % seeds[kind].length] ?? '';

// Half of all contacts meet them; text is compared one by one.
const FIVE_CONDITIONS = {
  ...{ keep_in_touch: false, created_at: { gte: { ago: '52w' } }, companies: { is_null: false } },
  or: [{ first_name: { contains: '1' } }, { 'custom.seats': { gt: 12 } }],
};
const THREE_CONDITIONS = {
  keep_in_touch: false,
  'custom.plan': 'navy',
  first_name: { starts_with: 'first1' },
};
const INCLUDED = 'include=company&include=owner&include=deals';

export const OPERATIONS: readonly Operation[] = [
  ...requests([
    {
      name: 'get',
      label: 'GET a contact by ID',
      bare: ALL,
      prepare: gets(({ seeds }, index) => `contacts/${seeds.contacts[index]}`),
    },
    { name: 'list', label: 'list 100 contacts', bare: ALL, prepare: gets(() => 'contacts?limit=100') },
    { name: 'deep-page', label: 'list 100, the last page', bare: ALL, prepare: lastPage },
    filter('email', 'contacts by email', ALL, 'contacts?email', (_, index) => addressOf(index)),
    filter('phone', 'contacts by phone', ALL, 'contacts?phone', (_, index) => phoneOf(index)),
    filter('company', 'contacts by company, 100', SAME_TABLES, 'contacts?company_id', of('companies')),
    filter('owner', 'contacts by owner, 100', SAME_TABLES, 'contacts?owner_id', of('users')),
    filter('segment', 'contacts by segment, 100', SAME_TABLES, 'contacts?segment_id', of('segments')),
    filter('deals-stage', 'deals by stage, 100', NONE, 'deals?stage_id', of('stages')),
    filter('tasks-assignee', 'tasks by assignee, 100', NONE, 'tasks?main_assignee_id', of('users')),
    filter(
      'interactions-contact',
      'interactions by contact, 100',
      NONE,
      'interactions?contact_id',
      of('spokenTo'),
    ),
    {
      name: 'list-include',
      label: 'list 100 contacts with company, owner and deals',
      bare: NONE,
      prepare: gets(() => `contacts?limit=100&${INCLUDED}`),
    },
    {
      name: 'get-include',
      label: 'GET a contact with company, owner and deals',
      bare: NONE,
      prepare: gets(({ seeds }, index) => `contacts/${seeds.contacts[index]}?${INCLUDED}`),
    },
    {
      name: 'timeline',
      label: 'timeline of a contact, 20',
      bare: NONE,
      prepare: gets(({ seeds }, index) => `contacts/${of('spokenTo')(seeds, index)}/timeline`),
    },
    {
      name: 'timeline-company',
      label: 'timeline of a company, 20',
      bare: NONE,
      // That of a contact with interactions.
      prepare: gets(
        ({ seeds }, index) => `companies/${seeds.companies[index % seeds.spokenTo.length]}/timeline`,
      ),
    },
    search('search-identifier', 'search, identifier', addressOf),
    search('search-name', 'search, name', (number) => `Last${number}`),
    search('search-words', 'search, two words', (number) => `navy First${number}`),
    {
      name: 'query',
      label: 'query contacts, five conditions, 100',
      bare: NONE,
      prepare: posts('contacts/query', () => JSON.stringify({ filter: FIVE_CONDITIONS, limit: 100 })),
    },
    {
      name: 'count',
      label: 'count contacts, three conditions',
      bare: NONE,
      prepare: posts('contacts/count', () => JSON.stringify({ filter: THREE_CONDITIONS })),
    },
    {
      name: 'changes',
      label: 'list 200 changes of contacts',
      bare: NONE,
      prepare: gets(() => 'changes?resource=contacts&limit=200'),
    },
  ]),
  ...rows([{ name: 'export', label: 'crm export', bare: NONE, prepare: exports }]),
  ...writing(
    requests([
      {
        name: 'create',
        label: 'create a contact',
        bare: ALL,
        isLogged: true,
        prepare: posts('contacts', newContact),
      },
      { name: 'update', label: 'update a contact', bare: ALL, isLogged: true, prepare: patches },
      {
        name: 'batch',
        label: 'create a batch of 100',
        bare: ALL,
        isLogged: true,
        prepare: posts('contacts/batch', newBatch),
      },
      {
        name: 'create-keyed',
        label: 'create with an Idempotency-Key',
        bare: NONE,
        prepare: keyedPosts('contacts', newContact),
      },
      { name: 'replay', label: 'replay of such a create', bare: NONE, prepare: replays },
      {
        name: 'interaction',
        label: 'interaction with a new contact',
        bare: NONE,
        prepare: posts('interactions', newInteraction),
      },
      { name: 'upsert', label: 'upsert of a contact that is there', bare: NONE, prepare: upserts },
      {
        name: 'batch-get',
        label: 'get a batch of 100',
        bare: NONE,
        prepare: batches('contacts/batch/get', idOf),
      },
      {
        name: 'batch-update',
        label: 'update a batch of 100',
        bare: NONE,
        isLogged: true,
        prepare: batches('contacts/batch/update', changed),
      },
      {
        name: 'batch-upsert',
        label: 'upsert a batch of 100 that are there',
        bare: NONE,
        prepare: batches('contacts/batch/upsert', known),
      },
      {
        name: 'batch-upsert-new',
        label: 'upsert a batch of 100 that are new',
        bare: NONE,
        prepare: posts('contacts/batch/upsert', newBatch),
      },
      {
        name: 'batch-upsert-same',
        label: 'upsert a batch of 100 that do not change',
        bare: NONE,
        prepare: batches('contacts/batch/upsert', same),
      },
      {
        name: 'batch-delete',
        label: 'delete a batch of 100, as a dry run',
        bare: NONE,
        prepare: batches('contacts/batch/delete', idOf, 'Dry-Run: true\r\n'),
      },
      { name: 'link', label: 'link a deal and a contact', bare: NONE, isLogged: true, prepare: dealLinks },
      { name: 'batch-link', label: 'link a batch of 100', bare: NONE, isLogged: true, prepare: linkBatches },
    ]),
  ),
  ...writing(rows([{ name: 'import', label: 'crm import of a CSV', bare: NONE, prepare: imports }])),
];
