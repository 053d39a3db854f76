// Undelete: brings a deleted record back from the log of changes.
import type { Resource } from '../../db/model/resource.ts';
import { withArticle } from '../../db/model/text.ts';
import type { Answer, WriteOperation } from '../operation.ts';
import { undeleteRecord } from '../records/undeletes.ts';
import { writing } from './declared.ts';
import { operationId, pathOf, titleOf } from './naming.ts';

const DESCRIPTION =
  'Restores a deleted record as it was, with the same `id` and `created_at`; only `updated_at` is new. Its links come back if the ' +
  'record at the other end exists, with their `linked_at`. So do the references to it that the delete cleared and that are still ' +
  'null, and the external IDs that no other record has now. A reference of the record itself becomes null if what it names no ' +
  'longer exists: of records that were deleted together, restore first those that others refer to. The log has one ' +
  '`undeleted` change, followed by those of links and references.\n\n' +
  'The request has no body. It returns 404 if there is no deleted record with this ID, if the key could not see it when it ' +
  'was deleted, if its values were erased, or if the change is no longer kept.';

/** The operation that restores a deleted record. */
export function undeleteOperation(resource: Resource): WriteOperation {
  const special = resource.explanations.undelete;
  return {
    ...writing(resource),
    api: 'v2',
    tag: titleOf(resource),
    method: 'POST',
    path: `${pathOf(resource)}/{id}/undelete`,
    id: operationId('undelete', resource, true),
    summary: `Undelete ${withArticle(resource.singular)}`,
    description: special === undefined ? DESCRIPTION : `${DESCRIPTION}\n\n${special}`,
    answer: resource.responseSchema,
    answerKind: 'success',
    successes: { 200: 'Restored.' },
    errorStatuses: [404, 409, 422],
    isAudited: true,
    run: async (call): Promise<Answer> => {
      const data = await undeleteRecord(call, resource, call.params.id ?? '');
      return { status: 200, object: 'success', data };
    },
  };
}
