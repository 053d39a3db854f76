// Bytes that are counted together: how many each key has, each organization, and all of them.
import type { MemorySums } from '../../db/counters/memory-sums.ts';
import type { Access } from '../access.ts';

/** Whose bytes they are; `bodyBytesMax` is the quota of the organization in place of the usual limit, or null. */
export type Holder = Pick<Access, 'orgId' | 'keyId' | 'bodyBytesMax'>;

/** How much of what its organization may hold one key may. */
const KEY_PART = 1 / 2;
/** Kinds of sums that a lane has. */
export const LANE_KINDS = 3;
/** In place of a name, for the sum of all. */
const ALL = '';

export interface LaneOptions {
  /** Where it counts, and its kinds there: this one and those that follow. */
  sums: MemorySums;
  kind: number;
  /** Bytes that the organization of a holder may have here. */
  orgBytes: (holder: Holder) => number;
  allBytes: number;
  /** Whether what is larger than a limit has room where nothing else counts towards that limit. */
  takesOneAlone: boolean;
}

/** Whoever asks it or changes it holds the lock of its sums. */
export class Lane {
  readonly #options: LaneOptions;
  readonly #sums: MemorySums;
  readonly #keys: number;
  readonly #orgs: number;
  readonly #all: number;

  constructor(options: LaneOptions) {
    this.#options = options;
    this.#sums = options.sums;
    this.#keys = options.kind;
    this.#orgs = options.kind + 1;
    this.#all = options.kind + 2;
  }

  get bytes(): number {
    return this.#sums.get(this.#all, ALL);
  }

  get bytesMax(): number {
    return this.#options.allBytes;
  }

  /** Whether there is room for so many bytes more; `held` are those that this one of the holder's claims has here. */
  hasRoom(holder: Holder, bytes: number, held: number): boolean {
    if (this.#sums.isFull) return false;
    const { allBytes, takesOneAlone } = this.#options;
    const orgBytes = this.#options.orgBytes(holder);
    const fits = (used: number, limit: number) => used + bytes <= limit || (takesOneAlone && used === held);
    return (
      fits(this.#sums.get(this.#keys, holder.keyId), orgBytes * KEY_PART) &&
      fits(this.#sums.get(this.#orgs, holder.orgId), orgBytes) &&
      fits(this.bytes, allBytes)
    );
  }

  /** Counts so many bytes more, or fewer. */
  change({ keyId, orgId }: Holder, bytes: number): void {
    this.#sums.add(this.#keys, keyId, bytes);
    this.#sums.add(this.#orgs, orgId, bytes);
    this.#sums.add(this.#all, ALL, bytes);
  }
}
