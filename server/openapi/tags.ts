// The groups of operations.
import type { Data } from '../../db/model/json.ts';
import { RESOURCES } from '../../db/model/resources/registry.ts';
import { CHANGES_TAG } from '../v2/feed-requests.ts';
import { LINKS_TAG } from '../v2/links-in-bulk.ts';
import { titleOf } from '../v2/naming.ts';
import { SEARCH_TAG } from '../v2/search.ts';
import { WEBHOOKS_TAG } from '../v2/webhook-answers.ts';

// In the order of the specification: first people, then what happens with them.
const FIRST = ['contacts', 'companies'];

const API_KEY = { name: 'API key', description: 'Which API key a request uses, and what it can do.' };

const LINKS = { name: LINKS_TAG, description: 'Links between records of all kinds, many in one request.' };

const SEARCH = { name: SEARCH_TAG, description: 'Finds records of all kinds by words.' };

const CHANGES = {
  name: CHANGES_TAG,
  description: 'The log of changes: what happened to records and links, in order.',
};

const WEBHOOKS = {
  name: WEBHOOKS_TAG,
  description: 'URLs to which changes are sent as they happen.',
};

const V1_TAGS: [name: string, description: string][] = [
  ['v1 Authentication', 'Deprecated. Returns the organization that a key belongs to.'],
  ['v1 People', 'Deprecated. Version 2 calls them contacts.'],
  [
    'v1 Companies',
    'Deprecated. The same companies as in version 2, with additional properties at the top level.',
  ],
  ['v1 Interactions', 'Deprecated. The same interactions as in version 2.'],
];

/** All groups in order, with their descriptions. */
export function tags(): Data[] {
  const rank = (name: string) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
  const ordered = RESOURCES.toSorted((a, b) => rank(a.name) - rank(b.name));
  return [
    API_KEY,
    ...ordered.map((resource) => ({ name: titleOf(resource), description: resource.description })),
    LINKS,
    SEARCH,
    CHANGES,
    WEBHOOKS,
    ...V1_TAGS.map(([name, description]) => ({ name, description })),
  ];
}
