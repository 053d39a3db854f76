// The lists of version 1, which are queries by POST and have fields of their own.

export interface V1List {
  name: string;
  path: string;
  pageSizeMax: number;
  filters: readonly string[];
  fields: readonly string[];
  columns: readonly string[];
}

const PEOPLE: V1List = {
  name: 'people',
  path: '/api/v1/people/query',
  pageSizeMax: 100,
  filters: ['email', 'phone', 'companyId', 'owner'],
  fields: [
    'id',
    'email',
    'firstName',
    'lastName',
    'title',
    'phone',
    'personalPhone',
    'linkedin',
    'twitter',
    'facebook',
    'instagram',
    'whatsapp',
    'altEmails',
    'remarks',
    'companyId',
    'owner',
    'createdBy',
    'creationTime',
    'lastInteraction',
  ],
  columns: ['id', 'email', 'firstName', 'lastName', 'title', 'phone', 'creationTime'],
};

const INTERACTIONS: V1List = {
  name: 'interactions',
  path: '/api/v1/interactions/query',
  pageSizeMax: 21,
  filters: ['contactId', 'companyId'],
  fields: ['id', 'type', 'direction', 'title', 'summary', 'interactionDate', 'createdBy', 'creationTime'],
  columns: ['id', 'type', 'direction', 'title', 'interactionDate'],
};

export const V1_LISTS: readonly V1List[] = [PEOPLE, INTERACTIONS];

/** The v1 list of that resource; `contacts` are called people there. */
export function findV1List(resource: string): V1List | undefined {
  const name = resource === 'contacts' ? 'people' : resource;
  return V1_LISTS.find((list) => list.name === name);
}
