// Settings of the whole database: what signs cursors and transcript links, encrypts secrets of webhooks, and so on.
import { memoize } from '../cache.ts';
import { CHANGES_DAYS } from '../engine/changes-kept.ts';
import { andThen, type Engine, type Eventually } from '../engine/engine.ts';
import type { Db, Trx } from '../engine/schema.ts';
import { findSetting, initializeSetting, setSetting } from '../engine/setting.ts';
import { statement } from '../engine/statement.ts';

const CURRENT = 'signing_secret';
const OTHERS = 'other_signing_secrets';
const PACKED_FROM = 'answers_packed_from';

/** The setting that tells the log of changes before a restored backup from the one after it. */
export const CHANGES_EPOCH = 'changes_epoch';

const SIGNING_SETTINGS: readonly string[] = [CURRENT, OTHERS];

// Its secrets must stay readable however often the signing secret is rotated.
const WEBHOOK_KEY = 'webhook_secrets_key';

/** The settings that belong to the content of a database. */
export const CONTENT_SETTINGS: readonly string[] = [
  ...SIGNING_SETTINGS,
  CHANGES_DAYS,
  CHANGES_EPOCH,
  WEBHOOK_KEY,
];

/** A secret that signs, or whose signatures are accepted; 32 bytes, hex. */
export interface SigningSecret {
  secret: string;
  /** Until when its signatures are accepted, in Unix milliseconds; null as long as it exists. */
  until: number | null;
}

/** Another process has already done this rotation. */
export class NotAnnouncedError extends Error {}

/** Creates the secret that signs, if there is none. */
export function makeSigningSecret(trx: Trx): Promise<void> {
  return initializeSetting(trx, CURRENT, newSecret());
}

const settings = statement<{ name: string; value: string }>((db) =>
  db.selectFrom('settings').select(['name', 'value']).where('name', 'in', SIGNING_SETTINGS),
);

/** The secret that signs, followed by all others that are accepted. */
export function findSigningSecrets(db: Db): Eventually<SigningSecret[]> {
  return andThen(settings(db, {}), (rows) => {
    const settingOf = (wanted: string) => rows.find(({ name }) => name === wanted)?.value;
    const current = settingOf(CURRENT);
    if (current === undefined) throw new Error('there is no signing secret');
    const others = JSON.parse(settingOf(OTHERS) ?? '[]') as SigningSecret[];
    return [{ secret: current, until: null }, ...others];
  });
}

/** Creates the key that the secrets of webhooks are encrypted with, if there is none. */
export function makeWebhookKey(trx: Trx): Promise<void> {
  return initializeSetting(trx, WEBHOOK_KEY, newSecret());
}

/** The key that the secrets of webhooks are encrypted with; 32 bytes, hex. */
export async function getWebhookKey(db: Db): Promise<string> {
  const key = await findSetting(db, WEBHOOK_KEY);
  if (key === undefined) throw new Error('there is no key for the secrets of webhooks');
  return key;
}

/** Makes the positions that clients have in the log of changes invalid, because a backup was restored. */
export function beginChangesEpoch(trx: Trx): Promise<void> {
  return setSetting(trx, CHANGES_EPOCH, crypto.randomUUID());
}

/** Lets all servers of the database accept a new secret, before anything is signed with it. */
export async function announceSigningSecret(trx: Trx): Promise<void> {
  const [, ...others] = await findSigningSecrets(trx);
  // An interrupted rotation has already announced one.
  if (others.some(isAnnounced)) return;
  await setSetting(trx, OTHERS, JSON.stringify([...others, { secret: newSecret(), until: null }]));
}

/**
 * Makes the announced secret sign; signatures of earlier ones are accepted for at most `graceMs` more.
 * @param now Unix milliseconds
 * @throws NotAnnouncedError if there is none
 */
export async function rotateSigningSecret(trx: Trx, graceMs: number, now: number): Promise<void> {
  const [current, ...others] = await findSigningSecrets(trx);
  const announced = others.find(isAnnounced);
  if (current === undefined || announced === undefined) throw new NotAnnouncedError();
  const graceEnds = now + graceMs;
  const former = [current, ...others.filter((one) => one !== announced)]
    .map(({ secret, until }) => ({ secret, until: Math.min(until ?? graceEnds, graceEnds) }))
    .filter(({ until }) => until > now);
  await setSetting(trx, CURRENT, announced.secret);
  await setSetting(trx, OTHERS, JSON.stringify(former));
}

function isAnnounced({ until }: SigningSecret): boolean {
  return until === null;
}

function newSecret(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex');
}

// Read once per connection: only a migration sets it.
const packing = memoize((_: Engine): { from: number | null } => ({ from: null }));

/**
 * When compressing stored responses can start, in Unix milliseconds: for a day after an upgrade, servers of the previous
 * release, which cannot read compressed ones, can run alongside this one.
 */
export async function compressedSince(db: Db): Promise<number> {
  const known = packing(db.engine);
  known.from ??= Number((await findSetting(db, PACKED_FROM)) ?? 0);
  return known.from;
}
