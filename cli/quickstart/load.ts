// Sends the demo data to the server: batch-create for records, one request for each link.
import type { Data, JsonValue } from '../../db/declare/json.ts';
import type { Resource } from '../../db/declare/resource.ts';
import { getResource } from '../../db/resources/index.ts';
import type { Client } from '../api/client.ts';
import { pageOf, recordOf, unexpectedAnswer } from '../api/envelope.ts';
import { resourcePath } from '../api/target.ts';
import { CliError } from '../errors.ts';
import type { DemoLink, DemoRecord, Ids, WritableName } from './data/types.ts';
import type { Done } from './screen.ts';

const BATCH_ITEMS_MAX = 100;

/** Learns the ids of the default pipeline's stages, as `stages/NAME`. */
export async function learnStages(client: Client, ids: Ids): Promise<void> {
  const response = await client.request('GET', '/api/v2/pipelines');
  const stages = pageOf(response).records[0]?.stages as { id: string; name: string }[] | undefined;
  for (const { id, name } of stages ?? []) ids.set(`stages/${name}`, id);
}

/** Creates the records of one resource in batches and remembers their ids; throws at the first refusal. */
export async function loadRecords(
  client: Client,
  name: WritableName,
  records: readonly DemoRecord[],
  ids: Ids,
  onBatch: (loaded: Done) => void,
): Promise<Done> {
  const resource = getResource(name);
  const loaded: Done = { done: 0, requests: 0 };
  while (loaded.done < records.length) {
    const batch = nextBatch(resource, records.slice(loaded.done, loaded.done + BATCH_ITEMS_MAX), ids);
    const body = batch.map(({ data }) => withIds(resource, data, ids));
    const response = await client.request('POST', `${resourcePath(resource)}/batch`, { body });
    if (response.body.object !== 'batch') throw unexpectedAnswer(response);
    for (const item of response.body.data.items) {
      const key = batch[item.index]?.key ?? name;
      if (item.data === undefined) throw refused(key, item.error?.message ?? 'no reason given');
      ids.set(key, String(item.data.id));
    }
    loaded.done += batch.length;
    loaded.requests += 1;
    onBatch({ ...loaded });
  }
  return loaded;
}

/** Makes the links, one request each. */
export async function makeLinks(
  client: Client,
  links: readonly DemoLink[],
  ids: Ids,
  onLink: (loaded: Done) => void,
): Promise<Done> {
  const loaded: Done = { done: 0, requests: 0 };
  for (const link of links) {
    const [resourceName = ''] = link.parent.split('/');
    const path = `${resourcePath(getResource(resourceName), idOf(link.parent, ids))}/${link.name}`;
    const body = Object.entries(link.body).map(([field, value]) => [field, ids.get(value) ?? value]);
    recordOf(await client.request('POST', path, { body: Object.fromEntries(body) }));
    loaded.done += 1;
    loaded.requests += 1;
    onLink({ ...loaded });
  }
  return loaded;
}

// A record that refers to one of the same batch has to wait: the server has yet to give that one its id.
function nextBatch(resource: Resource, records: readonly DemoRecord[], ids: Ids): DemoRecord[] {
  const first = records.findIndex((record) =>
    referencesOf(resource, record.data).some(([, key]) => !ids.has(key)),
  );
  if (first === 0) throw new Error(`${records[0]?.key} refers to what is not there yet`);
  return records.slice(0, first < 0 ? records.length : first);
}

/** The fields of a record with ids in place of keys. */
export function withIds(resource: Resource, data: Data, ids: Ids): Data {
  const references = referencesOf(resource, data).map(([field, key]) => [field, idOf(key, ids)]);
  return { ...data, ...Object.fromEntries(references) };
}

function referencesOf(resource: Resource, data: Data): (readonly [field: string, key: string])[] {
  const isReference = ([field, value]: [string, JsonValue]): boolean =>
    resource.fields[field]?.kind === 'reference' && value !== null;
  return Object.entries(data)
    .filter(isReference)
    .map(([field, value]) => [field, String(value)] as const);
}

function idOf(key: string, ids: Ids): string {
  const id = ids.get(key);
  if (id === undefined) throw new Error(`no id is known for ${key}`);
  return id;
}

function refused(key: string, reason: string): CliError {
  return new CliError(`The server refused ${key} of the demo data: ${reason}`, {
    nextSteps: ['run "crm quickstart" again, on a new database file if you named one in --db.'],
  });
}
