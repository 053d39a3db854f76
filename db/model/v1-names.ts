// Version 1's names for the fields of its resources, and the filters of its queries.

/** Fields of a person, in the order of responses. */
export const PERSON_FIELDS = [
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
] as const;

/** Fields of an interaction, in the order of responses. */
export const INTERACTION_FIELDS = [
  'id',
  'type',
  'direction',
  'title',
  'summary',
  'interactionDate',
  'mainContact',
  'primaryId',
  'secondaryId',
  'contactIds',
  'companyIds',
  'createdBy',
  'creationTime',
] as const;

/** Keys of a people query's filter, each with the resources that its value is an ID of. */
export const PEOPLE_FILTERS = {
  email: [],
  phone: [],
  companyId: ['companies'],
  owner: ['users'],
} as const;
/** Maximum page size of a people query. */
export const PEOPLE_PAGE_MAX = 100;
/** Keys of an interactions query's filter, as above. */
export const INTERACTION_FILTERS = { contactId: ['contacts'], companyId: ['companies'] } as const;
/** Maximum page size of an interactions query. */
export const INTERACTIONS_PAGE_MAX = 21;
