// Writes the demo data as a folder like that of `crm export all`, with the demo's keys as IDs.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Data, JsonValue } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import { DEFAULT_PIPELINE_NAME, DEFAULT_STAGES } from '../../db/model/resources/pipelines.ts';
import { getResource } from '../../db/model/resources/registry.ts';
import { writeManifest } from '../export/manifest.ts';
import { type DemoLink, WRITABLE } from './data/types.ts';
import type { Demo } from './demo.ts';

/** Writes records and links for `crm import all`; users already exist and have their real IDs. */
export function writeDemoFolder(
  folder: string,
  { data, ids, url }: Pick<Demo, 'data' | 'ids' | 'url'>,
): void {
  mkdirSync(folder);
  const files: { name: string; records: number }[] = [];
  const write = (resource: string, lines: readonly Data[]): void => {
    const name = `${resource}.ndjson`;
    writeFileSync(join(folder, name), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    files.push({ name, records: lines.length });
  };
  const began_at = new Date().toISOString();
  write('pipelines', [defaultPipeline()]);
  for (const name of WRITABLE) {
    const resource = getResource(name);
    const records = data.records[name].map(({ key, data: fields }) => ({
      id: key,
      ...withIds(resource, fields, (reference) => ids.get(reference) ?? reference),
    }));
    write(name, records);
  }
  // An export lists the newest records first.
  write('links', data.links.map(linkLine).reverse());
  writeManifest(folder, { server: url, began_at }, files);
}

// The pipeline that every organization has; the import finds it by name.
function defaultPipeline(): Data {
  const stages = DEFAULT_STAGES.map(({ name, type }, position) => ({
    ...{ id: `stages/${name}`, name, type, probability: null, position },
  }));
  return { id: 'pipelines/0', name: DEFAULT_PIPELINE_NAME, stages };
}

function linkLine({ parent, name, body }: DemoLink): Data {
  const [resource = ''] = parent.split('/');
  const childColumn = getResource(resource).links[name]?.childColumn ?? '';
  const { [childColumn]: child = '', ...own } = body;
  return { resource, id: parent, link: name, record_id: child, ...own };
}

/** The fields of a record, with keys replaced by the IDs from `idOf`. */
export function withIds(resource: Resource, data: Data, idOf: (key: string) => string): Data {
  const replaced = Object.entries(data).map(([name, value]): [string, JsonValue] => {
    const isKey = resource.fields[name]?.kind === 'reference' && value !== null;
    return [name, isKey ? idOf(String(value)) : value];
  });
  return Object.fromEntries(replaced);
}
