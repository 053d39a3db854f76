// `crm orgs quota`: shows what an organization stores, and sets limits.
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
Records are counted across all resources, pipelines included. Bytes are the text in records and transcripts, in UTF-8:
names, emails, texts and JSON, but not IDs, enum values, numbers, times, links or indexes. A request that would exceed
either limit gets 403 OPERATION_FORBIDDEN. Deleting always works and frees quota at once. Bytes in flight are the
request bodies being received, and responses being sent, in each server process; what does not fit waits, then gets
429. Replay bytes are the responses kept for 24 h so that a request can be repeated with its Idempotency-Key,
compressed; the default is 1 GiB. Once they are used up, requests with a new Idempotency-Key get 429.

Setting a limit counts everything that the organization stores. Running servers enforce the new limit at once.

Examples:
  crm orgs quota Example
  crm orgs quota Example --records 100000 --bytes 5GB
  crm orgs quota Example --bytes none --bytes-in-flight 16MB
  crm orgs quota Example --replay-bytes 4GiB`;

/** Adds `crm orgs quota`. */
export function registerOrgsQuotaCommand(orgs: Command): void {
  orgs
    .command('quota')
    .description('Show or set the quotas of an organization')
    .argument('<org>', 'Name or ID of the organization')
    .option('--records <n>', 'Maximum number of records, or none for no limit', orNone(recordCount))
    .option('--bytes <size>', 'Maximum size of the text in records, such as 5GB, or none', orNone(byteCount))
    .option(
      '--bytes-in-flight <size>',
      'Maximum size of request bodies in flight, and of responses, such as 64MB, or none',
      orNone(byteCount),
    )
    .option(
      '--replay-bytes <size>',
      'Maximum size of stored responses, such as 4GiB, or none for the default of 1 GiB',
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
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Use a whole number, or none.');
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
    note('The organization already exceeds this limit. Nothing can be added until something is deleted.');
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
