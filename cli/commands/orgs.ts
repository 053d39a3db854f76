// `crm orgs`: makes and lists organizations.
import type { Command } from 'commander';
import type { Data } from '../../db/declare/json.ts';
import type { OrganizationRow } from '../../db/schema.ts';
import { checkedName, isoTime, withStore } from '../operator/database.ts';
import { type Config, resolveConfig } from '../settings/config.ts';
import { createPrinter, type Look, printRecord } from '../terminal/output.ts';
import { note } from '../terminal/streams.ts';
import { shellWord } from '../terminal/text.ts';

const FIELDS = ['id', 'name', 'created_at'];
const LOOK: Look = { columns: FIELDS, allFields: FIELDS };

/** Adds `crm orgs create` and `crm orgs list`. */
export function registerOrgsCommand(program: Command): void {
  const orgs = program
    .command('orgs')
    .summary('make and list organizations')
    .description('Organizations: each has its own records, users and keys.');
  orgs
    .command('create')
    .description('Make an organization, with its first pipeline, and print it.')
    .argument('<name>', 'name, unlike that of any other')
    .action((name: string, _options: unknown, command: Command) => runCreate(name, resolveConfig(command)));
  orgs
    .command('list')
    .description('List all organizations.')
    .action((_options: unknown, command: Command) => runList(resolveConfig(command)));
}

async function runCreate(text: string, config: Config): Promise<void> {
  const name = checkedName('The name of an organization', text);
  const { createOrganization } = await import('../../db/tables/accounts.ts');
  const org = await withStore(config.db, (store) =>
    store.write('accounts', (trx) => createOrganization(trx, name, Date.now())),
  );
  await printRecord(config, presented(org), LOOK);
  note(`Next: crm keys issue --org ${shellWord(org.name)} --all-scopes`);
}

async function runList(config: Config): Promise<void> {
  const { listOrganizations } = await import('../../db/tables/accounts.ts');
  const rows = await withStore(config.db, (store) => listOrganizations(store.read));
  const printer = createPrinter(config, LOOK);
  await printer.print(rows.map(presented));
  await printer.end();
}

function presented({ id, name, created_at }: OrganizationRow): Data {
  return { id, name, created_at: isoTime(created_at) };
}
