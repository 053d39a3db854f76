// The v1 interface, deprecated and complete: its endpoint table.
import type { Operation } from '../operation.ts';
import * as run from './handlers.ts';
import * as schema from './schemas.ts';

type Row = Pick<Operation, 'method' | 'id' | 'summary' | 'errorStatuses' | 'run'> &
  Partial<Operation> & { at: string; scope: string };

const PEOPLE: Row[] = [
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
    scope: 'people:write',
    isWrite: true,
    body: schema.personUpdate,
    answer: schema.person,
    errorStatuses: [404, 413, 422],
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
    scope: 'people:read',
    body: schema.peopleQuery,
    answer: schema.person,
    answerKind: 'list',
    errorStatuses: [413, 422],
    run: run.queryPeople,
  },
  {
    method: 'POST',
    at: '/people',
    id: 'createPerson',
    summary: 'Create a person',
    scope: 'people:write',
    isWrite: true,
    body: schema.personCreate,
    answer: schema.person,
    successStatuses: [201],
    errorStatuses: [409, 413, 422],
    run: run.createPerson,
  },
  {
    method: 'PUT',
    at: '/people',
    id: 'upsertPerson',
    summary: 'Create a person, or update the one with that email',
    scope: 'people:write',
    isWrite: true,
    body: schema.personUpsert,
    answer: schema.person,
    errorStatuses: [413, 422],
    run: run.upsertPerson,
  },
];

const COMPANIES: Row[] = [
  {
    method: 'GET',
    at: '/companies/{companyId}',
    id: 'getCompanyV1',
    summary: 'Get a company',
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
    scope: 'companies:write',
    isWrite: true,
    body: schema.companyUpdate,
    inspect: run.inspectCompany,
    answer: schema.idOnly,
    errorStatuses: [404, 409, 413, 422],
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
    summary: 'Create a company, or find the one with that domain',
    scope: 'companies:write',
    isWrite: true,
    body: schema.companyCreate,
    inspect: run.inspectCompany,
    answer: schema.idOnly,
    successStatuses: [200, 201],
    errorStatuses: [409, 413, 422],
    run: run.createCompany,
  },
];

const INTERACTIONS: Row[] = [
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
    scope: 'interactions:read',
    body: schema.interactionsQuery,
    answer: schema.interaction,
    answerKind: 'list',
    errorStatuses: [413, 422],
    run: run.queryInteractions,
  },
  {
    method: 'POST',
    at: '/interactions',
    id: 'createInteractionV1',
    summary: 'Create an interaction',
    scope: 'interactions:write',
    isWrite: true,
    body: schema.interactionCreate,
    inspect: run.inspectInteraction,
    answer: schema.interactionCreated,
    successStatuses: [201],
    errorStatuses: [413, 422],
    run: run.createInteraction,
  },
];

const AUTHENTICATE: Row = {
  method: 'GET',
  at: '/authenticate',
  id: 'authenticate',
  summary: 'Tell whose key this is',
  scope: 'ALL',
  answer: schema.team,
  errorStatuses: [422],
  run: run.authenticate,
};

/** All operations of version 1. */
export function v1Operations(): Operation[] {
  return [
    operation('v1 Authentication', AUTHENTICATE),
    ...PEOPLE.map((row) => operation('v1 People', row)),
    ...COMPANIES.map((row) => operation('v1 Companies', row)),
    ...INTERACTIONS.map((row) => operation('v1 Interactions', row)),
  ];
}

function operation(tag: string, { at, scope, ...row }: Row): Operation {
  const answerKind = row.answerKind ?? 'success';
  return {
    api: 'v1',
    path: `/api/v1${at}`,
    tag,
    scopes: [scope],
    isWrite: false,
    query: {},
    answerKind,
    successStatuses: answerKind === 'none' ? [204] : [200],
    ...row,
  };
}
