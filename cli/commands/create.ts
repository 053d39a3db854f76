// `crm create`: creates a record and prints it.
import type { Command } from 'commander';
import { requestBody } from '../api/body.ts';
import { resourceColumns } from '../api/column-layout.ts';
import { connect } from '../api/connect.ts';
import { recordOf } from '../api/envelope.ts';
import { resourceFor, resourcePath } from '../api/target.ts';
import { type Config, resolveConfig } from '../settings/config.ts';
import { printRecord } from '../terminal/output.ts';
import { note } from '../terminal/streams.ts';

interface Options {
  data?: string;
}

/** Adds `crm create`. */
export function registerCreateCommand(program: Command): void {
  program
    .command('create')
    .summary('Create a record')
    .description('Create a record from field=value pairs or JSON, and print it')
    .argument('<resource>', 'One of contacts, companies, deals, …')
    .argument('[field=value...]', 'Values of fields; custom.key=value for custom fields')
    .option('-d, --data <json|@file|->', 'The record as JSON: text, @file, or - for standard input')
    .addHelpText(
      'after',
      '\nExamples:\n  crm create companies domain=example.com name="Example Ltd" employee_count=250\n  crm create contacts -d @contact.json',
    )
    .action((resource: string, pairs: string[], options: Options, command: Command) =>
      runCreate(resource, pairs, options, resolveConfig(command)),
    );
}

async function runCreate(what: string, pairs: string[], options: Options, config: Config): Promise<void> {
  const resource = await resourceFor(what, 'create');
  const settable = Object.fromEntries(
    Object.entries(resource.fields).filter(([, { access }]) => access !== 'read' && access !== 'internal'),
  );
  const body = await requestBody(options.data, pairs, settable);
  const record = recordOf(await (await connect(config)).request('POST', resourcePath(resource), body));
  if (record.is_duplicate === true) note('This record already exists. Nothing was written.');
  const look = resourceColumns(resource);
  const allFields = [...look.allFields, ...Object.keys(resource.createdFields)];
  await printRecord(config, record, { ...look, allFields });
}
