// The keys that requests have presented, by their hash, kept for as long as no commit can have changed any.
import { BoundedMap } from '../../db/cache.ts';
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

// Keys of one kind have the same scopes and networks, so that there are few different lists.
function itemsOf(list: string): string[] {
  return list === '' ? [] : list.split(',');
}

function readNetworks(list: string): ReturnType<typeof membership> {
  return membership(itemsOf(list).flatMap((network) => parseNetwork(network) ?? []));
}

export class KnownKeys {
  readonly #store: Pick<Store, 'read' | 'keyMark'>;
  readonly #keys: BoundedMap<string, KnownKey>;
  readonly #scopes = new BoundedMap<string, ReadonlySet<string>>(LISTS_MAX);
  readonly #networks = new BoundedMap<string, ReturnType<typeof membership>>(LISTS_MAX);
  // Where keys are looked up for each request, those of one key that come at once share a look.
  readonly #lookUps = new Gathering<string, PresentedKey | undefined>(async (hashes) => {
    const [hash = ''] = hashes;
    const row = await findKeyByHash(this.#store.read, hash);
    return hashes.map(() => row);
  });
  // By the ids of keys, none of which is ever that of another organization.
  readonly #organizations: BoundedMap<string, string>;
  #mark: number | null = null;

  /** @param keysMax how many are kept at most */
  constructor(store: Pick<Store, 'read' | 'keyMark'>, keysMax = KEYS_MAX) {
    this.#store = store;
    this.#keys = new BoundedMap(keysMax);
    this.#organizations = new BoundedMap(keysMax);
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

  #keyOf(row: PresentedKey, { api, organizationId }: { api: Api; organizationId: string }): KnownKey {
    const access: Access = {
      orgId: row.org_id,
      organizationId,
      keyId: row.id,
      level: row.access as AccessLevel,
      userId: row.access === 'user' ? row.user_id : null,
      scopes: this.#scopes.getOrCompute(row.scopes, (scopes) => new Set(itemsOf(scopes))),
      bodyBytesMax: row.body_bytes_max,
    };
    const { revoked_at, expires_at: expiresAt, secret_expires_at: secretExpiresAt } = row;
    const admits = row.networks === null ? null : this.#networks.getOrCompute(row.networks, readNetworks);
    return { api, access, isRevoked: revoked_at !== null, expiresAt, secretExpiresAt, admits };
  }
}
