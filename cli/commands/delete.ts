// `crm delete`: permanently deletes a record, after a person or --yes confirms it.
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
    .summary('Delete a record')
    .description(
      'Delete a record permanently. Links to it are removed, and fields that refer to it are cleared.',
    )
    .argument('<resource>', 'One of contacts, companies, deals, …')
    .argument('<id>', 'ID of the record')
    .option('--yes', 'Skip the confirmation prompt; required when there is no terminal')
    .action((resource: string, id: string, options: Options, command: Command) =>
      runDelete(resource, id, options, resolveConfig(command)),
    );
}

async function runDelete(what: string, id: string, options: Options, config: Config): Promise<void> {
  const resource = await resourceFor(what, 'delete');
  const path = resourcePath(resource, id);
  if (!options.yes && !canAsk()) {
    throw usageError(
      'Cannot ask for confirmation without a terminal.',
      'add --yes to delete without a prompt.',
    );
  }
  const client = await connect(config);
  if (!options.yes && !(await confirm(`Permanently delete ${resource.singular} ${id}?`))) {
    throw new CliError('Nothing was deleted.', { nextSteps: ['answer y, or add --yes.'] });
  }
  await client.request('DELETE', path);
  note(`Deleted ${resource.singular} ${id}.`);
}
