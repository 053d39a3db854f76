// The kinds of links in bulk, by the child that tests link, each with a way to make both ends.
import type { Harness, Json } from './harness.ts';
import { insertReadOnly } from './read-only.ts';
import { type Client, minimalBody } from './v2.ts';

export interface Kind {
  of: string;
  parent: string;
  child: string;
  parentBody: Json;
  /** The own fields that an item must have. */
  own: Json;
  /** The own fields that a link is shown with. */
  shown: Json;
  /** The scopes that a list needs; the child's scope is last, where one is needed. */
  scopes: string[];
}

const notes = (type: string, child: string): Kind => ({
  ...{ of: 'notes.records', parent: 'notes', child, parentBody: {}, scopes: ['notes:read'] },
  ...{ own: { record_type: type }, shown: { record_type: type } },
});
const segments = (record_type: string, child: string): Kind => ({
  ...{ of: 'segments.members', parent: 'segments', child, parentBody: { record_type }, own: {}, shown: {} },
  scopes: ['segments:read', `${child}:read`],
});
const plain = (of: string, child: string, shown: Json = {}): Kind => {
  const [parent = ''] = of.split('.');
  return { of, parent, child, parentBody: {}, own: {}, shown, scopes: [`${parent}:read`, `${child}:read`] };
};

export const KINDS: Kind[] = [
  plain('deals.contacts', 'contacts', { supervisor: null }),
  plain('deals.companies', 'companies'),
  notes('contact', 'contacts'),
  notes('company', 'companies'),
  notes('deal', 'deals'),
  segments('contact', 'contacts'),
  segments('company', 'companies'),
  plain('meetings.deal', 'deals'),
  plain('meetings.company', 'companies'),
];

/** What a test is called that is about the kind. */
export const titleOf = ({ of, child }: Kind): string => `${of} (${child})`;

/** A new parent of the user, or of nobody; gives its id. */
export async function makeParent(
  harness: Harness,
  api: Client,
  { parent, parentBody }: Kind,
  owner_id: string | null = null,
): Promise<string> {
  if (parent === 'meetings') return insertReadOnly(harness, parent, { owner_id });
  return (await api.create(parent, { ...minimalBody(parent), ...parentBody })).id;
}
