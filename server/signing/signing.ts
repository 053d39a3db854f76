// What signs cursors and transcript links, and whose signatures are accepted: never older than it may be known.
import { timingSafeEqual } from 'node:crypto';
import { andThen, type Eventually } from '../../db/engine/engine.ts';
import type { ReadStore } from '../../db/store.ts';
import { findSigningSecrets, type SigningSecret } from '../../db/tables/settings.ts';

/** How old what is known of the secrets may be, in milliseconds; a new one is announced for longer before it signs. */
export const SECRETS_AGE_MS_MAX = 1_000;

/** The secrets as they are in the database. */
export class Signing {
  readonly #read: () => Eventually<SigningSecret[]>;
  #secrets: readonly SigningSecret[] = [];
  #freshUntil = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | null = null;

  /** @param read the secret that signs, and after it all others that are accepted */
  constructor(read: () => Eventually<SigningSecret[]>) {
    this.#read = read;
  }

  get secrets(): readonly SigningSecret[] {
    return this.#secrets;
  }

  /** Has what is known be fresh: to be waited for before anything is signed or opened. */
  refresh(): Eventually<void> {
    const now = performance.now();
    if (now < this.#freshUntil) return;
    if (this.#reading !== null) return this.#reading;
    const read = andThen(this.#read(), (secrets) => this.#take(secrets, now));
    if (!(read instanceof Promise)) return read;
    this.#reading = read.finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  // The same ones stay what they are, for those who keep what they made of them.
  #take(secrets: readonly SigningSecret[], askedAt: number): void {
    const isSame = JSON.stringify(secrets) === JSON.stringify(this.#secrets);
    if (!isSame) this.#secrets = secrets;
    this.#freshUntil = askedAt + SECRETS_AGE_MS_MAX;
  }
}

/** What signs for a store. */
export function signingOf({ read }: Pick<ReadStore, 'read'>): Signing {
  return new Signing(() => findSigningSecrets(read));
}

interface Keyed {
  until: number | null;
  /** HMAC-SHA256 that has taken the secret and what it signs. */
  hasher: Bun.CryptoHasher;
}

/** Signs one kind of thing, which tells its signatures from those of others. */
export class Signer {
  readonly #signing: Signing;
  readonly #kind: string;
  readonly #bytes: number;
  #secrets: readonly SigningSecret[] = [];
  #keyed: readonly Keyed[] = [];

  /** @param bytes of a signature, 32 at most */
  constructor(signing: Signing, kind: string, bytes: number) {
    this.#signing = signing;
    this.#kind = kind;
    this.#bytes = bytes;
  }

  /** The signature of a content. */
  sign(content: readonly (string | Buffer)[]): Buffer {
    const [current] = this.#known();
    if (current === undefined) throw new Error('the signing secrets were not read');
    return this.#signWith(current, content);
  }

  /** Whether a content was signed with what is accepted. `now` is in Unix milliseconds. */
  isGenuine(signature: Buffer, content: readonly (string | Buffer)[], now: number): boolean {
    if (signature.length !== this.#bytes) return false;
    return this.#known().some(
      (one) =>
        (one.until === null || one.until > now) && timingSafeEqual(signature, this.#signWith(one, content)),
    );
  }

  #known(): readonly Keyed[] {
    const { secrets } = this.#signing;
    if (secrets !== this.#secrets) {
      this.#secrets = secrets;
      this.#keyed = secrets.map(({ secret, until }) => ({
        until,
        hasher: new Bun.CryptoHasher('sha256', secret).update(`${this.#kind}\0`),
      }));
    }
    return this.#keyed;
  }

  #signWith({ hasher }: Keyed, content: readonly (string | Buffer)[]): Buffer {
    const copy = hasher.copy();
    for (const part of content) copy.update(part);
    return copy.digest().subarray(0, this.#bytes);
  }
}
