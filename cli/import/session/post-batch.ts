// Posts one batch, and reads the results of its items.
import type { JsonValue } from '../../../db/model/json.ts';
import type { Client, RequestOptions } from '../../api/client.ts';
import { type BatchItem, unexpectedAnswer } from '../../api/envelope.ts';
import { isQuotaRefusal, responseError } from '../../api/response-error.ts';
import { CliError } from '../../errors.ts';
import type { RowOutcome } from '../row.ts';
import { rejectionOfError } from '../rows/row-request.ts';

export interface BatchPost extends Pick<RequestOptions, 'idempotencyKey' | 'isDryRun' | 'signal'> {
  client: Client;
  path: string;
  items: readonly JsonValue[];
}

/** The results of the items, in their order. */
export interface PostedBatch {
  results: BatchItem[];
  /** How many responses the server replayed. */
  replays: number;
  /** The IDs of the requests that were carried out. */
  requestIds: string[];
}

/** Posts the items; those that are too large together are sent in halves. */
export async function postBatch(batch: BatchPost): Promise<PostedBatch> {
  const { client, path, items, ...options } = batch;
  if (items.length === 0) return { results: [], replays: 0, requestIds: [] };
  const response = await client.request('POST', path, { ...options, body: items, expectErrors: true });
  const { status, headers, body } = response;
  if (status === 413 && items.length > 1) return postHalves(batch);
  if (body.object === 'error') {
    const isKeyReused = body.error.details?.some((detail) => detail.path === 'Idempotency-Key');
    if (isKeyReused) throw changedBatch();
    if (status === 413) {
      return { results: [{ index: 0, status: 'error', error: body.error }], replays: 0, requestIds: [] };
    }
    // This endpoint exists on every server that knows it, whatever its records.
    if (status === 404 || status === 405) throw tooOld(path, responseError(response));
    throw responseError(response);
  }
  if (body.object !== 'batch' || body.data.items.length !== items.length) throw unexpectedAnswer(response);
  const results = body.data.items.toSorted((one, other) => one.index - other.index);
  const isReplayed = headers.get('idempotent-replayed') === 'true';
  // Of a replay, that of the first response.
  return { results, replays: isReplayed ? 1 : 0, requestIds: [body.meta.request_id] };
}

async function postHalves(batch: BatchPost): Promise<PostedBatch> {
  const { items, idempotencyKey: key } = batch;
  const middle = Math.ceil(items.length / 2);
  const halves = [items.slice(0, middle), items.slice(middle)];
  const posted: PostedBatch[] = [];
  for (const [at, half] of halves.entries())
    posted.push(await postBatch({ ...batch, items: half, ...(key && { idempotencyKey: `${key}.${at}` }) }));
  return {
    results: posted.flatMap(({ results }) => results).map((result, index) => ({ ...result, index })),
    replays: posted.reduce((sum, { replays }) => sum + replays, 0),
    requestIds: posted.flatMap(({ requestIds }) => requestIds),
  };
}

function changedBatch(): CliError {
  return new CliError(
    'The server refused a batch of this input, because it has received it with different content before.',
    {
      nextSteps: [
        'check which rows are already imported, remove them from the input, and import the rest with --no-resume. The cause: records that the rows refer to have changed.',
      ],
    },
  );
}

function tooOld(path: string, cause: CliError): CliError {
  return new CliError(`This server is too old: it does not have POST ${path}.`, {
    nextSteps: ['upgrade the server, or send the records one by one.'],
    cause,
  });
}

/** The result of a row whose item failed, or has no result. */
export function failureOf(item: BatchItem | undefined): RowOutcome {
  const error = item?.error ?? {
    code: 'INTERNAL_ERROR',
    message: 'the server sent no result for this row',
  };
  if (isQuotaRefusal(error)) return { status: 'refused', message: error.message };
  const id = duplicatedIdOf(error);
  return {
    status: 'rejected',
    rejection: rejectionOfError(error),
    ...(id !== undefined && { record: { id } }),
  };
}

/** The record that a conflict is with, if the key can see it. */
export function duplicatedIdOf({
  details,
}: Pick<NonNullable<BatchItem['error']>, 'details'>): string | undefined {
  return details?.find(({ existing_id: id }) => id !== undefined)?.existing_id;
}
