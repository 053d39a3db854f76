// Carries out `crm undelete --request`: restores all records that requests deleted.
import type { Data } from '../../db/model/json.ts';
import type { Client } from '../api/client.ts';
import { connect } from '../api/connect.ts';
import { resourcePath } from '../api/target.ts';
import { CliError, EXIT, isRefusal, usageError } from '../errors.ts';
import type { Config } from '../settings/config.ts';
import { counted, formatCount } from '../terminal/format.ts';
import { createPrinter } from '../terminal/output.ts';
import { note } from '../terminal/streams.ts';
import { completeLinks } from './complete-links.ts';
import { type DeletedRecord, deletesOf } from './deletes.ts';

const FIELDS = ['resource', 'id', 'status', 'error'];

/** Restores what each request deleted, the last request first, and prints what became of each record. */
export async function runUndeleteRequest(
  what: string | undefined,
  _id: string | undefined,
  { request: requestIds, dryRun: isDryRun = false }: { request: string[]; dryRun?: boolean },
  config: Config,
): Promise<void> {
  if (what !== undefined)
    throw usageError(`Use either ${what} or --request, not both.`, 'remove one of them.');
  const client = await connect(config);
  const requests: { requestId: string; deleted: DeletedRecord[] }[] = [];
  for (const requestId of new Set(requestIds))
    requests.push({ requestId, deleted: await deletesOf(client, requestId) });
  requests.sort((a, b) => ((a.deleted[0]?.at ?? '') < (b.deleted[0]?.at ?? '') ? 1 : -1));
  const printer = createPrinter(config, { columns: FIELDS, allFields: FIELDS });
  const counts = { restored: 0, unchanged: 0, error: 0 };
  for (const { requestId, deleted } of requests) {
    const restored: DeletedRecord[] = [];
    for (const record of deleted) {
      const result = await restore(client, record, isDryRun);
      counts[result.status] += 1;
      if (result.status === 'restored') restored.push(record);
      await printer.print([{ resource: record.resource, id: record.id, ...result }]);
    }
    if (!isDryRun) await completeLinks(client, requestId, restored);
  }
  await printer.end();
  report(counts, isDryRun);
}

type Result = { status: 'restored' | 'unchanged' | 'error'; error: string | null };

async function restore(
  client: Client,
  { resource, id }: DeletedRecord,
  isDryRun: boolean,
): Promise<Result & Data> {
  const path = resourcePath({ name: resource }, id);
  try {
    await client.request('POST', `${path}/undelete`, { isDryRun });
    return { status: 'restored', error: null };
  } catch (error) {
    if (!(error instanceof CliError) || !isRefusal(error) || error.exitCode === EXIT.auth) throw error;
    if (error.status === 404 && (await exists(client, path))) return { status: 'unchanged', error: null };
    return { status: 'error', error: error.message };
  }
}

async function exists(client: Client, path: string): Promise<boolean> {
  const { status } = await client.request('GET', path, { expectErrors: true });
  return status === 200;
}

function report({ restored, unchanged, error }: Record<Result['status'], number>, isDryRun: boolean): void {
  const total = restored + unchanged + error;
  const rest = unchanged === 0 ? '' : ` ${formatCount(unchanged)} existed already.`;
  const verb = isDryRun ? 'Would restore' : 'Restored';
  const written = isDryRun ? ' Nothing was written.' : '';
  note(`${verb} ${formatCount(restored)} of ${counted(total, 'record')}.${rest}${written}`);
  if (error === 0) return;
  throw new CliError(`${counted(error, 'record')} could not be restored.`, {
    exitCode: EXIT.rejectedRows,
    nextSteps: ['fix these errors, then run the command again to restore the rest.'],
  });
}
