// Carries out `crm secrets rotate`.
import {
  announceSigningSecret,
  makeSigningSecret,
  NotAnnouncedError,
  rotateSigningSecret,
} from '../../db/tables/settings.ts';
import { recordAction } from '../database/audit.ts';
import { isoTime, withStore } from '../database/database.ts';
import { CliError } from '../errors.ts';
import type { Config } from '../settings/config.ts';
import { printSummaryJson } from '../terminal/output.ts';
import { note } from '../terminal/streams.ts';
import { parseGrace } from './expiry.ts';

const GRACE_DAYS_MAX = 30;
/** Twice as long as a server may take to notice a new secret. */
const ANNOUNCED_MS = 2_000;

/** Rotates the secret, and prints until when the former one works. */
export async function runSecretsRotate({ grace }: { grace: string }, config: Config): Promise<void> {
  const graceMs = parseGrace(grace, GRACE_DAYS_MAX);
  const rotatedAt = await withStore(config.db, async (store) => {
    await store.write('accounts', async (trx) => {
      await makeSigningSecret(trx);
      await announceSigningSecret(trx);
    });
    // By the time any server signs with it, all others know it.
    await Bun.sleep(ANNOUNCED_MS);
    const now = Date.now();
    await store.write('accounts', async (trx) => {
      await rotateSigningSecret(trx, graceMs, now);
      const details = { grace_seconds: graceMs / 1_000 };
      await recordAction(trx, { orgNumber: null, action: 'secrets.rotated', target: null, details });
    });
    return now;
  }).catch((error) => {
    throw error instanceof NotAnnouncedError ? rotatedMeanwhile(error) : error;
  });
  const formerUntil = graceMs === 0 ? null : isoTime(rotatedAt + graceMs);
  await printSummaryJson(config, { rotated_at: isoTime(rotatedAt), former_until: formerUntil });
  note('Rotated the secret that signs cursors and links.');
  note(
    formerUntil === null
      ? 'Existing cursors and links stop working within a second: clients that page through a list must start over.'
      : `Existing cursors and links work until ${formerUntil}.`,
  );
}

function rotatedMeanwhile(cause: unknown): CliError {
  const nextSteps = ['run the same command again only if you want another rotation.'];
  return new CliError('Another command rotated the secret at the same time.', { nextSteps, cause });
}
