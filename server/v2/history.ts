// The history of a record, as a sub-resource.
import type { Resource } from '../../db/model/resource.ts';
import { withArticle } from '../../db/model/text.ts';
import { invalid } from '../errors.ts';
import type { Answer, ReadCall, ReadOperation } from '../operation.ts';
import { getKeptLog } from '../records/change-feed.ts';
import { readHistory } from '../records/history.ts';
import { historyChangeSchema } from './change-schemas.ts';
import { capitalized, pathOf, titleOf } from './naming.ts';
import { PAGE_PARAMETERS } from './paging.ts';

const answer = historyChangeSchema();

/** The operation that lists the changes of a record. */
export function historyOperation(resource: Resource): ReadOperation {
  const { name, singular } = resource;
  return {
    api: 'v2',
    tag: titleOf(resource),
    scopes: [`${name}:read`],
    method: 'GET',
    path: `${pathOf(resource)}/{id}/history`,
    id: `list${capitalized(singular)}History`,
    summary: `List the changes of ${withArticle(singular)}`,
    description:
      `The changes of the ${singular}, newest first, each as in \`/changes\` but without \`record\`. Changes are kept for 30 ` +
      `days unless the operator decides otherwise, also those of a deleted ${singular}. A user-bound key sees the changes ` +
      'since the record last became visible to it. If the operator keeps no changes, this path returns 404.',
    isWrite: false,
    query: PAGE_PARAMETERS,
    answer,
    answerKind: 'list',
    successes: { 200: 'One page of changes.' },
    errorStatuses: [404, 422],
    run: (call) => runHistory(call, resource),
  };
}

async function runHistory(call: ReadCall, resource: Resource): Promise<Answer> {
  const { access, params, query, now } = call;
  const { id = '' } = params;
  const identity = { orgNumber: access.orgNumber, path: `${pathOf(resource)}/${id}/history` };
  const cursors = await call.cursors.ofFeed({ ...identity, query: { user: access.userId } });
  const place = cursors.open(query.cursor, now);
  const log = await getKeptLog(call);
  const { epoch } = log;
  if (place !== null && place.epoch !== epoch) {
    const message = 'is from before a backup was restored; begin again without it';
    throw invalid('cursor', message, 'VALIDATION_OUT_OF_RANGE');
  }
  const request = { log, before: place?.sequence ?? null, limit: Number(query.limit) };
  const { items, sequences, hasNextPage } = await readHistory(call, resource, id, request);
  const cursorAfter = (index: number) => cursors.issue({ sequence: sequences[index] ?? 0, epoch, at: null });
  return { status: 200, object: 'list', data: items, hasNextPage, cursorAfter };
}
