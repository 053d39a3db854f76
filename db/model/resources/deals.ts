// Deals: sales opportunities that move through the stages of a pipeline.
import { currency, date, enumeration, exampleId, number, reference, text, timestamp } from '../fields.ts';
import { externalId, oneOf, refersTo } from '../filters.ts';
import { custom } from '../json-fields.ts';
import { link, parentsOf } from '../links.ts';
import { defineResource } from '../resource.ts';
import { STAGE_TYPES } from './pipelines.ts';

const dealContacts = link({
  table: 'deal_contacts',
  parentColumn: 'deal_id',
  childColumn: 'contact_id',
  children: { contact: 'contacts' },
  fields: {
    supervisor: reference('contacts', {
      example: exampleId('supervisor'),
      description: 'The contact who supervises this contact in the deal.',
    }),
  },
  description: 'Contacts who take part in the deal.',
});

const dealCompanies = link({
  table: 'deal_companies',
  parentColumn: 'deal_id',
  childColumn: 'company_id',
  children: { company: 'companies' },
  description: 'Companies that take part in the deal.',
});

/** The error for a stage that does not belong to the deal's pipeline. */
export const STAGE_ELSEWHERE =
  "must be a stage of the deal's pipeline; to change the pipeline, also send pipeline_id";

export const deals = defineResource({
  name: 'deals',
  description: 'Sales opportunities that move through the stages of a pipeline.',
  verbs: ['list', 'get', 'create', 'update', 'delete', 'batch'],
  scopes: ['read', 'write', 'delete'],
  owner: 'owner_id',
  fields: {
    name: text({
      required: true,
      example: 'Difference engine, second unit',
      aliases: ['Deal Name', 'Opportunity Name', 'Deal - Title', 'Deal', 'Opportunity', 'Title'],
    }),
    pipeline_id: reference('pipelines', {
      nullable: false,
      description: "The pipeline of the deal. Default: the organization's oldest pipeline.",
    }),
    stage_id: reference('stages', {
      nullable: false,
      description: "The stage of the deal. Default: the pipeline's first stage.",
    }),
    status: enumeration(STAGE_TYPES, {
      access: 'read',
      nullable: false,
      description: "The type of the deal's stage.",
    }),
    estimated_value: number({
      example: 48_000,
      aliases: ['Amount', 'Deal Value', 'Opportunity Amount', 'Deal - Value', 'Value', 'Close Value'],
    }),
    currency: currency({
      description: 'ISO 4217 code.',
      aliases: [
        'Currency Code',
        'Currency ISO Code',
        'Amount Currency',
        'Deal Currency Code',
        'Deal - Currency of Value',
      ],
    }),
    estimated_close_date: date({
      aliases: ['Expected Close Date', 'Close Date', 'Deal - Expected close date'],
    }),
    company_id: reference('companies', { description: 'The company the deal is made with.' }),
    point_of_contact_id: reference('contacts', { description: 'The main contact for the deal.' }),
    owner_id: reference('users', {
      description: 'The user responsible for the deal.',
      aliases: ['Deal owner', 'Opportunity Owner', 'Deal - Owner'],
    }),
    custom: custom({ description: 'Your own fields, as a flat object.' }),
    stage_changed_at: timestamp({ nullable: false, description: 'When the deal entered its stage.' }),
    closed_at: timestamp({
      example: null,
      description: 'When the deal was won or lost; null while it is open.',
    }),
  },
  alsoSortedBy: ['estimated_value', 'estimated_close_date'],
  filters: {
    pipeline_id: refersTo('pipelines', 'pipeline_id'),
    stage_id: refersTo('stages', 'stage_id'),
    status: oneOf('status', STAGE_TYPES),
    owner_id: refersTo('users', 'owner_id'),
    company_id: refersTo('companies', 'company_id', parentsOf(dealCompanies)),
    contact_id: refersTo('contacts', 'point_of_contact_id', parentsOf(dealContacts)),
    external_id: externalId(),
  },
  links: { contacts: dealContacts, companies: dealCompanies },
  explanations: {
    create:
      "Without a pipeline and stage, the deal starts in the first stage of the organization's oldest pipeline. `status` and " +
      '`closed_at` follow the type of the stage.',
    undelete:
      'Returns 409 if its stage was deleted: undelete the pipeline first. `status` follows the type that the stage has now.',
    update:
      "The stage must belong to the deal's pipeline, unless you also send `pipeline_id`. `pipeline_id` alone moves the deal " +
      'to the first stage of that pipeline. Reopening a deal sets `closed_at` to null.',
  },
  columns: ['id', 'name', 'status', 'estimated_value', 'currency', 'estimated_close_date', 'created_at'],
  glance: [
    'name',
    'company',
    'stage',
    'estimated_value',
    'estimated_close_date',
    'owner',
    'status',
    'pipeline',
    'created_at',
  ],
});
