// The secrets that sign cursors and transcript links, and those whose signatures are accepted, cached for a short time.
import { timingSafeEqual } from 'node:crypto';
import { memoize } from '../../db/cache.ts';
import { andThen, type Eventually } from '../../db/engine/engine.ts';
import type { ReadStore } from '../../db/store.ts';
import { findSigningSecrets, type SigningSecret } from '../../db/tables/settings.ts';
import { seal, unseal } from './sealing.ts';

/** Maximum age of the cached secrets, in milliseconds; a new secret is announced for longer than that before it signs. */
export const SECRETS_AGE_MS_MAX = 1_000;

/** The secrets of the database. */
export class Signing {
  readonly #read: () => Eventually<SigningSecret[]>;
  #secrets: readonly SigningSecret[] = [];
  #freshUntil = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | null = null;

  /** @param read returns the secret that signs, followed by all others that are accepted */
  constructor(read: () => Eventually<SigningSecret[]>) {
    this.#read = read;
  }

  get secrets(): readonly SigningSecret[] {
    return this.#secrets;
  }

  /** Refreshes the cached secrets; await it before signing or checking anything. */
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

  // Unchanged secrets stay the same objects, for those who cache what they derive from them.
  #take(secrets: readonly SigningSecret[], askedAt: number): void {
    const isSame = JSON.stringify(secrets) === JSON.stringify(this.#secrets);
    if (!isSame) this.#secrets = secrets;
    this.#freshUntil = askedAt + SECRETS_AGE_MS_MAX;
  }
}

/** The secrets of a store. */
export function signingOf({ read }: Pick<ReadStore, 'read'>): Signing {
  return new Signing(() => findSigningSecrets(read));
}

interface Keyed {
  until: number | null;
  /** HMAC-SHA256 that has already hashed the secret and the kind. */
  hasher: Bun.CryptoHasher;
}

/** Signs one kind of content, whose signatures differ from those of other kinds. */
export class Signer {
  readonly #signing: Signing;
  readonly #kind: string;
  readonly #bytes: number;
  #secrets: readonly SigningSecret[] = [];
  #keyed: readonly Keyed[] = [];

  /** @param bytes of a signature, at most 32 */
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

  /** Whether a content was signed with an accepted secret. `now` is in Unix milliseconds. */
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

/** Encrypts one kind of content, so that clients can neither read nor alter it. */
export class Sealer {
  readonly #signing: Signing;
  readonly #keyOf: (secret: SigningSecret) => Buffer;

  constructor(signing: Signing, kind: string) {
    this.#signing = signing;
    this.#keyOf = memoize(({ secret }) =>
      new Bun.CryptoHasher('sha256', secret).update(`${kind}\0`).digest(),
    );
  }

  /** Encrypts a content, which only opens together with the same `bound`. */
  seal(content: Buffer, bound: string): Buffer {
    const [current] = this.#signing.secrets;
    if (current === undefined) throw new Error('the signing secrets were not read');
    return seal(this.#keyOf(current), content, bound);
  }

  /** The content; null if it was altered, or sealed with another `bound` or secret. `now` is in Unix milliseconds. */
  open(sealed: Buffer, bound: string, now: number): Buffer | null {
    for (const secret of this.#signing.secrets) {
      if (secret.until !== null && secret.until <= now) continue;
      const content = unseal(this.#keyOf(secret), sealed, bound);
      if (content !== null) return content;
    }
    return null;
  }
}
