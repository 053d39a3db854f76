// Carries out `crm get`, `create`, `update` and `delete`: reads or writes one record.
import type { Data } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import type { Include } from '../../db/model/resources/includes.ts';
import { createFields, requestBody, sentBody, updateFields } from '../api/body.ts';
import type { Client } from '../api/client.ts';
import { resourceColumns, targetColumns } from '../api/column-layout.ts';
import { connect } from '../api/connect.ts';
import { includedIn, recordOf } from '../api/envelope.ts';
import { IdFinder } from '../api/id-finder.ts';
import { parseIncludes } from '../api/includes.ts';
import { nameOf } from '../api/record-name.ts';
import { checkedId, isTarget, parseTarget, resourceFor, resourcePath, wholePath } from '../api/target.ts';
import { noteUndo } from '../api/undo-hint.ts';
import { type BulkOptions, idWithoutFrom } from '../bulk/options.ts';
import { usageError } from '../errors.ts';
import type { Config } from '../settings/config.ts';
import {
  type ColumnLayout,
  NOTHING_WRITTEN,
  parseFields,
  printRecord,
  printSummaryJson,
} from '../terminal/output.ts';
import { writePaged } from '../terminal/pager.ts';
import { confirmDelete, requireTerminal } from '../terminal/questions.ts';
import { note, stdout, writeOut } from '../terminal/streams.ts';
import { terminalWidth } from '../terminal/wrap.ts';
import type { CardLayout } from '../timeline/card.ts';
import { cardAt, cardText } from './card.ts';
import { checkShowsIncluded, printWithIncluded } from './included.ts';

/** What `get` shows; both separated by commas. */
export interface GetOptions {
  fields?: string;
  include?: string;
}

/** Prints a record, or the one associated with it, and what it includes. */
export async function runGet(
  what: string,
  id: string | undefined,
  options: GetOptions & BulkOptions,
  config: Config,
): Promise<void> {
  const { look, includes, ...place } = locate(what, id, options);
  checkShowsIncluded(includes, config.output);
  const fields = parseFields(options.fields, look.allFields);
  const query = { include: includes.map(({ name }) => name) };
  const client = await connect(config);
  const path = await place.path(new IdFinder(client));
  const { resource } = place;
  const layout = cardLayout(config);
  if (resource !== undefined && fields === undefined && layout !== undefined) {
    return writePaged(await cardAt(path, { resource, client, layout }), config);
  }
  const response = await client.request('GET', path, { query });
  if (response.body.object === 'success' && response.body.data === null) {
    if (config.output === 'json') await writeOut('null\n');
    return note(`${what} is not set.`);
  }
  const record = recordOf(response);
  if (includes.length === 0) return printRecord(config, record, { ...look, fields });
  await printWithIncluded(config, record, {
    look: { ...look, fields },
    includes,
    included: includedIn(response),
  });
}

/** Where a record is, how it looks, and what to show with it. */
interface Located {
  /** Of a record that its own ID names. */
  resource?: Resource;
  path(finder: IdFinder): Promise<string>;
  look: ColumnLayout;
  includes: readonly Include[];
}

function locate(what: string, id: string | undefined, options: GetOptions & BulkOptions): Located {
  if (isTarget(what) && id === undefined) {
    const target = parseTarget(what);
    if (target.association === undefined) {
      throw usageError(`${what} is a list, not one record.`, `run: crm list ${what}`);
    }
    if (options.include !== undefined)
      throw usageError(`${what} does not support --include.`, 'remove it, or get the record by its own ID.');
    return { path: (finder) => wholePath(target, finder), look: targetColumns(target), includes: [] };
  }
  const resource = resourceFor(what, 'get');
  const includes = parseIncludes(options.include, resource);
  const given = checkedId(idWithoutFrom(`get ${resource.name}`, id, options));
  const path = async (finder: IdFinder): Promise<string> =>
    resourcePath(resource, await finder.wholeId(resource.name, given));
  return { path, resource, look: resourceColumns(resource), includes };
}

