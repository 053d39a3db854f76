// The lists of API v1, which are POST queries with different fields.
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
  /** Each filter with the resources whose IDs it accepts. */
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

/** The v1 list of a resource; v1 calls `contacts` people. */
export function findV1List(resource: string): V1List | undefined {
  const name = resource === 'contacts' ? 'people' : resource;
  return V1_LISTS.find((list) => list.name === name);
}
