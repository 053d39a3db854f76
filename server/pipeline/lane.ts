// Bytes that are counted together: how many each key has, each organization, and all of them.
import type { Access } from '../access.ts';

/** Whose bytes they are; `bodyBytesMax` is the quota of the organization in place of the usual limit, or null. */
export type Holder = Pick<Access, 'orgId' | 'keyId' | 'bodyBytesMax'>;

/** How much of what its organization may hold one key may. */
const KEY_PART = 1 / 2;

export interface LaneOptions {
  /** Bytes that the organization of a holder may have here. */
  orgBytes: (holder: Holder) => number;
  allBytes: number;
  /** Whether what is larger than a limit has room where nothing else counts towards that limit. */
  takesOneAlone: boolean;
}

export class Lane {
  readonly #options: LaneOptions;
  readonly #keys = new Map<string, number>();
  readonly #orgs = new Map<number, number>();
  #bytes = 0;

  constructor(options: LaneOptions) {
    this.#options = options;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get bytesMax(): number {
    return this.#options.allBytes;
  }

  /** Whether there is room for so many bytes more; `held` are those that this one of the holder's claims has here. */
  hasRoom(holder: Holder, bytes: number, held: number): boolean {
    const { allBytes, takesOneAlone } = this.#options;
    const orgBytes = this.#options.orgBytes(holder);
    const fits = (used: number, limit: number) => used + bytes <= limit || (takesOneAlone && used === held);
    return (
      fits(this.#keys.get(holder.keyId) ?? 0, orgBytes * KEY_PART) &&
      fits(this.#orgs.get(holder.orgId) ?? 0, orgBytes) &&
      fits(this.#bytes, allBytes)
    );
  }

  /** Counts so many bytes more, or fewer. */
  change({ keyId, orgId }: Holder, bytes: number): void {
    add(this.#keys, keyId, bytes);
    add(this.#orgs, orgId, bytes);
    this.#bytes += bytes;
  }
}

function add<K>(sums: Map<K, number>, of: K, bytes: number): void {
  const sum = (sums.get(of) ?? 0) + bytes;
  if (sum === 0) sums.delete(of);
  else sums.set(of, sum);
}
