// Carries out `crm undelete RESOURCE ID`: restores one deleted record.
import type { Resource } from '../../db/model/resource.ts';
import { resourceColumns } from '../api/column-layout.ts';
import { connect } from '../api/connect.ts';
import { recordOf } from '../api/envelope.ts';
import { TURN_ON_CHANGES } from '../api/response-error.ts';
import { checkedId, resourceNamed, resourcePath } from '../api/target.ts';
import { isRefusal, usageError, withSteps } from '../errors.ts';
import { isOurId } from '../input/record-id.ts';
import type { Config } from '../settings/config.ts';
import { NOTHING_WRITTEN, printRecord } from '../terminal/output.ts';
import { note } from '../terminal/streams.ts';
import { deletedId } from './deleted-id.ts';

/** Restores a deleted record and prints it. */
export async function runUndelete(
  what: string | undefined,
  id: string | undefined,
  { dryRun: isDryRun = false }: { dryRun?: boolean },
  config: Config,
): Promise<void> {
  if (what === undefined || id === undefined) {
    throw usageError(
      'Specify what to restore.',
      'run: crm undelete RESOURCE ID',
      'or, for all that a request deleted: crm undelete --request ID',
    );
  }
  const resource = undeletable(what);
  checkedId(id);
  const client = await connect(config);
  const whole = await deletedId(client, resource, id);
  const path = `${resourcePath(resource, whole)}/undelete`;
  try {
    const record = recordOf(await client.request('POST', path, { isDryRun }));
    if (isDryRun) note(NOTHING_WRITTEN);
    await printRecord(config, record, resourceColumns(resource));
  } catch (error) {
    if (!isRefusal(error, 404) || !isOurId(whole)) throw error;
    const step = `to see what happened to it, run: crm history ${resource.name} ${whole}`;
    throw withSteps(error, (steps) => (steps.includes(TURN_ON_CHANGES) ? steps : [step]));
  }
}

function undeletable(what: string): Resource {
  const resource = resourceNamed(what);
  if (resource.verbs.includes('delete')) return resource;
  throw usageError(
    `${resource.name} cannot be undeleted.`,
    'use one of: contacts, companies, pipelines, deals, tasks, notes, segments.',
  );
}
