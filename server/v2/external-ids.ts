// The external IDs of a record, as a sub-resource: list, add and remove.
import {
  EXTERNAL_IDS,
  type ExternalId,
  externalIdSchema,
  shownExternalIdSchema,
} from '../../db/model/external-ids.ts';
import type { Data } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import { withArticle } from '../../db/model/text.ts';
import type { Answer, Call, Operation, ReadOperation, WriteOperation } from '../operation.ts';
import { addExternalId, listExternalIdsOf, removeExternalId } from '../records/external-ids.ts';
import { capitalized, pathOf, titleOf } from './naming.ts';
import { answerPage, PAGE_PARAMETERS } from './paging.ts';

/** The operations on the external IDs of a resource's records. */
export function externalIdOperations(resource: Resource): Operation[] {
  const { name, singular } = resource;
  const path = `${pathOf(resource)}/{id}/${EXTERNAL_IDS}`;
  const common = { api: 'v2' as const, tag: titleOf(resource), path };
  const title = capitalized(singular);
  const at = (call: Call) => ({ resource, recordId: call.params.id ?? '' });
  const list: ReadOperation = {
    ...common,
    method: 'GET',
    id: `list${title}ExternalIds`,
    summary: `List the external IDs of ${withArticle(singular)}`,
    description: `The IDs that the ${singular} has in other systems, newest first.`,
    scopes: [`${name}:read`],
    isWrite: false,
    query: PAGE_PARAMETERS,
    answer: shownExternalIdSchema,
    answerKind: 'list',
    successes: { 200: 'One page of results.' },
    errorStatuses: [404, 422],
    run: (call) =>
      answerPage(call, `${pathOf(resource)}/${call.params.id}/${EXTERNAL_IDS}`, (range) =>
        listExternalIdsOf(call, at(call), range),
      ),
  };
  const writing = {
    ...common,
    scopes: [`${name}:write`],
    isWrite: true as const,
    isOrganizationOnly: resource.owner === null,
    query: {},
  };
  const add: WriteOperation = {
    ...writing,
    method: 'POST',
    id: `add${title}ExternalId`,
    summary: `Add an external ID to ${withArticle(singular)}`,
    description:
      `A ${singular} has at most one ID of each source, and at most 20 in all. Adding an ID again changes nothing; one ` +
      `that another ${singular} has, or a second one of a source, returns 409. \`updated_at\` stays as it is.`,
    body: externalIdSchema,
    answer: shownExternalIdSchema,
    answerKind: 'success',
    successes: { 200: 'Added, or already present.' },
    errorStatuses: [404, 409, 413, 422],
    run: async (call): Promise<Answer> => {
      const data = await addExternalId(call, at(call), call.body as Data & ExternalId);
      return { status: 200, object: 'success', data };
    },
  };
  const remove: WriteOperation = {
    ...writing,
    method: 'DELETE',
    path: `${path}/{source}`,
    id: `remove${title}ExternalId`,
    summary: `Remove an external ID from ${withArticle(singular)}`,
    answerKind: 'none',
    successes: { 204: 'Removed. The response has no body.' },
    errorStatuses: [404, 422],
    run: async (call): Promise<Answer> => {
      await removeExternalId(call, at(call), call.params.source ?? '');
      return { status: 204 };
    },
  };
  return [list, add, remove];
}
