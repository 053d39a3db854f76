// Companies: the organizations that contacts work for and that deals are made with.
import { domain, integer, number, reference, text, timestamp } from '../fields.ts';
import { caseless, domainIs, externalId, refersTo } from '../filters.ts';
import { custom } from '../json-fields.ts';
import { childrenOf } from '../links.ts';
import { defineResource } from '../resource.ts';
import { caselessKey } from '../text.ts';
import { segmentMembers } from './segments.ts';

export const companies = defineResource({
  name: 'companies',
  description: 'The companies that contacts work for and that deals are made with.',
  verbs: ['list', 'get', 'create', 'update', 'delete', 'batch'],
  scopes: ['read', 'write', 'delete'],
  owner: 'owner_id',
  identifying: ['domain', 'name'],
  unique: { domain: ['domain'] },
  fields: {
    domain: domain({
      description:
        'Internet domain, stored in lowercase without scheme, www., path and trailing dot; unique.',
      aliases: [
        'Company Domain Name',
        'Company Domain',
        'Website URL',
        'Website',
        'Web Site',
        'URL',
        'Homepage',
        'Organization - Website',
      ],
    }),
    name: text({
      key: caselessKey,
      example: 'Example Ltd',
      aliases: [
        'Company Name',
        'Company',
        'Account Name',
        'Account',
        'Organization Name',
        'Organization',
        'Organization - Name',
      ],
    }),
    linkedin: text({
      example: 'https://www.linkedin.com/company/example',
      aliases: [
        'LinkedIn Company Page',
        'Company LinkedIn',
        'LinkedIn URL',
        'LinkedIn profile',
        'Organization - LinkedIn profile',
      ],
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
    industry: text({ example: 'Manufacturing', aliases: ['Industry Type', 'Organization - Industry'] }),
    employee_count: integer({
      minimum: 0,
      example: 250,
      aliases: [
        'Number of Employees',
        'Employees',
        'No. of Employees',
        'Headcount',
        'Organization - Number of employees',
        'Company Size',
      ],
    }),
    estimated_revenue: number({
      example: 12_500_000,
      aliases: ['Annual Revenue', 'Revenue', 'Organization - Annual revenue'],
    }),
    city: text({
      example: 'London',
      aliases: ['Business City', 'Billing City', 'Organization - City/town/village/locality of Address'],
    }),
    state: text({
      example: 'Greater London',
      aliases: [
        'Business State',
        'Billing State/Province',
        'Billing State',
        'Organization - State/county of Address',
        'State/Region',
        'Province',
        'Region',
      ],
    }),
    country: text({
      example: 'United Kingdom',
      aliases: [
        'Business Country/Region',
        'Billing Country',
        'Organization - Country of Address',
        'Country/Region',
        'Office Location',
      ],
    }),
    owner_id: reference('users', {
      description: 'The user responsible for the company.',
      aliases: ['Company owner', 'Account Owner', 'Organization - Owner'],
    }),
    custom: custom({ description: 'Your own fields, as a flat object.' }),
    last_interaction_at: timestamp({
      description: 'When the last interaction with a contact of the company happened.',
    }),
  },
  alsoSortedBy: ['name'],
  filters: {
    domain: domainIs('domain'),
    name: caseless('name'),
    owner_id: refersTo('users', 'owner_id'),
    segment_id: refersTo('segments', childrenOf(segmentMembers)),
    external_id: externalId(),
  },
  explanations: {
    create: 'At least one of domain and name is required. A domain of another company returns 409.',
    undelete: 'Returns 409 if another company has its domain now.',
    update: 'The company must keep at least one of domain and name.',
  },
  columns: ['id', 'name', 'domain', 'industry', 'employee_count', 'country', 'created_at'],
  glance: ['name', 'domain', 'industry', 'employee_count', 'country', 'owner', 'created_at'],
});
