// Companies: the organizations that contacts work for and deals are made with.
import { domain, integer, number, reference, text, timestamp } from '../declare/fields.ts';
import { caseless, domainIs, refersTo } from '../declare/filters.ts';
import { custom } from '../declare/json-fields.ts';
import { childrenOf } from '../declare/links.ts';
import { defineResource } from '../declare/resource.ts';
import { segmentMembers } from './segments.ts';

export const companies = defineResource({
  name: 'companies',
  description: 'The firms that contacts work for and deals are made with.',
  verbs: ['list', 'get', 'create', 'update', 'delete', 'batch'],
  scopes: ['read', 'write', 'delete'],
  owner: 'owner_id',
  identifying: ['domain', 'name'],
  unique: { domain: ['domain'] },
  fields: {
    domain: domain({
      description: 'Internet domain, kept in lower case without scheme, www., path and trailing dot; unique.',
      aliases: [
        'Website',
        'Website URL',
        'Company Domain',
        'Company Domain Name',
        'Web Site',
        'URL',
        'Homepage',
        'Organization - Website',
      ],
    }),
    name: text({
      caseless: true,
      example: 'Example Ltd',
      aliases: [
        'Company',
        'Company Name',
        'Account',
        'Account Name',
        'Organization',
        'Organization Name',
        'Organization - Name',
      ],
    }),
    linkedin: text({
      example: 'https://www.linkedin.com/company/example',
      aliases: ['LinkedIn URL', 'LinkedIn Company Page', 'Company LinkedIn'],
    }),
    twitter: text({ example: '@example', aliases: ['Twitter Handle', 'Twitter URL'] }),
    facebook: text({
      example: 'https://facebook.com/example',
      aliases: ['Facebook URL', 'Facebook Company Page'],
    }),
    instagram: text({ example: '@example', aliases: ['Instagram Handle', 'Instagram URL'] }),
    crunchbase: text({
      example: 'https://www.crunchbase.com/organization/example',
      aliases: ['Crunchbase URL'],
    }),
    industry: text({ example: 'Manufacturing', aliases: ['Industry Type'] }),
    employee_count: integer({
      minimum: 0,
      example: 250,
      aliases: ['Employees', 'Number of Employees', 'No. of Employees', 'Headcount', 'Company Size'],
    }),
    estimated_revenue: number({ example: 12_500_000, aliases: ['Revenue', 'Annual Revenue'] }),
    city: text({ example: 'London', aliases: ['Billing City', 'Business City'] }),
    state: text({
      example: 'Greater London',
      aliases: [
        'State/Region',
        'Region',
        'Province',
        'Billing State',
        'Billing State/Province',
        'Business State',
      ],
    }),
    country: text({
      example: 'United Kingdom',
      aliases: ['Country/Region', 'Billing Country', 'Business Country/Region', 'Office Location'],
    }),
    owner_id: reference('users', { description: 'The user whose company it is.' }),
    custom: custom({ description: 'Fields of your own, flat.' }),
    last_interaction_at: timestamp({ description: 'When anyone of the company was last interacted with.' }),
  },
  filters: {
    domain: domainIs('domain'),
    name: caseless('name'),
    owner_id: refersTo('users', 'owner_id'),
    segment_id: refersTo('segments', childrenOf(segmentMembers)),
  },
  explanations: {
    create: 'At least one of domain and name. A domain that another company has is a 409.',
    update: 'One of domain and name must remain.',
  },
  columns: ['id', 'name', 'domain', 'industry', 'employee_count', 'country', 'created_at'],
});
