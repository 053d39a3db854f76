// The lists of version 1, which are queries by POST and have fields of their own.
import {
  INTERACTION_FIELDS,
  INTERACTION_FILTERS,
  INTERACTIONS_PAGE_MAX,
  PEOPLE_FILTERS,
  PEOPLE_PAGE_MAX,
  PERSON_FIELDS,
} from '../../db/model/v1-names.ts';

export interface V1List {
  name: string;
  path: string;
  pageSizeMax: number;
  /** Each with the resources that its value is an id of. */
  filters: Readonly<Record<string, readonly string[]>>;
  fields: readonly string[];
  columns: readonly string[];
}

const PEOPLE: V1List = {
  name: 'people',
  path: '/api/v1/people/query',
  pageSizeMax: PEOPLE_PAGE_MAX,
  filters: PEOPLE_FILTERS,
  fields: PERSON_FIELDS,
  columns: ['id', 'email', 'firstName', 'lastName', 'title', 'phone', 'creationTime'],
};

const INTERACTIONS: V1List = {
  name: 'interactions',
  path: '/api/v1/interactions/query',
  pageSizeMax: INTERACTIONS_PAGE_MAX,
  filters: INTERACTION_FILTERS,
  fields: INTERACTION_FIELDS,
  columns: ['id', 'type', 'direction', 'title', 'interactionDate'],
};

export const V1_LISTS: readonly V1List[] = [PEOPLE, INTERACTIONS];

/** The v1 list of that resource; `contacts` are called people there. */
export function findV1List(resource: string): V1List | undefined {
  const name = resource === 'contacts' ? 'people' : resource;
  return V1_LISTS.find((list) => list.name === name);
}
