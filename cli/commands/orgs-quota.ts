// `crm orgs quota`: shows what an organization stores, and sets limits.
import { type Command, InvalidArgumentError } from 'commander';
import type { LimitOption } from '../organizations/set-quota.ts';
import { lazyAction } from '../settings/lazy-action.ts';
import { byteCount } from '../settings/options.ts';

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
    .argument('[org]', 'Name or ID of the organization (default: the only one)')
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
    .action(lazyAction(async () => (await import('../organizations/set-quota.ts')).runQuota));
}

function orNone(parse: (text: string) => number): (text: string) => LimitOption {
  return (text) => (text === 'none' ? text : parse(text));
}

function recordCount(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Use a whole number, or none.');
  return Number(text);
}
