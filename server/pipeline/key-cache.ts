// Keys that requests have presented, by hash, kept until a commit could have changed one.

import { getOrganization } from '../../db/accounts/accounts.ts';
import { type AccessLevel, findKeyByHash, type PresentedKey } from '../../db/accounts/keys.ts';
import { BoundedMap } from '../../db/cache.ts';
import { Coalescer } from '../../db/coalescer.ts';
import type { Eventually } from '../../db/engine/engine.ts';
import { parseNetwork } from '../../db/networks.ts';
import type { Store } from '../../db/store.ts';
import { type Api, apiOfKey, hashKey } from '../../db/tables/key-format.ts';
import { type Access, requestLimitsOf } from '../access.ts';
import { networkMatcher } from './client-address.ts';

/** What a key allows, and until when. */
export interface CachedKey {
  readonly api: Api;
  readonly access: Access;
  readonly isRevoked: boolean;
  /** Unix milliseconds; null for never. */
  readonly expiresAt: number | null;
  /** When the grace period of its secret ends. */
  readonly secretExpiresAt: number | null;
  /** Whether it can be used from an IP address; null if from anywhere. */
  readonly admits: ((address: string) => boolean) | null;
}

/** What is needed of a store. */
export type PresentedKeyStore = Pick<Store, 'read' | 'keyVersion' | 'endSnapshot'>;

// Unknown keys are not kept, so that guessing uses no memory.
const KEYS_MAX = 10_000;
const LISTS_MAX = 1_000;

// Keys of one kind have the same scopes and networks, so that there are few different lists.
function itemsOf(list: string): string[] {
  return list === '' ? [] : list.split(',');
}

function readNetworks(list: string): ReturnType<typeof networkMatcher> {
  return networkMatcher(itemsOf(list).flatMap((network) => parseNetwork(network) ?? []));
}

export class KeyCache {
  readonly #store: PresentedKeyStore;
  readonly #keys: BoundedMap<string, CachedKey>;
  readonly #scopes = new BoundedMap<string, ReadonlySet<string>>(LISTS_MAX);
  readonly #networks = new BoundedMap<string, ReturnType<typeof networkMatcher>>(LISTS_MAX);
  // If keys are looked up for each request, concurrent requests with one key share a lookup.
  readonly #lookUps = new Coalescer<string, PresentedKey | undefined>(async (hashes) => {
    const [hash = ''] = hashes;
    // The reads of a turn share a snapshot, and another process can have issued the key since that began.
    this.#store.endSnapshot();
    const row = await findKeyByHash(this.#store.read, hash);
    return hashes.map(() => row);
  });
  // By key ID; a key never moves to another organization.
  readonly #organizations: BoundedMap<string, string>;
  #mark: number | null = null;

  /** @param keysMax maximum number of keys kept */
  constructor(store: PresentedKeyStore, keysMax = KEYS_MAX) {
    this.#store = store;
    this.#keys = new BoundedMap(keysMax);
    this.#organizations = new BoundedMap(keysMax);
  }

  /** The current state of a key; undefined if it was never issued or belongs to another API version. */
  find(text: string, api: Api): Eventually<CachedKey | undefined> {
    const mark = this.#store.keyVersion();
    if (mark === null || mark !== this.#mark) this.#keys.clear();
    this.#mark = mark;
    const hash = hashKey(text);
    const known = this.#keys.get(hash);
    if (known !== undefined) return known.api === api ? known : undefined;
    return apiOfKey(text) === api ? this.#lookUp(hash, api) : undefined;
  }

  async #lookUp(hash: string, api: Api): Promise<CachedKey | undefined> {
    const mark = this.#mark;
    const row = await this.#lookUps.ask(hash, hash);
    if (row === undefined) return undefined;
    const key = this.#keyOf(row, { api, organizationId: await this.#organizationOf(row) });
    // If the mark has changed, the key could be older than the change.
    if (mark === this.#mark) this.#keys.set(hash, key);
    return key;
  }

  async #organizationOf({ id, org_id: number }: PresentedKey): Promise<string> {
    const known = this.#organizations.get(id);
    if (known !== undefined) return known;
    const organization = await getOrganization(this.#store.read, number);
    this.#organizations.set(id, organization.id);
    return organization.id;
  }

  #keyOf(row: PresentedKey, { api, organizationId }: { api: Api; organizationId: string }): CachedKey {
    const access: Access = {
      orgNumber: row.org_id,
      organizationId,
      keyId: row.id,
      keyNumber: row.number,
      level: row.access as AccessLevel,
      userId: row.access === 'user' ? row.user_id : null,
      scopes: this.#scopes.getOrCompute(row.scopes, (scopes) => new Set(itemsOf(scopes))),
      bodyBytesMax: row.body_bytes_max,
      requestsPerMinute: requestLimitsOf(row),
    };
    const { revoked_at, expires_at: expiresAt, secret_expires_at: secretExpiresAt } = row;
    const admits = row.networks === null ? null : this.#networks.getOrCompute(row.networks, readNetworks);
    return { api, access, isRevoked: revoked_at !== null, expiresAt, secretExpiresAt, admits };
  }
}
