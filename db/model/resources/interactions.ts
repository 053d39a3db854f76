// Interactions: what happened between the organization and a contact; written once, never changed.
import { Type } from 'typebox';
import {
  boolean,
  email,
  enumeration,
  instant,
  LONG_TEXT_CHARACTERS_MAX,
  NAME_CHARACTERS_MAX,
  reference,
  text,
} from '../fields.ts';
import { oneOf, refersTo } from '../filters.ts';
import { references } from '../json-fields.ts';
import { parentsOf } from '../links.ts';
import { defineResource, type SideTable } from '../resource.ts';
import { textKey } from '../text.ts';

export const INTERACTION_TYPES = [
  'DIRECT_MESSAGE',
  'EMAIL',
  'MEETING',
  'MEMO',
  'BOOKING_CREATED',
  'BOOKING_CANCELLED',
  'MANUAL',
  'API_EVENT',
  'VOICE_NOTE',
] as const;
export const INTERACTION_DIRECTIONS = ['INBOUND', 'OUTBOUND', 'HYBRID', 'INTERNAL', 'EVENT'] as const;

// Everyone involved in an interaction, including the main contact.
export const involvedContacts: SideTable = {
  table: 'interaction_contacts',
  parentColumn: 'interaction_id',
  childColumn: 'contact_id',
  children: { contact: 'contacts' },
};
export const involvedCompanies: SideTable = {
  table: 'interaction_companies',
  parentColumn: 'interaction_id',
  childColumn: 'company_id',
  children: { company: 'companies' },
};

/** How creating an interaction works in both versions. */
export const WRITTEN_ONCE =
  'If no contact has the email, a contact is created if the key can write contacts; otherwise the request returns 422. A ' +
  'duplicate is not written again: the response is 201 with the existing interaction, marked as a duplicate. If a ' +
  'primary ID is sent, interactions with the same type, primary ID and secondary ID are duplicates. Otherwise ' +
  'interactions with the same contact, type, direction, title and date are duplicates, if a date is sent.';

const INVOLVED =
  'Everyone in `contact_ids` and `company_ids` is linked, and so are the main contact and its company. ' +
  'Their `last_interaction_at` changes if the interaction is later. Neither list affects what counts as a duplicate.';

/** The error for an email without a visible contact, if the key cannot create one. */
export const CONTACT_UNKNOWN =
  'must be the email of an existing contact; to create a contact, the key needs the scope to write contacts';

export const interactions = defineResource({
  name: 'interactions',
  description:
    'Events between the organization and a contact, such as emails and calls. They cannot be changed or deleted.',
  verbs: ['list', 'get', 'create', 'batch'],
  scopes: ['read', 'write'],
  owner: 'created_by',
  exactlyOneOf: ['main_contact', 'main_contact_email'],
  repeatedBy: ['primary_id', 'type', 'secondary_id'],
  fields: {
    type: enumeration(INTERACTION_TYPES, {
      required: true,
      access: 'create',
      example: 'EMAIL',
      aliases: ['Activity Type', 'Interaction Type'],
    }),
    direction: enumeration(INTERACTION_DIRECTIONS, { required: true, access: 'create', example: 'OUTBOUND' }),
    title: text({
      required: true,
      access: 'create',
      example: 'Sent the offer',
      aliases: ['Subject', 'Name'],
      // Version 1 accepts an empty title.
      responseSchema: Type.String({ maxLength: NAME_CHARACTERS_MAX }),
    }),
    summary: text({
      maxLength: LONG_TEXT_CHARACTERS_MAX,
      access: 'create',
      example: 'Two units, delivery in spring.',
      aliases: ['Body', 'Description', 'Notes'],
    }),
    interaction_date: instant({
      access: 'create',
      nullable: false,
      clearable: true,
      description: 'When it happened, in Unix milliseconds. Default: now.',
      aliases: ['Date', 'Activity Date', 'Timestamp'],
    }),
    main_contact: reference('contacts', {
      access: 'create',
      description: 'ID of the contact. On create, send either main_contact or main_contact_email.',
    }),
    main_contact_email: email({
      access: 'input',
      description: 'Email of the contact. If no contact has it, one is created.',
      aliases: ['Contact', 'Contact Email', 'Email'],
    }),
    primary_id: text({
      key: textKey,
      access: 'create',
      example: 'msg-1842',
      description: 'ID in the source system. The combination of type, primary_id and secondary_id is unique.',
    }),
    secondary_id: text({
      access: 'create',
      example: 'thread-77',
      description: 'Second ID in the source system.',
    }),
    contact_ids: references('contacts', {
      access: 'create',
      description: 'The contacts involved. On create, the main contact is added to them.',
    }),
    company_ids: references('companies', {
      access: 'create',
      description: 'The companies involved. On create, the company of the main contact is added to them.',
    }),
  },
  createdFields: {
    is_duplicate: boolean({
      access: 'read',
      description: 'Whether the interaction already exists; if so, nothing is written.',
    }),
  },
  sideTables: [involvedContacts, involvedCompanies],
  alsoSortedBy: ['interaction_date'],
  filters: {
    contact_id: refersTo('contacts', parentsOf(involvedContacts)),
    company_id: refersTo('companies', parentsOf(involvedCompanies)),
    type: oneOf('type', INTERACTION_TYPES),
    direction: oneOf('direction', INTERACTION_DIRECTIONS),
  },
  explanations: {
    create: `${WRITTEN_ONCE} For a duplicate, a key without \`interactions:read\` gets only \`id\` and \`is_duplicate\`.\n\n${INVOLVED}`,
    batch: `${WRITTEN_ONCE} For a duplicate, a batch returns only \`id\` and \`is_duplicate\`.\n\n${INVOLVED}`,
  },
  columns: ['id', 'type', 'direction', 'title', 'interaction_date', 'main_contact'],
  glance: ['interaction_date', 'type', 'direction', 'title', 'contacts', 'companies'],
});
