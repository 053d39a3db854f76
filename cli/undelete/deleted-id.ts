// The whole ID of a deleted record, for a short ID or the beginning of an ID: from the log of changes.
import type { Data } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import type { Client } from '../api/client.ts';
import { notCertain, wholeId } from '../api/find-id.ts';
import { isMissing } from '../api/id-finder.ts';
import { pagesOf } from '../api/pages.ts';
import { CliError } from '../errors.ts';
import { idRangeOf, type MeantIds } from '../input/short-id.ts';
import { changesAt } from './deletes.ts';

/** The ID of a record that is there or was deleted. */
export async function everId(client: Client, resource: Resource, text: string): Promise<string> {
  try {
    return await wholeId(client, resource.name, text);
  } catch (error) {
    if (!isMissing(error) || !resource.verbs.includes('delete')) throw error;
    return deletedId(client, resource, text);
  }
}

/** The ID that a text means among the deleted records of a resource; without a request unless it is short. */
export async function deletedId(
  client: Client,
  { name, singular }: Pick<Resource, 'name' | 'singular'>,
  text: string,
): Promise<string> {
  const range = idRangeOf(text);
  if (range === undefined) return text;
  const [record, ...others] = await deletedIn(client, name, range);
  if (others.length > 0 && record !== undefined) throw notCertain(name, text, [record, ...others]);
  if (record !== undefined) return String(record.id);
  throw new CliError(`No deleted ${singular} has the ID "${text}".`, {
    nextSteps: [
      `crm list ${name}   (lists those that are there)`,
      'what was deleted is kept for 30 days, unless the operator decides otherwise.',
    ],
  });
}

async function deletedIn(client: Client, resource: string, range: MeantIds): Promise<Data[]> {
  const found = new Map<string, Data>();
  const list = changesAt({ resource, action: 'deleted', sort_direction: 'desc' });
  for await (const { records } of pagesOf(client, list)) {
    for (const { record_id, before } of records) {
      const id = String(record_id);
      if (range.has(id)) found.set(id, { ...(before as Data | null), id });
    }
    // A short ID means one record; and nothing is deleted before it is created.
    const isFound = found.size > 0 && range.fromMs === range.untilMs;
    if (isFound || Date.parse(String(records.at(-1)?.at)) < range.fromMs) break;
  }
  return [...found.values()];
}
