// `crm update`: changes the given fields of one record and prints it.
import type { Command } from 'commander';
import { requestBody } from '../api/body.ts';
import { resourceColumns } from '../api/column-layout.ts';
import { connect } from '../api/connect.ts';
import { recordOf } from '../api/envelope.ts';
import { resourceFor, resourcePath } from '../api/target.ts';
import { type Config, resolveConfig } from '../settings/config.ts';
import { printRecord } from '../terminal/output.ts';

interface Options {
  data?: string;
}

/** Adds `crm update`. */
export function registerUpdateCommand(program: Command): void {
  program
    .command('update')
    .summary('Update fields of a record')
    .description('Update the given fields of a record, and print it')
    .argument('<resource>', 'One of contacts, companies, deals, …')
    .argument('<id>', 'ID of the record')
    .argument('[field=value...]', 'New values; "field=" clears a field')
    .option('-d, --data <json|@file|->', 'The changes as JSON: text, @file, or - for standard input')
    .addHelpText('after', '\nExample:\n  crm update deals ID estimated_value=52000 custom.region=north')
    .action((resource: string, id: string, pairs: string[], options: Options, command: Command) =>
      runUpdate({ resource, id, pairs }, options, resolveConfig(command)),
    );
}

async function runUpdate(
  what: { resource: string; id: string; pairs: string[] },
  options: Options,
  config: Config,
): Promise<void> {
  const resource = await resourceFor(what.resource, 'update');
  const settable = Object.fromEntries(
    Object.entries(resource.fields).filter(([, { access }]) => access === 'write'),
  );
  const body = await requestBody(options.data, what.pairs, settable);
  const path = resourcePath(resource, what.id);
  const record = recordOf(await (await connect(config)).request('PATCH', path, body));
  await printRecord(config, record, resourceColumns(resource));
}
