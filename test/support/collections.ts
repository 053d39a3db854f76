// The four collection sub-resources, each with a way to make a parent, a child and the body that links it.
import type { Json } from './harness.ts';
import type { Client } from './v2.ts';

export interface Collection {
  parent: string;
  name: string;
  /** Resource of the children that these tests link. */
  child: string;
  parentBody: Json;
  body: (childId: string) => Json;
  /** The field of the body that holds the child's id. */
  field: string;
  /** The item that a link to the child is shown as. */
  item: (child: Json, linkedAt: string) => Json;
}

const full = (child: Json, linked_at: string) => ({ ...child, linked_at });

export const COLLECTIONS: Collection[] = [
  {
    parent: 'deals',
    name: 'contacts',
    child: 'contacts',
    parentBody: { name: 'D' },
    body: (contact_id) => ({ contact_id }),
    field: 'contact_id',
    item: (child, linked_at) => ({ ...child, supervisor: null, linked_at }),
  },
  {
    parent: 'deals',
    name: 'companies',
    child: 'companies',
    parentBody: { name: 'D' },
    body: (company_id) => ({ company_id }),
    field: 'company_id',
    item: full,
  },
  ...(['contact', 'company', 'deal'] as const).map((record_type): Collection => {
    const child = { contact: 'contacts', company: 'companies', deal: 'deals' }[record_type];
    return {
      parent: 'notes',
      name: 'records',
      child,
      parentBody: { title: 'N' },
      body: (record_id) => ({ record_type, record_id }),
      field: 'record_id',
      item: ({ id }, linked_at) => ({ record_type, record_id: id, linked_at }),
    };
  }),
  ...(['contact', 'company'] as const).map((record_type): Collection => {
    return {
      parent: 'segments',
      name: 'members',
      child: record_type === 'contact' ? 'contacts' : 'companies',
      parentBody: { name: 'S', record_type },
      body: (record_id) => ({ record_id }),
      field: 'record_id',
      item: full,
    };
  }),
];

/** What a test is called that is about the collection. */
export function titleOf({ parent, name, child }: Collection): string {
  return `${parent}/{id}/${name} of ${child}`;
}

/** A new parent; gives the path of its collection. */
export async function makeParent(api: Client, { parent, name, parentBody }: Collection): Promise<string> {
  return `/${parent}/${(await api.create(parent, parentBody)).id}/${name}`;
}
