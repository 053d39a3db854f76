// Carries out `crm history`: prints the changes of a record, newest first.
import type { Data } from '../../db/model/json.ts';
import type { Client } from '../api/client.ts';
import { connect } from '../api/connect.ts';
import { listAt, pagesOf } from '../api/pages.ts';
import { checkedId, resourceNamed, resourcePath } from '../api/target.ts';
import type { Config } from '../settings/config.ts';
import { limitOf } from '../settings/options.ts';
import { createPrinter } from '../terminal/output.ts';
import { pagedOutput } from '../terminal/pager.ts';
import { note, stdout } from '../terminal/streams.ts';
import { terminalWidth } from '../terminal/wrap.ts';
import { everId } from '../undelete/deleted-id.ts';
import type { FeedChange } from './change.ts';
import { changeLine } from './change-line.ts';
import { Names } from './names.ts';

export interface HistoryFlags {
  limit?: number;
  all?: boolean;
}

const FIELDS = [
  ...['sequence', 'at', 'action', 'resource', 'record_id', 'actor', 'request_id', 'cause'],
  ...['before', 'after', 'link'],
];

/** Prints changes up to the limit, as lines for people or in the given format. */
export async function runHistory(
  name: string,
  id: string,
  flags: HistoryFlags,
  config: Config,
): Promise<void> {
  const resource = resourceNamed(name);
  const given = checkedId(id);
  const client = await connect(config);
  const path = resourcePath(resource, await everId(client, resource, given));
  const names = new Names(client, new AbortController().signal);
  const isForPeople = config.output === 'table';
  const output = pagedOutput(config);
  const printer = createPrinter(config, { columns: FIELDS, allFields: FIELDS }, output);
  const limits = { limit: limitOf(flags) };
  const record = isForPeople ? await currentRecord(client, path) : null;
  let isEmpty = true;
  let hasMore = false;
  for await (const { records, nextCursor } of pagesOf(client, listAt(`${path}/history`), limits)) {
    isEmpty &&= records.length === 0;
    hasMore = nextCursor !== null;
    if (isForPeople) await output.write(await linesOf(records, record, names, config));
    else await printer.print(records);
  }
  if (isForPeople) await output.end();
  else await printer.end();
  if (isForPeople && isEmpty) note('No changes of this record are kept.');
  if (hasMore) note('There are older changes: add --limit N or --all.');
}

// Null if it is deleted.
async function currentRecord(client: Client, path: string): Promise<Data | null> {
  const { body } = await client.request('GET', path, { expectErrors: true });
  return body.object === 'success' ? (body.data as Data) : null;
}

async function linesOf(
  records: readonly Data[],
  record: Data | null,
  names: Names,
  { isColored }: Config,
): Promise<string> {
  const changes = records.map((change) => ({ ...change, record }) as unknown as FeedChange);
  await names.learn(changes);
  const columns = terminalWidth(stdout);
  const layout = {
    columns,
    isColored,
    nowMs: Date.now(),
    isRelative: stdout.isTTY,
    hasShortIds: stdout.isTTY,
  };
  return changes.map((change) => changeLine(change, names, layout)).join('');
}
