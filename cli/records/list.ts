// Carries out `crm list`: pages through a resource and prints its records.
import type { Data } from '../../db/model/json.ts';
import { connect } from '../api/connect.ts';
import { includedIn } from '../api/envelope.ts';
import type { ListRequest } from '../api/list-request.ts';
import { pagesOf } from '../api/pages.ts';
import { usageError } from '../errors.ts';
import type { Config } from '../settings/config.ts';
import { LIMIT_DEFAULT, limitOf } from '../settings/options.ts';
import { type ColumnLayout, createPrinter, parseFields } from '../terminal/output.ts';
import { pagedOutput } from '../terminal/pager.ts';
import { note, stdout, writeValues } from '../terminal/streams.ts';
import { terminalWidth } from '../terminal/wrap.ts';
import { recordsRequest } from '../where/records-request.ts';
import { checkShowsIncluded, columnsWithNames, INCLUDED_IDS, withNames } from './included.ts';
import { type ListFlags, type PeopleList, peopleList, printPeopleList } from './people-list.ts';
import { watchList, watchSeconds } from './watch-list.ts';

/** Prints records up to the limit, and how to continue. */
export async function runList(resource: string, flags: ListFlags, config: Config): Promise<void> {
  const list = recordsRequest(resource, flags);
  const cursor = flags.cursor ?? null;
  if (flags.envelope) return printEnvelope(list, flags, cursor, config);
  const isTable = config.output === 'table';
  const forPeople = isTable && stdout.isTTY ? peopleList(resource, flags) : undefined;
  if (flags.watch !== undefined) watchSeconds(flags.watch, forPeople);
  if (forPeople !== undefined) return showToPeople(forPeople, config);
  const printer = createPrinter(config, lookOf(list, flags, config));
  const client = await connect(config);
  let nextCursor: string | null = null;
  for await (const page of pagesOf(client, list, { cursor, limit: limitOf(flags) })) {
    const included = includedIn(page.response);
    const named = (record: Data): Data => withNames(record, list.includes, included);
    await printer.print(isTable && list.includes.length > 0 ? page.records.map(named) : page.records);
    nextCursor = page.nextCursor;
  }
  await printer.end();
  noteNext(nextCursor);
}

async function showToPeople(list: PeopleList, config: Config): Promise<void> {
  const client = await connect(config);
  const { watch } = list.flags;
  if (watch !== undefined) return watchList(list, client, config, watchSeconds(watch, list));
  const layout = { isColored: config.isColored, width: terminalWidth(stdout) };
  const { isEmpty, nextCursor } = await printPeopleList(list, client, pagedOutput(config), layout);
  if (isEmpty) note([`No ${list.resource.name}.`, ...firstSteps(list)].join('\n'));
  noteNext(nextCursor);
}

// Where there is nothing at all, how the first records come.
function firstSteps({ what, resource, flags }: PeopleList): string[] {
  const { filter = [], where, cursor } = flags;
  if (what !== resource.name || filter.length > 0 || where !== undefined || cursor !== undefined) return [];
  const { name, verbs } = resource;
  if (!verbs.includes('create')) return [`Next: crm ingest ${name} FILE   (where the database is)`];
  return [`Next: crm import ${name} FILE`, `      crm create ${name} --help`];
}

function noteNext(cursor: string | null): void {
  if (cursor !== null) note(`For the next page, add --cursor ${cursor}`);
}

// A table names what is included; other formats have its IDs.
function lookOf({ look, includes }: ListRequest, flags: ListFlags, { output }: Config): ColumnLayout {
  const known = look.allFields.length > 0 ? look.allFields : undefined;
  const fields = parseFields(flags.fields, known);
  if (includes.length === 0) return { ...look, fields };
  checkShowsIncluded(includes, output);
  if (output !== 'table') return { ...look, fields: fields && [...fields, INCLUDED_IDS] };
  const columns = columnsWithNames(look.columns, includes);
  return { ...look, columns, fields: fields && [...fields, ...includes.map(({ name }) => name)] };
}

async function printEnvelope(
  list: ListRequest,
  flags: ListFlags,
  cursor: string | null,
  config: Config,
): Promise<void> {
  const limit = limitOf(flags, Math.min(LIMIT_DEFAULT, list.pageSizeMax));
  if (flags.fields !== undefined || limit > list.pageSizeMax) {
    throw usageError(
      `--envelope prints one complete page of at most ${list.pageSizeMax} records.`,
      'remove --all and --fields, and pass page_info.end_cursor to --cursor for the next page.',
    );
  }
  const { response } = await list.page(await connect(config), cursor, limit);
  await writeValues(`${response.text}\n`);
}
