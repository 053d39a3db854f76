// `crm delete`: deletes one record, for good, once a person or --yes has said so.
import type { Command } from 'commander';
import { connect } from '../api/connect.ts';
import { resourceFor, resourcePath } from '../api/target.ts';
import { CliError, usageError } from '../errors.ts';
import { type Config, resolveConfig } from '../settings/config.ts';
import { canAsk, confirm, note } from '../terminal/streams.ts';

interface Options {
  yes?: boolean;
}

/** Adds `crm delete`. */
export function registerDeleteCommand(program: Command): void {
  program
    .command('delete')
    .summary('delete one record')
    .description('Delete one record for good. Links to it go with it, references to it become empty.')
    .argument('<resource>', 'contacts, companies, deals, …')
    .argument('<id>', 'id of the record')
    .option('--yes', 'do not ask; needed where nobody can answer')
    .action((resource: string, id: string, options: Options, command: Command) =>
      runDelete(resource, id, options, resolveConfig(command)),
    );
}

async function runDelete(what: string, id: string, options: Options, config: Config): Promise<void> {
  const resource = await resourceFor(what, 'delete');
  const path = resourcePath(resource, id);
  if (!options.yes && !canAsk()) {
    throw usageError('Nobody can be asked whether to delete.', 'add --yes to delete without asking.');
  }
  const client = await connect(config);
  if (!options.yes && !(await confirm(`Delete ${resource.singular} ${id} for good?`))) {
    throw new CliError('Nothing is deleted.', { nextSteps: ['answer y, or add --yes.'] });
  }
  await client.request('DELETE', path);
  note(`Deleted ${resource.singular} ${id}.`);
}
