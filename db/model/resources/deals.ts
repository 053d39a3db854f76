// Deals: what is being sold, moving through the stages of a pipeline.
import { currency, date, enumeration, exampleId, number, reference, text, timestamp } from '../fields.ts';
import { oneOf, refersTo } from '../filters.ts';
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
      description: 'The contact who supervises this one in the deal.',
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

/** What is told of a stage that the deal cannot have as long as it is in its pipeline. */
export const STAGE_ELSEWHERE =
  "must be a stage of the deal's pipeline; to change pipelines send pipeline_id too";

export const deals = defineResource({
  name: 'deals',
  description: 'What is being sold, moving through the stages of a pipeline.',
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
      description: "The pipeline; the organization's oldest one unless given.",
    }),
    stage_id: reference('stages', {
      nullable: false,
      description: "The stage; the pipeline's first one unless given.",
    }),
    status: enumeration(STAGE_TYPES, {
      access: 'read',
      nullable: false,
      description: "Follows the type of the deal's stage.",
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
    point_of_contact_id: reference('contacts', { description: 'The contact who answers for it.' }),
    owner_id: reference('users', {
      description: 'The user whose deal it is.',
      aliases: ['Deal owner', 'Opportunity Owner', 'Deal - Owner'],
    }),
    custom: custom({ description: 'Fields of your own, flat.' }),
    stage_changed_at: timestamp({ nullable: false, description: 'When the deal came to its stage.' }),
    closed_at: timestamp({
      example: null,
      description: 'When the deal was won or lost; null while it is open.',
    }),
  },
  filters: {
    pipeline_id: refersTo('pipelines', 'pipeline_id'),
    stage_id: refersTo('stages', 'stage_id'),
    status: oneOf('status', STAGE_TYPES),
    owner_id: refersTo('users', 'owner_id'),
    company_id: refersTo('companies', 'company_id', parentsOf(dealCompanies)),
    contact_id: refersTo('contacts', 'point_of_contact_id', parentsOf(dealContacts)),
  },
  links: { contacts: dealContacts, companies: dealCompanies },
  explanations: {
    create:
      "Without pipeline and stage it starts in the first stage of the organization's oldest pipeline. `status` and " +
      '`closed_at` follow the type of the stage.',
    update:
      "A stage must be of the deal's pipeline unless `pipeline_id` comes with it; `pipeline_id` alone moves the deal " +
      "to that pipeline's first stage. A deal that is opened again has `closed_at` null.",
  },
  columns: ['id', 'name', 'status', 'estimated_value', 'currency', 'estimated_close_date', 'created_at'],
});
