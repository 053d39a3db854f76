// The keys that requests have presented, by their hash, kept for as long as no commit can have changed any.

import { Gathering } from '../../db/coalescer.ts';
import type { Eventually } from '../../db/engine/engine.ts';
import { parseNetwork } from '../../db/networks.ts';
import type { Store } from '../../db/store.ts';
import { getOrganization } from '../../db/tables/accounts.ts';
import { type Api, apiOfKey, hashKey } from '../../db/tables/key-format.ts';
import { type AccessLevel, findKeyByHash, type PresentedKey } from '../../db/tables/keys.ts';
import type { Access } from '../access.ts';
import { membership } from './client-address.ts';

/** What a key lets in, and until when. */
export interface KnownKey {
  readonly api: Api;
  readonly access: Access;
  readonly isRevoked: boolean;
  /** Unix milliseconds; null for never. */
  readonly expiresAt: number | null;
  /** End of the grace of its secret. */
  readonly secretExpiresAt: number | null;
  /** Whether it may be used from an address; null for from anywhere. */
  readonly admits: ((address: string) => boolean) | null;
}

// Those that were never issued are not kept, so that guessing takes no memory.
const KEYS_MAX = 10_000;
const LISTS_MAX = 1_000;

/** What is made of lists of which keys of one kind have the same, so that there are few different ones. */
class Lists<T> {
  readonly #made = new Map<string, T>();
  readonly #make: (items: readonly string[]) => T;

  constructor(make: (items: readonly string[]) => T) {
    this.#make = make;
  }

  of(list: string): T {
    const known = this.#made.get(list);
    if (known !== undefined) return known;
    const made = this.#make(list === '' ? [] : list.split(','));
    if (this.#made.size >= LISTS_MAX) this.#made.clear();
    this.#made.set(list, made);
    return made;
  }
}

export class KnownKeys {
  readonly #store: Pick<Store, 'read' | 'keyMark'>;
  readonly #keysMax: number;
  readonly #keys = new Map<string, KnownKey>();
  readonly #scopes = new Lists<ReadonlySet<string>>((scopes) => new Set(scopes));
  readonly #networks = new Lists((networks) =>
    membership(networks.flatMap((network) => parseNetwork(network) ?? [])),
  );
  // Where keys are looked up for each request, those of one key that come at once share a look.
  readonly #lookUps = new Gathering<string, PresentedKey | undefined>(async (hashes) => {
    const [hash = ''] = hashes;
    const row = await findKeyByHash(this.#store.read, hash);
    return hashes.map(() => row);
  });
  // By the ids of keys, none of which is ever that of another organization.
  readonly #organizations = new Map<string, string>();
  #mark: number | null = null;

  /** @param keysMax how many are kept at most */
  constructor(store: Pick<Store, 'read' | 'keyMark'>, keysMax = KEYS_MAX) {
    this.#store = store;
    this.#keysMax = keysMax;
  }

  /** The key of that text, as it is now; undefined if it was never issued or is for another interface. */
  find(text: string, api: Api): Eventually<KnownKey | undefined> {
    const mark = this.#store.keyMark();
    if (mark === null || mark !== this.#mark) this.#keys.clear();
    this.#mark = mark;
    const hash = hashKey(text);
    const known = this.#keys.get(hash);
    if (known !== undefined) return known.api === api ? known : undefined;
    return apiOfKey(text) === api ? this.#lookUp(hash, api) : undefined;
  }

  async #lookUp(hash: string, api: Api): Promise<KnownKey | undefined> {
    const mark = this.#mark;
    const row = await this.#lookUps.ask(hash, hash);
    if (row === undefined) return undefined;
    const key = this.#keyOf(row, { api, organizationId: await this.#organizationOf(row) });
    // Where the mark is another by now, this may be older than it.
    if (mark === this.#mark) this.#keep(hash, key);
    return key;
  }

  async #organizationOf({ id, org_id: number }: PresentedKey): Promise<string> {
    const known = this.#organizations.get(id);
    if (known !== undefined) return known;
    const organization = await getOrganization(this.#store.read, number);
    if (this.#organizations.size >= this.#keysMax) this.#organizations.clear();
    this.#organizations.set(id, organization.id);
    return organization.id;
  }

  #keep(hash: string, key: KnownKey): void {
    if (this.#keys.size >= this.#keysMax) this.#keys.clear();
    this.#keys.set(hash, key);
  }

  #keyOf(row: PresentedKey, { api, organizationId }: { api: Api; organizationId: string }): KnownKey {
    const access: Access = {
      orgId: row.org_id,
      organizationId,
      keyId: row.id,
      level: row.access as AccessLevel,
      userId: row.access === 'user' ? row.user_id : null,
      scopes: this.#scopes.of(row.scopes),
      bodyBytesMax: row.body_bytes_max,
    };
    const { revoked_at, expires_at: expiresAt, secret_expires_at: secretExpiresAt } = row;
    const admits = row.networks === null ? null : this.#networks.of(row.networks);
    return { api, access, isRevoked: revoked_at !== null, expiresAt, secretExpiresAt, admits };
  }
}
