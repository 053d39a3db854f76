// Prints a key once: bare in a pipe, framed on a terminal, as an object with -o json.

import type { IssuedKey, ListedKey, NewKey } from '../../db/accounts/keys.ts';
import type { ApiKeyRow } from '../../db/engine/schema.ts';
import type { Data } from '../../db/model/json.ts';
import { isoTime } from '../database/database.ts';
import type { Config } from '../settings/config.ts';
import { printRecord, printRecords } from '../terminal/output.ts';
import { withProgramName } from '../terminal/program-name.ts';
import { note, stdout, writeOut } from '../terminal/streams.ts';
import { neutralizeLine } from '../terminal/text.ts';
import { terminalWidth, wrapLines } from '../terminal/wrap.ts';
import { networksIn, usableFrom } from './networks.ts';
import type { KeyPreview } from './preview.ts';
import { requestsText } from './requests.ts';

/**
 * Prints a key that was just issued or rotated; it can never be shown again. Resolves with whether it also printed the
 * next commands: those in `before`, then those that use the key.
 */
export async function printKey(
  config: Config,
  { key, row }: IssuedKey,
  before: readonly string[] = [],
): Promise<boolean> {
  if (config.isOutputGiven && config.output !== 'table') {
    const record: Data = {
      id: row.id,
      key,
      api: row.api,
      scopes: scopesOf(row),
      access: row.access,
      expires_at: isoTime(row.expires_at),
      ...(row.networks !== null && { allow_ip: networksIn(row) }),
      ...(row.requests_per_minute !== null && { requests_per_minute: row.requests_per_minute }),
    };
    await printRecord(config, record, { columns: [], allFields: Object.keys(record) });
    return false;
  }
  // Tables may be the rule in the environment or a profile; $(…) takes the key all the same.
  if (!stdout.isTTY) {
    await writeOut(`${key}\n`);
    return false;
  }
  const columns = terminalWidth(stdout);
  // Everything on stdout: stderr may end up in a log, where no key belongs.
  const next = withProgramName([...before, `export CRM_API_KEY=${key}`, callWith(row)].join('\n      '));
  await writeOut(`${keyNotice(key, row, columns)}Next: ${next}\n`);
  return true;
}

// Framed only if the frame fits without breaking the key.
function keyNotice(key: string, row: ApiKeyRow, columns: number): string {
  const label = row.name === null ? '' : ` "${neutralizeLine(row.name)}"`;
  const lines = [
    `${row.api} key${label}, shown only once. Store it in a safe place.`,
    '',
    key,
    '',
    `id      ${row.id}`,
    `access  ${row.access === 'user' ? `user ${row.user_id}` : row.access}`,
    `expires ${isoTime(row.expires_at) ?? 'never'}`,
    ...(row.networks === null ? [] : [`from    ${usableFrom(networksIn(row))}`]),
    ...(row.requests_per_minute === null ? [] : [`limit   ${requestsText(row.requests_per_minute)}`]),
  ];
  const width = Math.max(...lines.map((line) => Bun.stringWidth(line)));
  if (width + 4 > columns) return `${wrapLines(lines.join('\n'), columns)}\n`;
  const body = lines.map((line) => `│ ${line}${' '.repeat(width - Bun.stringWidth(line))} │\n`).join('');
  const bar = '─'.repeat(width + 2);
  return `╭${bar}╮\n${body}╰${bar}╯\n`;
}

// A first call that the key can make.
function callWith(row: ApiKeyRow): string {
  if (row.api === 'v1') return 'crm list people --api v1';
  const [name = 'contacts'] = scopesOf(row)[0]?.split(':') ?? [];
  return name === 'webhooks' ? 'crm webhooks list' : `crm list ${name}`;
}

function scopesOf(row: ApiKeyRow): string[] {
  return row.scopes === '' ? [] : row.scopes.split(',');
}

const LIST_COLUMNS = [
  'id',
  'name',
  'api',
  'status',
  'access',
  'allow_ip',
  'requests_per_minute',
  'expires_at',
  'scopes',
  'last_used_at',
  'created_at',
];

/** Prints keys without their secrets. */
export async function printKeyList(config: Config, rows: readonly ListedKey[], now: number): Promise<void> {
  // These columns appear only if a key has a value.
  const hasNetworks = rows.some((row) => row.networks !== null);
  const hasLimits = rows.some((row) => row.requests_per_minute !== null);
  const records = rows.map((row) => ({
    ...presented(row, now),
    ...(hasNetworks && { allow_ip: networksIn(row) }),
    ...(hasLimits && { requests_per_minute: row.requests_per_minute }),
  }));
  const allFields = Object.keys(records[0] ?? {});
  const isShown = (name: string) =>
    (hasNetworks || name !== 'allow_ip') && (hasLimits || name !== 'requests_per_minute');
  const columns = LIST_COLUMNS.filter(isShown);
  await printRecords(config, records, { columns, allFields });
}

/** Prints what a key would give access to. */
export async function printKeyPreview(
  config: Config,
  opened: readonly KeyPreview[],
  key: NewKey,
): Promise<void> {
  const fields = ['resource', 'may', 'records'];
  await printRecords(
    config,
    opened.map((one) => ({ ...one })),
    { columns: fields, allFields: fields },
  );
  note('Nothing was issued.');
  if (key.expiresAt !== null) note(`The key would expire on ${isoTime(key.expiresAt)}.`);
  if (key.networks != null) note(`The key could be used from ${usableFrom(key.networks)}.`);
  if (key.requestsPerMinute != null) note(`The key could send ${requestsText(key.requestsPerMinute)}.`);
}

function presented(row: ListedKey, now: number): Data {
  const { id, name, api, prefix, access, user_id, organization_id: org_id } = row;
  return {
    id,
    name,
    api,
    prefix,
    access,
    user_id,
    org_id,
    scopes: scopesOf(row),
    status: keyStatus(row, now),
    created_at: isoTime(row.created_at),
    expires_at: isoTime(row.expires_at),
    revoked_at: isoTime(row.revoked_at),
    last_used_at: isoTime(row.last_used_at),
  };
}

/** Whether the key works at the given time (Unix milliseconds), or why not. */
export function keyStatus(row: ApiKeyRow, now: number): 'active' | 'expired' | 'revoked' {
  if (row.revoked_at !== null) return 'revoked';
  return row.expires_at !== null && row.expires_at <= now ? 'expired' : 'active';
}
