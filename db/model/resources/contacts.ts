// Contacts: the people an organization deals with (v1: people).
import { boolean, email, LONG_TEXT_CHARACTERS_MAX, reference, text, timestamp } from '../fields.ts';
import { emailIn, equals, externalId, ofAddress, refersTo } from '../filters.ts';
import { custom, emails } from '../json-fields.ts';
import { childrenOf } from '../links.ts';
import { defineResource, type SideTable } from '../resource.ts';
import { textKey } from '../text.ts';
import { segmentMembers } from './segments.ts';

// The owner of an email: one row for each address, primary or alternative.
const contactEmails: SideTable = {
  table: 'contact_emails',
  parentColumn: 'contact_id',
  childColumn: 'email_key',
  children: {},
  holds: 'email',
};

export const contacts = defineResource({
  name: 'contacts',
  description: 'The people an organization deals with. Version 1 calls them people.',
  verbs: ['list', 'get', 'create', 'update', 'delete', 'batch'],
  scopes: ['read', 'write', 'delete'],
  owner: 'owner_id',
  identifying: ['email', 'phone', 'first_name', 'last_name'],
  unique: { email: ['email', 'alt_emails'] },
  fields: {
    email: email({
      description: 'Primary email address; unique among all contacts.',
      aliases: [
        'Work Email',
        'Business Email',
        'Person - Email - Work',
        'Primary Email',
        'Email Address',
        'E-mail',
        'E-mail Address',
        'E-mail 1 - Value',
        'Person - Email',
        'Email 1',
        'Email Addresses',
        'Emails',
      ],
    }),
    alt_emails: emails({
      description: 'Additional email addresses; each is unique among all contacts.',
      aliases: [
        'Additional email addresses',
        'Additional Emails',
        'Alternative Emails',
        'Other Emails',
        'Other Email',
        'Secondary Email',
        'Personal Email',
        'Home Email',
        'Person - Email - Home',
        'Person - Email - Other',
        'E-mail # Address',
        'E-mail # - Value',
        'Email #',
      ],
    }),
    first_name: text({ example: 'Ada', aliases: ['First', 'Given Name', 'Forename', 'Person - First name'] }),
    last_name: text({
      example: 'Lovelace',
      aliases: ['Last', 'Surname', 'Family Name', 'Person - Last name'],
    }),
    title: text({
      example: 'Head of Engines',
      description: 'Job title.',
      aliases: [
        'Job Title',
        'Organization 1 - Title',
        'Organization Title',
        'Person - Job title',
        'title',
        'Position',
        'Role',
      ],
    }),
    phone: text({
      key: textKey,
      example: '+44 20 7946 0000',
      description: 'Business phone number.',
      aliases: [
        'Work Phone',
        'Business Phone',
        'Person - Phone - Work',
        'Primary Phone',
        'Phone Number',
        'Telephone',
        'Phone 1 - Value',
        'Person - Phone',
        'Phone Numbers',
        'Phones',
      ],
    }),
    personal_phone: text({
      key: textKey,
      example: '+44 7700 900000',
      description: 'Personal phone number.',
      aliases: [
        'Mobile Phone Number',
        'Mobile Phone',
        'Mobile',
        'Cell Phone',
        'Cell',
        'Person - Phone - Mobile',
        'Home Phone',
        'Person - Phone - Home',
        'Phone 2 - Value',
      ],
    }),
    linkedin: text({
      example: 'https://www.linkedin.com/in/ada',
      aliases: ['LinkedIn URL', 'LinkedIn Profile URL', 'LinkedIn Profile', 'LinkedIn Bio'],
    }),
    twitter: text({ example: '@ada', aliases: ['Twitter Handle', 'Twitter Username', 'Twitter URL'] }),
    facebook: text({ example: 'https://facebook.com/ada', aliases: ['Facebook URL', 'Facebook Page'] }),
    instagram: text({ example: '@ada', aliases: ['Instagram Handle', 'Instagram URL'] }),
    whatsapp: text({ example: '+44 7700 900000', aliases: ['WhatsApp Number', 'WhatsApp Phone Number'] }),
    remarks: text({
      maxLength: LONG_TEXT_CHARACTERS_MAX,
      example: 'Met at the Analytical Society.',
      aliases: ['Notes', 'Person - Notes', 'Comments', 'Remark', 'Description'],
    }),
    company_id: reference('companies', { description: 'The company the contact works for.' }),
    owner_id: reference('users', {
      description: 'The user responsible for the contact.',
      aliases: ['Contact owner', 'Person - Owner'],
    }),
    keep_in_touch: boolean({ description: 'Whether to stay in regular contact.' }),
    custom: custom({ description: 'Your own fields, as a flat object.' }),
    last_interaction_at: timestamp({ description: 'When the last interaction with the contact happened.' }),
  },
  sideTables: [contactEmails],
  filters: {
    email: emailIn(contactEmails),
    phone: ofAddress(equals('phone', 'personal_phone')),
    company_id: refersTo('companies', 'company_id'),
    owner_id: refersTo('users', 'owner_id'),
    segment_id: refersTo('segments', childrenOf(segmentMembers)),
    external_id: externalId(),
  },
  explanations: {
    create:
      'At least one of email, phone, first_name and last_name is required. An email of another contact returns 409.',
    undelete: 'Returns 409 if another contact has one of its emails now.',
    update: 'The contact must keep at least one of email, phone, first_name and last_name.',
  },
  columns: ['id', 'email', 'first_name', 'last_name', 'title', 'phone', 'created_at'],
  glance: ['name', 'email', 'company', 'title', 'phone', 'owner', 'created_at'],
});
