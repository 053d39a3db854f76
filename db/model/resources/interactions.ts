// Interactions: what happened between the organization and a contact; written once, never changed.
import { Type } from 'typebox';
import {
  boolean,
  email,
  enumeration,
  exampleId,
  instant,
  LONG_TEXT_CHARACTERS_MAX,
  NAME_CHARACTERS_MAX,
  reference,
  text,
} from '../fields.ts';
import { oneOf, refersTo } from '../filters.ts';
import { json } from '../json-fields.ts';
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

// Who is involved in an interaction, beside the main contact too.
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

/** What creating one does in either version. */
export const WRITTEN_ONCE =
  'An email that no contact has makes a contact, if the key may write contacts; else it is a 422. One that is there ' +
  'already is not written again: it comes back with 201 and the mark that it is a duplicate. Duplicates agree in ' +
  'type, primary and secondary id where a primary id is given; else in contact, type, direction, title and a date ' +
  'that was given.';

/** What is told of an email that no contact has that the key sees, where the key may not create one. */
export const CONTACT_UNKNOWN =
  'must be the email of an existing contact; creating one needs the scope to write contacts';

export const interactions = defineResource({
  name: 'interactions',
  description:
    'What happened between the organization and a contact. Written once; never changed or deleted.',
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
      // Version 1 takes an empty one.
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
      description: 'When it happened, Unix milliseconds; now unless given.',
      aliases: ['Date', 'Activity Date', 'Timestamp'],
    }),
    main_contact: reference('contacts', {
      access: 'create',
      description: 'Id of the contact; on create exactly one of main_contact and main_contact_email.',
    }),
    main_contact_email: email({
      access: 'input',
      description: 'Email of the contact, who is created if unknown.',
      aliases: ['Contact', 'Contact Email', 'Email'],
    }),
    primary_id: text({
      key: textKey,
      access: 'create',
      example: 'msg-1842',
      description: 'Id in the system it comes from: type, primary_id and secondary_id together are unique.',
    }),
    secondary_id: text({
      access: 'create',
      example: 'thread-77',
      description: 'Second id in the system it comes from.',
    }),
    contact_ids: json(Type.Array(Type.String()), {
      column: null,
      initial: [],
      description: 'The contacts involved.',
      example: [exampleId('contacts')],
    }),
    company_ids: json(Type.Array(Type.String()), {
      column: null,
      initial: [],
      description: 'The companies involved.',
      example: [exampleId('companies')],
    }),
  },
  createdFields: {
    is_duplicate: boolean({
      access: 'read',
      description: 'Whether it was there already; then nothing is written.',
    }),
  },
  sideTables: [involvedContacts, involvedCompanies],
  filters: {
    contact_id: refersTo('contacts', parentsOf(involvedContacts)),
    company_id: refersTo('companies', parentsOf(involvedCompanies)),
    type: oneOf('type', INTERACTION_TYPES),
    direction: oneOf('direction', INTERACTION_DIRECTIONS),
  },
  explanations: {
    create: `${WRITTEN_ONCE} A key without \`interactions:read\` gets the id and the mark of a duplicate, and nothing else.`,
    batch: `${WRITTEN_ONCE} Of a duplicate a batch answers with the id and the mark alone.`,
  },
  columns: ['id', 'type', 'direction', 'title', 'interaction_date', 'main_contact'],
});
