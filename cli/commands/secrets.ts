// `crm secrets rotate`: has a new secret sign cursors and transcript links, without a word to any server.
import type { Command } from 'commander';
import { recordAction } from '../database/audit.ts';
import { isoTime, withStore } from '../database/database.ts';
import { CliError, usageError } from '../errors.ts';
import { DAY_MS } from '../input/instant.ts';
import { type Config, resolveConfig } from '../settings/config.ts';
import { durationMs } from '../settings/options.ts';
import { printSummaryJson } from '../terminal/output.ts';
import { note } from '../terminal/streams.ts';

const GRACE_DAYS_MAX = 30;
/** Twice as long as a server may go without looking which secrets there are. */
const ANNOUNCED_MS = 2_000;

/** Adds `crm secrets rotate`. */
export function registerSecretsCommand(program: Command): void {
  const secrets = program
    .command('secrets')
    .summary('rotate what signs cursors and links')
    .description(
      'What the servers of a database sign with. (The secrets of API keys are "crm keys rotate".)',
    );
  secrets
    .command('rotate')
    .description(
      'Have a new secret sign the cursors of lists and the links to transcripts; what was signed before is accepted for a while. Every server knows it within a second, none needs to be told. Keys stay as they are.',
    )
    .option('--grace <duration>', 'for how long what was signed before is accepted: 0 to 30d', '24h')
    .action(({ grace }: { grace: string }, command: Command) => runRotate(grace, resolveConfig(command)));
}

async function runRotate(graceText: string, config: Config): Promise<void> {
  const graceMs = durationMs(graceText);
  if (graceMs === undefined || graceMs > GRACE_DAYS_MAX * DAY_MS) {
    throw usageError(
      `"${graceText}" is no grace period.`,
      `give 0, or up to ${GRACE_DAYS_MAX} days, like 30m, 24h or 7d.`,
    );
  }
  const { announceSigningSecret, makeSigningSecret, NotAnnouncedError, rotateSigningSecret } = await import(
    '../../db/tables/settings.ts'
  );
  const rotatedAt = await withStore(config.db, async (store) => {
    await store.write('accounts', async (trx) => {
      await makeSigningSecret(trx);
      await announceSigningSecret(trx);
    });
    // Whoever signs with it first, all others know it by then.
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
  note('A new secret signs cursors and links.');
  note(
    formerUntil === null
      ? 'What was signed before is refused, within a second: lists that are being walked begin anew.'
      : `What was signed before is accepted until ${formerUntil}.`,
  );
}

function rotatedMeanwhile(cause: unknown): CliError {
  const nextSteps = ['nothing, unless you want another: then run it again.'];
  return new CliError('Another run has rotated the secret meanwhile.', { nextSteps, cause });
}