/** What to write: `field=value` pairs, or JSON; or only what would be written. */
export interface WriteOptions {
  data?: string;
  dryRun?: boolean;
}

/** Creates a record and prints it. */
export async function runCreate(
  what: string,
  pairs: string[],
  { data, dryRun: isDryRun = false }: WriteOptions,
  config: Config,
): Promise<void> {
  const resource = resourceFor(what, 'create');
  const body = await requestBody(data, pairs, createFields(resource));
  const client = await connect(config);
  const sent = await sentBody(body, new IdFinder(client));
  const record = recordOf(await client.request('POST', resourcePath(resource), { ...sent, isDryRun }));
  if (record.is_duplicate === true) note('This record already exists. Nothing was written.');
  else if (isDryRun) note(NOTHING_WRITTEN);
  await printWritten(config, record, resource, Object.keys(resource.createdFields));
}

/** Changes the given fields of a record and prints it. */
export async function runUpdate(
  what: string,
  id: string | undefined,
  pairs: string[],
  { data, dryRun: isDryRun = false, ...options }: WriteOptions & BulkOptions,
  config: Config,
): Promise<void> {
  const resource = resourceFor(what, 'update');
  const given = checkedId(idWithoutFrom(`update ${resource.name}`, id, options));
  const body = await requestBody(data, pairs, updateFields(resource));
  const client = await connect(config);
  const finder = new IdFinder(client);
  const path = resourcePath(resource, await finder.wholeId(resource.name, given));
  const pipelineId = async () => String(recordOf(await client.request('GET', path)).pipeline_id);
  const sent = await sentBody(body, finder, pipelineId);
  const record = recordOf(await client.request('PATCH', path, { ...sent, isDryRun }));
  if (isDryRun) note(NOTHING_WRITTEN);
  await printWritten(config, record, resource);
}

async function printWritten(
  config: Config,
  record: Data,
  resource: Resource,
  added: readonly string[] = [],
): Promise<void> {
  const layout = cardLayout(config);
  if (layout !== undefined) return writeOut(cardText({ record, included: {} }, resource, layout));
  const look = resourceColumns(resource);
  await printRecord(config, record, { ...look, allFields: [...look.allFields, ...added] });
}

// Only people on a terminal see cards.
function cardLayout({ output, isColored }: Config): CardLayout | undefined {
  if (output !== 'table' || !stdout.isTTY) return undefined;
  return { columns: terminalWidth(stdout), isColored, nowMs: Date.now() };
}

// The ID and the name of a record, if the key can read it.
async function withName(client: Client, path: string, id: string): Promise<string> {
  const response = await client.request('GET', path, { expectErrors: true });
  const name = response.status === 200 ? nameOf(recordOf(response)) : null;
  return name === null ? id : `${id} (${name})`;
}

/** Deletes a record after a person or --yes confirms it. */
export async function runDelete(
  what: string,
  given: string | undefined,
  { yes = false, dryRun: isDryRun = false, ...options }: { yes?: boolean; dryRun?: boolean } & BulkOptions,
  config: Config,
): Promise<void> {
  const resource = resourceFor(what, 'delete');
  const text = checkedId(idWithoutFrom(`delete ${resource.name}`, given, options));
  const isSure = yes || isDryRun;
  if (!isSure) requireTerminal();
  const client = await connect(config);
  const id = await new IdFinder(client).wholeId(resource.name, text);
  const path = resourcePath(resource, id);
  if (!isSure) await confirmDelete(`${resource.singular} ${await withName(client, path, id)}`);
  const { headers } = await client.request('DELETE', path, { isDryRun });
  if (isDryRun) return note(`Would delete ${resource.singular} ${id}. Nothing was written.`);
  const requestId = headers.get('x-request-id');
  await printSummaryJson(config, { resource: resource.name, id, status: 'deleted', request_id: requestId });
  note(`Deleted ${resource.singular} ${id}.`);
  if (requestId === null) note(`To undo: crm undelete ${resource.name} ${id}`);
  else await noteUndo(client, [requestId]);
}
