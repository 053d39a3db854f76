// How to undo deletes, by the IDs of the requests that made them.
import { note } from '../terminal/streams.ts';
import type { Client } from './client.ts';

const IDS_SHOWN_MAX = 5;
// A busy server takes seconds.
const CHECK_MS_MAX = 10_000;

/** Prints the command that restores what the requests deleted, unless the server keeps no changes to restore it from. */
export async function noteUndo(client: Client, requestIds: readonly string[]): Promise<void> {
  if (requestIds.length === 0 || (await keepsNoChanges(client))) return;
  const shown = requestIds.slice(0, IDS_SHOWN_MAX).join(' ');
  const left = requestIds.length - IDS_SHOWN_MAX;
  const more =
    left > 0 ? `   (and ${left} more requests: "crm audit list --action record.deleted" lists them)` : '';
  note(`To undo: crm undelete --request ${shown}${more}`);
}

// The delete is done: whatever goes wrong here is no failure of the command.
async function keepsNoChanges(client: Client): Promise<boolean> {
  const options = {
    query: { start: 'now', limit: '1' },
    expectErrors: true,
    signal: AbortSignal.timeout(CHECK_MS_MAX),
  };
  const response = await client.request('GET', '/api/v2/changes', options).catch(() => undefined);
  return response?.status === 404;
}
