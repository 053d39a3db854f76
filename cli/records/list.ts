// Carries out `crm list`: pages through a resource and prints its records.
import { connect } from '../api/connect.ts';
import { type ListOptions, type ListRequest, listRequest } from '../api/list-request.ts';
import { pagesOf } from '../api/pages.ts';
import { usageError } from '../errors.ts';
import type { Config } from '../settings/config.ts';
import { LIMIT_DEFAULT, limitOf } from '../settings/options.ts';
import { createPrinter, parseFields } from '../terminal/output.ts';
import { note, writeValues } from '../terminal/streams.ts';

export interface ListFlags extends ListOptions {
  limit?: number;
  all?: boolean;
  envelope?: boolean;
  cursor?: string;
  fields?: string;
}

/** Prints records up to the limit, and how to continue. */
export async function runList(resource: string, flags: ListFlags, config: Config): Promise<void> {
  const list = listRequest(resource, flags);
  const cursor = flags.cursor ?? null;
  if (flags.envelope) return printEnvelope(list, flags, cursor, config);
  const known = list.look.allFields.length > 0 ? list.look.allFields : undefined;
  const fields = parseFields(flags.fields, known);
  const printer = createPrinter(config, { ...list.look, fields });
  const client = await connect(config);
  let nextCursor: string | null = null;
  for await (const page of pagesOf(client, list, { cursor, limit: limitOf(flags) })) {
    await printer.print(page.records);
    nextCursor = page.nextCursor;
  }
  await printer.end();
  if (nextCursor !== null) note(`For the next page, add --cursor ${nextCursor}`);
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
