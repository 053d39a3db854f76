// Settings of the database as a whole: the secrets that sign cursors and transcript links, and what an upgrade waits for.
import { memoize } from '../cache.ts';
import { andThen, type Engine, type Eventually } from '../engine/engine.ts';
import type { Db } from '../engine/schema.ts';
import { statement } from '../engine/statement.ts';

const CURRENT = 'signing_secret';
const OTHERS = 'other_signing_secrets';
const PACKED_FROM = 'answers_packed_from';

/** The settings that go with what a database holds. */
export const SIGNING_SETTINGS: readonly string[] = [CURRENT, OTHERS];

/** What signs, or is accepted beside it; 32 bytes, hex. */
export interface SigningSecret {
  secret: string;
  /** Until when what it signed is accepted, Unix milliseconds; null for as long as it is here. */
  until: number | null;
}

/** A rotation that another one has done meanwhile. */
export class NotAnnouncedError extends Error {}

/** Makes the secret that signs, if there is none. */
export async function makeSigningSecret(trx: Db): Promise<void> {
  await trx
    .insertInto('settings')
    .values({ name: CURRENT, value: newSecret() })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
}

const settings = statement<{ name: string; value: string }>((db) =>
  db.selectFrom('settings').select(['name', 'value']).where('name', 'in', SIGNING_SETTINGS),
);

/** The secret that signs, and after it all others that are accepted. */
export function findSigningSecrets(db: Db): Eventually<SigningSecret[]> {
  return andThen(settings(db, {}), (rows) => {
    const settingOf = (wanted: string) => rows.find(({ name }) => name === wanted)?.value;
    const current = settingOf(CURRENT);
    if (current === undefined) throw new Error('there is no signing secret');
    const others = JSON.parse(settingOf(OTHERS) ?? '[]') as SigningSecret[];
    return [{ secret: current, until: null }, ...others];
  });
}

/** Has a secret accepted by all that serve the database, before anything is signed with it. */
export async function announceSigningSecret(trx: Db): Promise<void> {
  const [, ...others] = await findSigningSecrets(trx);
  // One is there already where a rotation was broken off.
  if (others.some(isAnnounced)) return;
  await store(trx, OTHERS, JSON.stringify([...others, { secret: newSecret(), until: null }]));
}

/**
 * Has the announced secret sign; what earlier ones have signed is accepted for `graceMs` more, at most.
 * @param now Unix milliseconds
 * @throws NotAnnouncedError if there is none
 */
export async function rotateSigningSecret(trx: Db, graceMs: number, now: number): Promise<void> {
  const [current, ...others] = await findSigningSecrets(trx);
  const announced = others.find(isAnnounced);
  if (current === undefined || announced === undefined) throw new NotAnnouncedError();
  const graceEnds = now + graceMs;
  const former = [current, ...others.filter((one) => one !== announced)]
    .map(({ secret, until }) => ({ secret, until: Math.min(until ?? graceEnds, graceEnds) }))
    .filter(({ until }) => until > now);
  await store(trx, CURRENT, announced.secret);
  await store(trx, OTHERS, JSON.stringify(former));
}

function isAnnounced({ until }: SigningSecret): boolean {
  return until === null;
}

function newSecret(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex');
}

async function store(trx: Db, name: string, value: string): Promise<void> {
  await trx
    .insertInto('settings')
    .values({ name, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();
}

// Asked for once with each connection: it is set by a migration alone.
const packing = memoize((_: Engine): { from: number | null } => ({ from: null }));

/**
 * From when on stored answers may be packed, Unix milliseconds: for a day after an upgrade servers of the release before,
 * which cannot read them so, may answer beside this one.
 */
export async function packedFrom(db: Db): Promise<number> {
  const known = packing(db.engine);
  if (known.from === null) {
    const row = db.selectFrom('settings').select('value').where('name', '=', PACKED_FROM);
    known.from = Number((await row.executeTakeFirst())?.value ?? 0);
  }
  return known.from;
}
