// The v1 API, deprecated but complete: its endpoint table.
import { WRITTEN_ONCE } from '../../db/model/resources/interactions.ts';
import type { Operation } from '../operation.ts';
import { type EndpointRow, operationOf } from './endpoint-row.ts';
import * as run from './handlers.ts';
import * as schema from './schemas.ts';
import { v1Text } from './translate.ts';

const PERSON = { firstName: 'Ada', lastName: 'Lovelace', title: 'Head of Engines' };

const PEOPLE: EndpointRow[] = [
  {
    method: 'GET',
    at: '/people/{personId}',
    id: 'getPerson',
    summary: 'Get a person',
    scope: 'people:read',
    answer: schema.person,
    errorStatuses: [404, 422],
    run: run.getPerson,
  },
  {
    method: 'PATCH',
    at: '/people/{personId}',
    id: 'updatePerson',
    summary: 'Update a person',
    description: 'Changes only the fields you send. An email of another person returns 422.',
    scope: 'people:write',
    isWrite: true,
    body: schema.personUpdate,
    answer: schema.person,
    errorStatuses: [404, 413, 422],
    examples: { body: { title: 'Head of Engines', remarks: 'Met at the Analytical Society.' } },
    run: run.updatePerson,
  },
  {
    method: 'DELETE',
    at: '/people/{personId}',
    id: 'deletePerson',
    summary: 'Delete a person',
    scope: 'people:write',
    isWrite: true,
    answerKind: 'none',
    errorStatuses: [404, 422],
    run: run.deletePerson,
  },
  {
    method: 'POST',
    at: '/people/query',
    id: 'queryPeople',
    summary: 'List people',
    description: 'Returns people, newest first.',
    scope: 'people:read',
    body: schema.peopleQuery,
    answer: schema.person,
    answerKind: 'list',
    errorStatuses: [413, 422],
    examples: { body: { limit: 20, filter: { email: 'ada@example.com' } } },
    run: run.queryPeople,
  },
  {
    method: 'POST',
    at: '/people',
    id: 'createPerson',
    summary: 'Create a person',
    description: 'An email of another person returns 409.',
    scope: 'people:write',
    isWrite: true,
    body: schema.personCreate,
    answer: schema.person,
    successes: { 201: 'Created.' },
    ownNames: { email: 'identifier' },
    errorStatuses: [409, 413, 422],
    examples: { body: { type: 'email', identifier: 'ada@example.com', ...PERSON } },
    run: run.createPerson,
  },
  {
    method: 'PUT',
    at: '/people',
    id: 'upsertPerson',
    summary: 'Create a person, or update the person with that email',
    description:
      'Matches primary and alternative emails. Changes only the fields you send; the primary email of a match stays unchanged.',
    scope: 'people:write',
    isWrite: true,
    body: schema.personUpsert,
    answer: schema.person,
    errorStatuses: [413, 422],
    examples: { body: { email: 'ada@example.com', ...PERSON, altEmails: ['ada@work.example'] } },
    run: run.upsertPerson,
  },
];

const COMPANIES: EndpointRow[] = [
  {
    method: 'GET',
    at: '/companies/{companyId}',
    id: 'getCompanyV1',
    summary: 'Get a company',
    description: 'Additional properties are returned next to the listed ones.',
    scope: 'companies:read',
    answer: schema.company,
    errorStatuses: [404, 422],
    run: run.getCompany,
  },
  {
    method: 'PATCH',
    at: '/companies/{companyId}',
    id: 'updateCompanyV1',
    summary: 'Update a company',
    description:
      'Changes only the fields you send. Properties that are not listed are stored as well; null removes one.',
    scope: 'companies:write',
    isWrite: true,
    body: schema.companyUpdate,
    inspect: run.inspectCompany,
    answer: schema.companyId,
    errorStatuses: [404, 409, 413, 422],
    examples: { body: { name: 'Example Ltd', industry: 'Manufacturing' } },
    run: run.updateCompany,
  },
  {
    method: 'DELETE',
    at: '/companies/{companyId}',
    id: 'deleteCompanyV1',
    summary: 'Delete a company',
    scope: 'companies:remove',
    isWrite: true,
    answerKind: 'none',
    errorStatuses: [404, 422],
    run: run.deleteCompany,
  },
  {
    method: 'POST',
    at: '/companies',
    id: 'createCompanyV1',
    summary: 'Create a company, or get the ID of the company with that domain',
    description:
      'If a company with the domain exists, returns 200 with its ID and leaves it unchanged. Properties that are not ' +
      'listed are stored as well, if they are strings, numbers or booleans.',
    scope: 'companies:write',
    isWrite: true,
    body: schema.companyCreate,
    inspect: run.inspectCompany,
    answer: schema.companyId,
    successes: { 200: 'A company with this domain exists.', 201: 'Created.' },
    errorStatuses: [409, 413, 422],
    examples: { body: { domain: 'example.com', name: 'Example Ltd', industry: 'Manufacturing' } },
    run: run.createCompany,
  },
];

const INTERACTIONS: EndpointRow[] = [
  {
    method: 'GET',
    at: '/interactions/{interactionId}',
    id: 'getInteractionV1',
    summary: 'Get an interaction',
    scope: 'interactions:read',
    answer: schema.interaction,
    errorStatuses: [404, 422],
    run: run.getInteraction,
  },
  {
    method: 'POST',
    at: '/interactions/query',
    id: 'queryInteractions',
    summary: 'List interactions',
    description: 'Returns interactions, newest first.',
    scope: 'interactions:read',
    body: schema.interactionsQuery,
    answer: schema.interaction,
    answerKind: 'list',
    errorStatuses: [413, 422],
    examples: { body: { limit: 20 } },
    run: run.queryInteractions,
  },
  {
    method: 'POST',
    at: '/interactions',
    id: 'createInteractionV1',
    summary: 'Create an interaction',
    description: v1Text(WRITTEN_ONCE),
    scope: 'interactions:write',
    isWrite: true,
    body: schema.interactionCreate,
    inspect: run.inspectInteraction,
    answer: schema.interactionCreated,
    successes: { 201: 'Created.' },
    errorStatuses: [413, 422],
    examples: {
      body: {
        type: 'EMAIL',
        direction: 'OUTBOUND',
        title: 'Sent the offer',
        interactionDate: 1_767_225_600_000,
        mainContactEmail: 'ada@example.com',
      },
    },
    run: run.createInteraction,
  },
];

const AUTHENTICATE: EndpointRow = {
  method: 'GET',
  at: '/authenticate',
  id: 'authenticate',
  summary: 'Get the organization of a key',
  scope: 'ALL',
  answer: schema.team,
  errorStatuses: [404, 422],
  run: run.authenticate,
};

/** All operations of version 1. */
export function v1Operations(): Operation[] {
  return [
    operationOf('v1 Authentication', AUTHENTICATE),
    ...PEOPLE.map((row) => operationOf('v1 People', row)),
    ...COMPANIES.map((row) => operationOf('v1 Companies', row)),
    ...INTERACTIONS.map((row) => operationOf('v1 Interactions', row)),
  ];
}
