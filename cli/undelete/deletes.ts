// Finds in the log of changes what a request deleted.
import type { Data } from '../../db/model/json.ts';
import { findResource } from '../../db/model/resources/registry.ts';
import type { Client } from '../api/client.ts';
import { PAGE_SIZE_MAX, type Pageable, pageFrom, pagesOf } from '../api/pages.ts';
import { CliError } from '../errors.ts';

/** A record that was deleted. */
export interface DeletedRecord {
  resource: string;
  id: string;
  /** When, in RFC 3339. */
  at: string;
  /** The record as it was; null if it is erased. */
  before: Data | null;
}

/**
 * The records that a request deleted, in an order in which each can be restored after those that it refers to.
 * @throws CliError if the log has none
 */
export async function deletesOf(client: Client, requestId: string): Promise<DeletedRecord[]> {
  const query = { request_id: requestId, action: 'deleted' };
  const last = await firstOf(client, changesAt({ ...query, sort_direction: 'desc' }));
  if (last === undefined) throw nothingDeleted(requestId);
  const deleted: DeletedRecord[] = [];
  // All changes of a request have the same time.
  for await (const { records } of pagesOf(client, changesAt({ ...query, start: last.at }))) {
    deleted.push(...records.map(deletedRecord));
    if (deleted.some(({ id }) => id === last.id)) break;
  }
  return inOrder(deleted);
}

/** Changes that match; pages can be empty. */
export function changesAt({ start, ...query }: Record<string, string>): Pageable {
  return {
    pageSizeMax: PAGE_SIZE_MAX,
    page: async (client, cursor, limit) => {
      const place: Record<string, string> =
        cursor !== null ? { cursor } : start !== undefined ? { start } : {};
      const parameters = { ...query, ...place, limit: String(limit) };
      return pageFrom(await client.request('GET', '/api/v2/changes', { query: parameters }));
    },
  };
}

async function firstOf(client: Client, list: Pageable): Promise<DeletedRecord | undefined> {
  for await (const { records } of pagesOf(client, list))
    for (const record of records) return deletedRecord(record);
  return undefined;
}

function deletedRecord({ resource, record_id, at, before }: Data): DeletedRecord {
  return { resource: String(resource), id: String(record_id), at: String(at), before: before as Data | null };
}

// A note comes after its parent.
function inOrder(deleted: readonly DeletedRecord[]): DeletedRecord[] {
  const byId = new Map(deleted.map((one) => [one.id, one]));
  const ordered = new Set<DeletedRecord>();
  const add = (one: DeletedRecord): void => {
    byId.delete(one.id);
    for (const [name, { references }] of Object.entries(findResource(one.resource)?.fields ?? {})) {
      const target = references === one.resource ? byId.get(String(one.before?.[name])) : undefined;
      if (target !== undefined) add(target);
    }
    ordered.add(one);
  };
  for (const one of deleted) if (byId.has(one.id)) add(one);
  return [...ordered];
}

function nothingDeleted(requestId: string): CliError {
  return new CliError(`The log of changes has no deletes by the request ${requestId}.`, {
    nextSteps: [
      'check the ID: "crm delete" prints it, and "crm audit list --action record.deleted" shows it. The key must be able to read what was deleted.',
      'changes are kept for 30 days, unless the operator decides otherwise.',
    ],
  });
}
