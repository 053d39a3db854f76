// `crm orgs quota`: shows what an organization holds, and sets what it may hold at most.
import { type Command, InvalidArgumentError } from 'commander';
import type { OrganizationRow } from '../../db/engine/schema.ts';
import type { Store } from '../../db/store.ts';
import type { Quota, QuotaUse } from '../../db/tables/quotas.ts';
import { organizationNamed, withStore } from '../database/database.ts';
import { changeQuota, countNow, QUOTA_FIELDS, QUOTA_SIZES, quotaData } from '../organizations/quota.ts';
import { type Config, resolveConfig } from '../settings/config.ts';
import { byteCount } from '../settings/options.ts';
import { printRecord } from '../terminal/output.ts';
import { note } from '../terminal/streams.ts';

// An option's value cannot be null.
type Limit = number | typeof NONE;
const NONE = 'none';

type Options = Partial<Record<keyof Quota, Limit>>;

const HELP = `
Records are those of all lists, pipelines included. Bytes are what the fields of records and transcripts say in words, in
UTF-8: names, addresses, texts and JSON, and not ids, named values, numbers, instants, links and indexes. What would go
beyond either is refused with 403 OPERATION_FORBIDDEN; deleting always works, and gives room at once. Bytes in flight are
those of request bodies, in each process that serves: what does not fit waits, then 429. Replay bytes are those of answers
kept for 24 h so that a request can be repeated with its Idempotency-Key, compressed; 1 GiB unless set. Once they are used
up, requests with a new key are refused with 429.

A limit that is set has all of the organization counted, beside a running server, which holds to it from then on.

Examples:
  crm orgs quota Example
  crm orgs quota Example --records 100000 --bytes 5GB
  crm orgs quota Example --bytes none --bytes-in-flight 16MB
  crm orgs quota Example --replay-bytes 4GiB`;

/** Adds `crm orgs quota`. */
export function registerOrgsQuotaCommand(orgs: Command): void {
  orgs
    .command('quota')
    .description('Show what an organization holds, or set what it may hold at most.')
    .argument('<org>', 'name or id')
    .option('--records <n>', 'how many records, or none for as many as there are', orNone(recordCount))
    .option('--bytes <size>', 'how many bytes in them, such as 5GB, or none', orNone(byteCount))
    .option(
      '--bytes-in-flight <size>',
      'how many of bodies under way, and of answers, such as 64MB, or none',
      orNone(byteCount),
    )
    .option(
      '--replay-bytes <size>',
      'how many of stored answers, such as 4GiB, or none for 1 GiB',
      orNone(byteCount),
    )
    .addHelpText('after', HELP)
    .action((org: string, options: Options, command: Command) =>
      runQuota(org, options, resolveConfig(command)),
    );
}

function orNone(parse: (text: string) => number): (text: string) => Limit {
  return (text) => (text === NONE ? NONE : parse(text));
}

function recordCount(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Give a whole number, or none.');
  return Number(text);
}

async function runQuota(nameOrId: string, options: Options, config: Config): Promise<void> {
  const { org, use } = await withStore(config.db, async (store) => {
    const found = await organizationNamed(store, nameOrId);
    const { quota } = await quotaOf(store, found);
    if (Object.keys(options).length > 0)
      await changeQuota(store, config.db, found, {
        records: limitOf(options.records, quota.records),
        bytes: limitOf(options.bytes, quota.bytes),
        bytesInFlight: limitOf(options.bytesInFlight, quota.bytesInFlight),
        replayBytes: limitOf(options.replayBytes, quota.replayBytes),
      });
    return { org: found, use: await quotaOf(store, found) };
  });
  const held = use.held ?? (await countNow(config.db, org.number));
  const fields = ['id', 'name', ...QUOTA_FIELDS];
  const record = { id: org.id, name: org.name, ...quotaData({ ...use, held }) };
  await printRecord(config, record, { columns: fields, allFields: fields, sizes: QUOTA_SIZES });
  const { records, bytes } = use.quota;
  const isOver = (limit: number | null, used: number) => limit !== null && used > limit;
  if (isOver(records, held.records) || isOver(bytes, held.bytes))
    note('It holds more than that already: until some is deleted, nothing can be added.');
}

function limitOf(given: Limit | undefined, before: number | null): number | null {
  if (given === undefined) return before;
  return given === NONE ? null : given;
}

async function quotaOf(store: Store, { number: orgNumber }: OrganizationRow): Promise<QuotaUse> {
  const { listQuotas } = await import('../../db/tables/quotas.ts');
  const use = (await listQuotas(store.read, orgNumber)).get(orgNumber);
  if (use === undefined) throw new Error('the organization is gone');
  return use;
}
