// `crm get`: prints one record.
import type { Command } from 'commander';
import { resourceColumns, targetColumns } from '../api/column-layout.ts';
import { connect } from '../api/connect.ts';
import { recordOf } from '../api/envelope.ts';
import { isTarget, parseTarget, resourceFor, resourcePath } from '../api/target.ts';
import { usageError } from '../errors.ts';
import { type Config, resolveConfig } from '../settings/config.ts';
import { type ColumnLayout, parseFields, printRecord } from '../terminal/output.ts';
import { note, writeOut } from '../terminal/streams.ts';

interface Options {
  fields?: string;
}

/** Adds `crm get`. */
export function registerGetCommand(program: Command): void {
  program
    .command('get')
    .summary('Show a record')
    .description('Show a record, or the one associated with it, such as meetings/ID/deal')
    .argument('<resource>', 'One of contacts, companies, deals, …, or meetings/ID/deal')
    .argument('[id]', 'ID of the record')
    .option('--fields <a,b>', 'Only these fields; custom.key for custom fields')
    .action((resource: string, id: string | undefined, options: Options, command: Command) =>
      runGet(resource, id, options, resolveConfig(command)),
    );
}

async function runGet(what: string, id: string | undefined, options: Options, config: Config): Promise<void> {
  const { path, look } = await locate(what, id);
  const fields = parseFields(options.fields, look.allFields);
  const response = await (await connect(config)).request('GET', path);
  if (response.body.object === 'success' && response.body.data === null) {
    if (config.output === 'json') await writeOut('null\n');
    return note(`${what} is not set.`);
  }
  await printRecord(config, recordOf(response), { ...look, fields });
}

async function locate(what: string, id: string | undefined): Promise<{ path: string; look: ColumnLayout }> {
  if (isTarget(what) && id === undefined) {
    const target = await parseTarget(what);
    if (target.link !== undefined) {
      throw usageError(`${what} is a list, not one record.`, `run: crm list ${what}`);
    }
    return { path: target.path, look: await targetColumns(target) };
  }
  const resource = await resourceFor(what, 'get');
  if (id === undefined) throw usageError('The ID is missing.', `run: crm get ${resource.name} ID`);
  return { path: resourcePath(resource, id), look: resourceColumns(resource) };
}
