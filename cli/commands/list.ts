// `crm list`: pages through a resource and prints its records.
import { type Command, Option } from 'commander';
import { connect } from '../api/connect.ts';
import { type ListRequest, listRequest } from '../api/list-request.ts';
import { pagesOf } from '../api/pages.ts';
import { usageError } from '../errors.ts';
import { type Config, resolveConfig } from '../settings/config.ts';
import { apiOption, collect, count } from '../settings/options.ts';
import { createPrinter, parseFields } from '../terminal/output.ts';
import { note, writeValues } from '../terminal/streams.ts';

interface Options {
  limit?: number;
  all?: boolean;
  envelope?: boolean;
  cursor?: string;
  sortBy?: string;
  sortDirection?: string;
  filter?: string[];
  fields?: string;
  api: 'v1' | 'v2';
}

const LIMIT_DEFAULT = 20;

/** Adds `crm list`. */
export function registerListCommand(program: Command): void {
  program
    .command('list')
    .summary('List records')
    .description('List the records of a resource, or those linked to one, such as deals/ID/contacts')
    .argument('<resource>', 'One of contacts, companies, deals, …, or a sub-resource')
    .addOption(
      new Option('--limit <n>', 'Maximum number of records (default: 20)').argParser(count).conflicts('all'),
    )
    .option('--all', 'List all records')
    .option('--envelope', 'Print one page as the server sent it')
    .option('--cursor <cursor>', 'Continue where an earlier list ended')
    .option('--sort-by <field>', 'Field to sort by: created_at or updated_at')
    .addOption(
      new Option('--sort-direction <direction>', 'Order: desc is newest first').choices(['asc', 'desc']),
    )
    .option('--filter <key=value>', 'Only records that match; repeatable', collect)
    .option('--fields <a,b>', 'Only these fields; custom.key for custom fields')
    .addOption(apiOption())
    .addHelpText(
      'after',
      '\nExamples:\n  crm list companies --limit 50\n  crm list deals --filter status=open --fields id,name,estimated_value -o csv',
    )
    .action((resource: string, options: Options, command: Command) =>
      runList(resource, options, resolveConfig(command)),
    );
}

async function runList(resource: string, options: Options, config: Config): Promise<void> {
  const list = await listRequest(resource, options);
  const limit = options.all ? Number.POSITIVE_INFINITY : (options.limit ?? LIMIT_DEFAULT);
  const cursor = options.cursor ?? null;
  if (options.envelope) return printEnvelope(list, options, cursor, config);
  const known = list.look.allFields.length > 0 ? list.look.allFields : undefined;
  const fields = parseFields(options.fields, known);
  const printer = createPrinter(config, { ...list.look, fields });
  const client = await connect(config);
  let nextCursor: string | null = null;
  for await (const page of pagesOf(client, list, { cursor, limit })) {
    await printer.print(page.records);
    nextCursor = page.nextCursor;
  }
  await printer.end();
  if (nextCursor !== null) note(`For the next page, add --cursor ${nextCursor}`);
}

async function printEnvelope(
  list: ListRequest,
  options: Options,
  cursor: string | null,
  config: Config,
): Promise<void> {
  const limit = options.limit ?? Math.min(LIMIT_DEFAULT, list.pageSizeMax);
  if (options.all || options.fields !== undefined || limit > list.pageSizeMax) {
    throw usageError(
      `--envelope prints one complete page of at most ${list.pageSizeMax} records.`,
      'remove --all and --fields, and pass page_info.end_cursor to --cursor for the next page.',
    );
  }
  const { response } = await list.page(await connect(config), cursor, limit);
  await writeValues(`${response.text}\n`);
}
