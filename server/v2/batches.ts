// The batches of a resource: what can be done with up to 100 of its records in one request.
import type { Data } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import { ApiError } from '../errors.ts';
import type { WriteOperation } from '../operation.ts';
import { createRecords } from '../records/changes.ts';
import { batchAnswer, batchSchema } from './batch.ts';
import { createdSchema, createRules, explained, writing } from './declared.ts';
import { capitalized, operationId, pathOf } from './naming.ts';

type SpecificWrite = Omit<WriteOperation, 'api' | 'tag'>;

/** Creates records. */
export function batchCreate(resource: Resource): SpecificWrite {
  return {
    ...writing(resource),
    method: 'POST',
    path: `${pathOf(resource)}/batch`,
    id: operationId('batchCreate', resource),
    summary: `Create up to 100 ${resource.name}`,
    description: explained(
      resource,
      'batch',
      'Items are created independently and in order. A 200 does not mean that every item succeeded: check summary.failed.',
    ),
    ...createRules(resource),
    isBatch: true,
    answer: batchSchema(`${capitalized(resource.singular)}Batch`, ['created'], createdSchema(resource)),
    answerKind: 'batch',
    successes: { 200: 'The result of every item, in the order sent.' },
    errorStatuses: [413, 422],
    run: (call) =>
      batchAnswer<Data>(call, async (items) =>
        (await createRecords(call, resource, items)).map((outcome) =>
          outcome instanceof ApiError ? outcome : { status: 'created', data: outcome },
        ),
      ),
  };
}
