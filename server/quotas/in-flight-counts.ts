// Bytes that are counted together: per key, per organization, and in total.
import type { MemorySums } from '../../db/counters/memory-sums.ts';
import type { Access } from '../access.ts';

/** Who holds the bytes; `bodyBytesMax` is the organization's own limit, null for the default. */
export type BudgetHolder = Pick<Access, 'orgNumber' | 'keyId' | 'bodyBytesMax'>;

/** The fraction of its organization's bytes that one key can hold. */
const KEY_PART = 1 / 2;
/** Kinds of sums that a lane has. */
export const IN_FLIGHT_KINDS = 3;
/** Name of the total. */
const ALL = '';

export interface InFlightCountsOptions {
  /** Where it counts, and the first of its kinds there; the others follow. */
  sums: MemorySums;
  kind: number;
  /** Bytes that the organization of a holder can have here. */
  orgBytes: (holder: BudgetHolder) => number;
  allBytes: number;
  /** Whether bytes above a limit fit if nothing else counts towards that limit. */
  takesOneAlone: boolean;
}

/** Callers hold the lock of its sums. */
export class InFlightCounts {
  readonly #options: InFlightCountsOptions;
  readonly #sums: MemorySums;
  readonly #keys: number;
  readonly #orgs: number;
  readonly #all: number;

  constructor(options: InFlightCountsOptions) {
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

  /** Whether there is room for this many more bytes; `held` is what this claim of the holder already has here. */
  hasRoom(holder: BudgetHolder, bytes: number, held: number): boolean {
    if (this.#sums.isFull) return false;
    const { allBytes, takesOneAlone } = this.#options;
    const orgBytes = this.#options.orgBytes(holder);
    const fits = (used: number, limit: number) => used + bytes <= limit || (takesOneAlone && used === held);
    return (
      fits(this.#sums.get(this.#keys, holder.keyId), orgBytes * KEY_PART) &&
      fits(this.#sums.get(this.#orgs, holder.orgNumber), orgBytes) &&
      fits(this.bytes, allBytes)
    );
  }

  /** Counts this many more bytes, or fewer if negative. */
  change({ keyId, orgNumber }: BudgetHolder, bytes: number): void {
    this.#sums.add(this.#keys, keyId, bytes);
    this.#sums.add(this.#orgs, orgNumber, bytes);
    this.#sums.add(this.#all, ALL, bytes);
  }
}
