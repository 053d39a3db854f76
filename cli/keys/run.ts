// Carries out `crm keys`.

import { issueKey, listKeys, rotateKey } from '../../db/accounts/keys.ts';
import type { ApiKeyRow } from '../../db/engine/schema.ts';
import { issuedEntry, recordAction } from '../database/audit.ts';
import { organizationNamed, withReader, withStore } from '../database/database.ts';
import { usageError } from '../errors.ts';
import type { Config } from '../settings/config.ts';
import { durationMs } from '../settings/options.ts';
import { counted } from '../terminal/format.ts';
import { note } from '../terminal/streams.ts';
import { endKey } from './end.ts';
import { parseGrace } from './expiry.ts';
import { aboutKey, activeKey, keyOfId } from './keys.ts';
import { checkOptions, type IssueOptions, newKey } from './options.ts';
import { keyStatus, printKey, printKeyList, printKeyPreview } from './output.ts';
import { previewKey } from './preview.ts';

const GRACE_DAYS_MAX = 7;

export interface IssueFlags extends IssueOptions {
  dryRun?: boolean;
}

export interface KeyListFlags {
  org?: string;
  idle?: string;
}

/** Issues a key and prints it once, or only shows what it would give access to. */
export async function runKeysIssue(options: IssueFlags, config: Config): Promise<void> {
  const now = Date.now();
  checkOptions(options, now);
  if (options.dryRun) {
    const { opens, key } = await withStore(config.db, async (store) => {
      const planned = await newKey(store, options, now);
      return { opens: await previewKey(store, planned.key), key: planned.key };
    });
    return printKeyPreview(config, opens, key);
  }
  const { issued, told } = await withStore(config.db, async (store) => {
    const { key, told } = await newKey(store, options, now);
    const issued = await store.write('accounts', async (trx) => {
      const made = await issueKey(trx, key);
      await recordAction(trx, { ...issuedEntry(made.row), now });
      return made;
    });
    return { issued, told };
  });
  await printKey(config, issued);
  for (const text of told) note(text);
}

/** Prints keys without their secrets. */
export async function runKeysList({ org, idle }: KeyListFlags, config: Config): Promise<void> {
  const idleMs = idle === undefined ? undefined : durationMs(idle);
  if (idle !== undefined && idleMs === undefined) {
    throw usageError(`"${idle}" is not a valid duration.`, 'use a format like 12h, 90d or 26w.');
  }
  const now = Date.now();
  const rows = await withReader(config.db, async (store) => {
    const orgNumber = org === undefined ? undefined : (await organizationNamed(store, org)).number;
    return listKeys(store.read, orgNumber);
  });
  const shown = rows.filter((row) => idleMs === undefined || isIdle(row, now - idleMs, now));
  await printKeyList(config, shown, now);
}

// A key that was never used is idle since it was issued.
function isIdle(row: ApiKeyRow, since: number, now: number): boolean {
  return keyStatus(row, now) === 'active' && (row.last_used_at ?? row.created_at) <= since;
}

/** Gives a key a new secret and prints it once. */
export async function runKeysRotate(id: string, { grace }: { grace: string }, config: Config): Promise<void> {
  const graceMs = parseGrace(grace, GRACE_DAYS_MAX);
  const now = Date.now();
  const issued = await withStore(config.db, async (store) => {
    const row = await activeKey(store, id, now);
    return store.write('accounts', async (trx) => {
      const rotated = await rotateKey(trx, row, graceMs, now);
      const details = { grace_seconds: graceMs / 1_000 };
      await recordAction(trx, { action: 'key.rotated', ...aboutKey(row), details, now });
      return rotated;
    });
  });
  await printKey(config, issued);
  const ends = new Date(now + graceMs).toISOString();
  note(graceMs === 0 ? 'The old secret no longer works.' : `The old secret works until ${ends}.`);
}

/** Revokes a key. */
export async function runKeysRevoke(id: string, _flags: unknown, config: Config): Promise<void> {
  const { isRevoked, disabled } = await withStore(config.db, async (store) =>
    endKey(store, await keyOfId(store, id)),
  );
  note(isRevoked ? `Revoked key ${id}.` : `Key ${id} was already revoked.`);
  if (disabled.length === 0) return;
  note(`Disabled ${counted(disabled.length, 'webhook')} that this key made.`);
  note('Next: To enable one again with another key: crm webhooks update ID is_enabled=true');
}
