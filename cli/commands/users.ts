// `crm users`: creates and lists the users of an organization.
import type { Command } from 'commander';
import type { OrganizationRow, UserRow } from '../../db/engine/schema.ts';
import type { Data } from '../../db/model/json.ts';
import { recordAction } from '../database/audit.ts';
import { checkedEmail, checkedName, organizationNamed, withReader, withStore } from '../database/database.ts';
import { type Config, resolveConfig } from '../settings/config.ts';
import { type ColumnLayout, createPrinter, printRecord } from '../terminal/output.ts';

const FIELDS = ['id', 'email', 'name', 'org_id'];
const LOOK: ColumnLayout = { columns: FIELDS, allFields: FIELDS };

interface Options {
  org: string;
  name?: string;
}

/** Adds `crm users create` and `crm users list`. */
export function registerUsersCommand(program: Command): void {
  const users = program
    .command('users')
    .summary('Create and list users')
    .description(
      'Manage the users of an organization. Users own records, and API keys can be limited to a user.',
    );
  users
    .command('create')
    .description('Create a user, and print it')
    .argument('<email>', 'Email of the user')
    .requiredOption('--org <org>', 'Name or ID of the organization')
    .option('--name <name>', 'Name of the person')
    .action((email: string, options: Options, command: Command) =>
      runCreate(email, options, resolveConfig(command)),
    );
  users
    .command('list')
    .description('List the users of an organization')
    .requiredOption('--org <org>', 'Name or ID of the organization')
    .action((options: Options, command: Command) => runList(options, resolveConfig(command)));
}

async function runCreate(text: string, options: Options, config: Config): Promise<void> {
  const email = await checkedEmail(text);
  const name = options.name === undefined ? null : checkedName('The name of a user', options.name);
  const { createUser } = await import('../../db/tables/accounts.ts');
  const user = await withStore(config.db, async (store) => {
    const org = await organizationNamed(store, options.org);
    const given = { orgNumber: org.number, email, name, now: Date.now() };
    const made = await store.write('accounts', async (trx) => {
      const row = await createUser(trx, given);
      const target = { type: 'users', id: row.id };
      await recordAction(trx, { action: 'user.created', orgNumber: org.number, target });
      return row;
    });
    return presented(made, org);
  });
  await printRecord(config, user, LOOK);
}

async function runList(options: Options, config: Config): Promise<void> {
  const { listUsers } = await import('../../db/tables/accounts.ts');
  const users = await withReader(config.db, async (store) => {
    const org = await organizationNamed(store, options.org);
    return (await listUsers(store.read, org.number)).map((user) => presented(user, org));
  });
  const printer = createPrinter(config, LOOK);
  await printer.print(users);
  await printer.end();
}

function presented({ id, email, name }: UserRow, org: OrganizationRow): Data {
  return { id, email, name, org_id: org.id };
}
