// Room for requests under way, shared by organizations: a free place goes to the one that has the fewest.

/** Bounds of a process. */
export interface SlotLimits {
  /** Requests under way in total. */
  all: number;
  /** Requests under way for one organization. */
  organization: number;
}

/** About 13 MiB of bodies at most; one organization leaves half to the others. */
const SLOT_LIMITS: SlotLimits = { all: 200, organization: 100 };

interface Share {
  used: number;
  waiting: (() => void)[];
}

export class FairSlots {
  readonly #limits: SlotLimits;
  readonly #shares = new Map<number, Share>();
  #used = 0;

  constructor(limits: SlotLimits = SLOT_LIMITS) {
    this.#limits = limits;
  }

  /** Takes a place, once there is one; call what it returns to give it back. */
  async take(orgNumber: number): Promise<() => void> {
    const share = this.#shares.getOrInsert(orgNumber, { used: 0, waiting: [] });
    const { promise, resolve } = Promise.withResolvers<void>();
    share.waiting.push(resolve);
    this.#giveOut();
    await promise;
    return () => this.#giveBack(orgNumber, share);
  }

  #giveBack(orgNumber: number, share: Share): void {
    share.used -= 1;
    this.#used -= 1;
    if (share.used === 0 && share.waiting.length === 0) this.#shares.delete(orgNumber);
    this.#giveOut();
  }

  #giveOut(): void {
    while (this.#used < this.#limits.all) {
      let next: Share | null = null;
      for (const share of this.#shares.values())
        if (share.waiting.length > 0 && share.used < (next?.used ?? this.#limits.organization)) next = share;
      if (next === null) return;
      next.used += 1;
      this.#used += 1;
      next.waiting.shift()?.();
    }
  }
}
