// What completion asks the server: records with their names, and the names of pipelines and stages.
import { findResource } from '../db/model/resources/registry.ts';
import { Client } from './api/client.ts';
import { listAt, pagesOf } from './api/pages.ts';
import type { Pipeline } from './api/pipelines.ts';
import { nameOf } from './api/record-name.ts';
import { shortIdOf } from './input/short-id.ts';
import type { Config } from './settings/config.ts';
import { neutralizeLine } from './terminal/text.ts';

// Nobody waits longer for what Tab shows.
const WAIT_MS_MAX = 1_500;
const RECORDS_MAX = 50;

/** The short IDs of the newest records, each with a tab and the name behind it. */
export async function recordWords(config: Config, name: string): Promise<string[]> {
  const resource = findResource(name);
  if (resource === undefined) return [];
  const client = await quietClient(config);
  const list = listAt(`/api/v2/${resource.name}`, {}, AbortSignal.timeout(WAIT_MS_MAX));
  const { records } = await list.page(client, null, RECORDS_MAX);
  return records.map((record) => {
    const text = neutralizeLine(nameOf(record) ?? '').trim();
    return `${shortIdOf(String(record.id))}${text === '' ? '' : `\t${text}`}`;
  });
}

/** The names of the pipelines, or of all their stages. */
export async function pipelineWords(config: Config, kind: 'pipeline' | 'stage'): Promise<string[]> {
  const list = listAt('/api/v2/pipelines', {}, AbortSignal.timeout(WAIT_MS_MAX));
  const pages = await Array.fromAsync(pagesOf(await quietClient(config), list));
  const pipelines = pages.flatMap(({ records }) => records as Pipeline[]);
  const named = kind === 'pipeline' ? pipelines : pipelines.flatMap(({ stages }) => stages);
  return [...new Set(named.map(({ name }) => neutralizeLine(name)))];
}

// Says nothing while it waits.
async function quietClient(config: Config): Promise<Client> {
  return new Client({ url: config.url, apiKey: await config.apiKey(), onWait: () => {} });
}
