// Carries out `crm audit list`.
import type { Data } from '../../db/model/json.ts';
import { AUDIT_ACTIONS, type AuditAction, type ListedEntry, listAudit } from '../../db/tables/audit.ts';
import { usageError } from '../errors.ts';
import { didYouMean } from '../nearest.ts';
import type { Config } from '../settings/config.ts';
import { limitOf } from '../settings/options.ts';
import { sinceMs } from '../settings/since.ts';
import { type ColumnLayout, createPrinter, type Printer } from '../terminal/output.ts';
import { note } from '../terminal/streams.ts';
import { isoTime, organizationNamed, withReader } from './database.ts';

export interface AuditFlags {
  org?: string;
  since?: string;
  action?: string;
  actor?: string;
  limit?: number;
  all?: boolean;
}

const LIMIT_DEFAULT = 100;
const ENTRIES_AT_ONCE = 500;

const LOOK: ColumnLayout = {
  columns: ['created_at', 'action', 'actor', 'origin', 'target_type', 'target_id'],
  allFields: [
    ...['id', 'created_at', 'action', 'actor_type', 'actor', 'user_id', 'origin', 'org_id'],
    ...['target_type', 'target_id', 'request_id', 'details'],
  ],
};

/** Prints the entries that match, newest first. */
export async function runAuditList(options: AuditFlags, config: Config): Promise<void> {
  const since = options.since === undefined ? undefined : sinceMs(options.since, Date.now());
  const action = options.action === undefined ? undefined : actionOf(options.action);
  const limit = limitOf(options, LIMIT_DEFAULT);
  const printer = createPrinter(config, LOOK);
  const hasMore = await withReader(config.db, async (store) => {
    const query = {
      ...(options.org !== undefined && { orgNumber: (await organizationNamed(store, options.org)).number }),
      ...(since !== undefined && { since }),
      ...(action !== undefined && { action }),
      ...(options.actor !== undefined && { actor: options.actor }),
    };
    const pageAfter = (after: ListedEntry | undefined, count: number) =>
      listAudit(store.read, { ...query, ...(after && { after }), limit: Math.min(count, ENTRIES_AT_ONCE) });
    return printPages(printer, pageAfter, limit);
  });
  await printer.end();
  if (hasMore) note('More entries exist. To list them, add --limit N or --all.');
}

type PageAfter = (after: ListedEntry | undefined, count: number) => Promise<ListedEntry[]>;

// Resolves with whether there are more entries than it printed.
async function printPages(printer: Printer, pageAfter: PageAfter, limit: number): Promise<boolean> {
  let last: ListedEntry | undefined;
  for (let left = limit; left > 0; ) {
    const page = await pageAfter(last, left);
    if (page.length === 0) return false;
    await printer.print(page.map(presented));
    last = page.at(-1);
    left -= page.length;
  }
  return (await pageAfter(last, 1)).length > 0;
}

function actionOf(text: string): AuditAction {
  const action = AUDIT_ACTIONS.find((one) => one === text);
  if (action !== undefined) return action;
  throw usageError(
    `Unknown action "${text}".${didYouMean(text, AUDIT_ACTIONS)}`,
    `use one of: ${AUDIT_ACTIONS.join(', ')}.`,
  );
}

function presented(entry: ListedEntry): Data {
  const { id, created_at, action, actor_type, actor, user_id, origin, organization_id: org_id } = entry;
  const { target_type, target_id, request_id, details } = entry;
  return {
    ...{ id, created_at: isoTime(created_at), action, actor_type, actor, user_id, origin, org_id },
    ...{ target_type, target_id, request_id, details: details === null ? null : JSON.parse(details) },
  };
}
