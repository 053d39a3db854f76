// Cycles of a server that writes, is killed at some moment, and is held to what it has told.
import { type Random, randomNumbers } from '../../support/random.ts';
import { NO_LIMITS, Node, runOnce } from '../service.ts';
import { faultsOf, findSince, miscountsOf } from './database.ts';
import { type KillTarget, killInBackup, killInImport, killInMigration, killInStart } from './incidents.ts';
import type { KeyedRequest } from './ledger.ts';
import { MirrorCheck } from './mirror-check.ts';
import { Writers } from './writers.ts';

// A server is killed some milliseconds after so many responses, so that a slow machine tries the same as a fast one.
const RESPONSES_MAX = 600;
const KILL_MS_MAX = 8;
const WAIT_MS_MAX = 20_000;
const INTEGRITY_EVERY = 25;
const WHOLE_EVERY = 200;
// So that what the organization holds is counted, and nothing refused.
const QUOTA = ['--records', '1000000000', '--bytes', '1000GB'];
// Of those that were answered: in this cycle, and ever.
const REPEATED = 10;
const REPEATED_OF_OLD = 5;

type Incident = (target: KillTarget, cycle: number, random: Random) => Promise<void>;

/** What else happens, in how many of a hundred cycles. */
function incidents(isFile: boolean): [string, Incident, number][] {
  const anywhere: [string, Incident, number][] = [
    ['in its start', killInStart, 8],
    ['in an import', killInImport, 4],
  ];
  const migrate: Incident = (target, _, random) =>
    killInMigration(target, (db) => Node.prepare(db, NO_LIMITS), random);
  const ofFiles: [string, Incident, number][] = [
    ['in a backup', killInBackup, 4],
    ['in a migration', migrate, 4],
  ];
  return isFile ? [...anywhere, ...ofFiles] : anywhere;
}

/** Kills a server again and again; what is tried in a cycle follows from its number. */
export class Kills {
  readonly #target: KillTarget;
  readonly #readers: number;
  readonly #mirror: MirrorCheck;
  readonly #kinds = new Map<string, number>();
  #replayed = 0;
  #old: KeyedRequest[] = [];

  constructor(target: KillTarget, readers: number) {
    this.#target = target;
    this.#readers = readers;
    const { db, node, key, ledger } = target;
    this.#mirror = new MirrorCheck(db, { url: node.url, key }, ledger.changes);
  }

  /** @param onProgress hears of every look at the whole database */
  async run(cycles: number, onProgress: (text: string) => void = () => undefined): Promise<void> {
    const { db, ledger, node } = this.#target;
    await runOnce(['orgs', 'quota', 'Kills', ...QUOTA, '--db', db]);
    await node.start();
    for (let cycle = 1; cycle <= cycles; cycle++) {
      await this.#cycle(cycle);
      if (cycle % INTEGRITY_EVERY === 0) for (const fault of await faultsOf(db)) ledger.note(fault);
      if (cycle % INTEGRITY_EVERY === 0 || cycle === cycles)
        for (const fault of await miscountsOf(db, node.url)) ledger.note(fault);
      if (cycle % WHOLE_EVERY === 0 || cycle === cycles) {
        await this.#checkAll();
        onProgress(`cycle ${cycle}: ${this.#target.ledger.summary}`);
      }
    }
    await node.kill();
  }

  /** How many replays were right, and how often what happened beside the writing. */
  get told(): string {
    const kinds = [...this.#kinds].map(([name, count]) => `${count} ${name}`).join(', ');
    return `${this.#replayed} replays (killed ${kinds})`;
  }

  async #cycle(cycle: number): Promise<void> {
    const { db, node, key, ledger } = this.#target;
    const begunAt = Date.now();
    const random = randomNumbers(cycle);
    const writers = new Writers(ledger, { url: node.url, key }, cycle);
    const acknowledged = writers.acknowledged(1 + Math.floor(random() * RESPONSES_MAX));
    const writing = writers.write();
    await Promise.race([acknowledged, writing, Bun.sleep(WAIT_MS_MAX)]);
    await Bun.sleep(random() * KILL_MS_MAX);
    await node.kill();
    await writing;
    const incident = this.#draw(cycle, random);
    await incident?.(this.#target, cycle, random);
    await node.start(cycle % 2 === 0 && this.#readers > 0 ? ['--readers', String(this.#readers)] : []);
    ledger.check(ledger.touched, await findSince(db, begunAt));
    // What was not answered all of it, of the rest some.
    const open = ledger.keyed.filter(({ answer }) => answer === null);
    const answered = ledger.keyed.filter(({ answer }) => answer !== null);
    const some = (list: readonly KeyedRequest[], most: number) => sample(list, most, random);
    const again = [...open, ...some(answered, REPEATED), ...some(this.#old, REPEATED_OF_OLD)];
    this.#replayed += await writers.repeatKeyed(again);
    ledger.check(ledger.touched, await findSince(db, begunAt));
    for (const difference of await this.#mirror.differencesSince(begunAt)) ledger.note(difference);
    this.#old.push(...some(answered, REPEATED_OF_OLD));
    ledger.keyed = [];
    ledger.endCycle();
  }

  // Each kind once at first, so that a short run has them all; then by weight.
  #draw(cycle: number, random: Random): Incident | undefined {
    const all = incidents(!this.#target.db.includes('://'));
    let place = random() * 100;
    const drawn = all.find(([, , weight]) => {
      place -= weight;
      return place < 0;
    });
    const [name, incident] = all[cycle - 1] ?? drawn ?? [];
    if (name !== undefined) this.#kinds.set(name, (this.#kinds.get(name) ?? 0) + 1);
    return incident;
  }

  async #checkAll(): Promise<void> {
    const { db, ledger } = this.#target;
    ledger.check(ledger.entries.values(), await findSince(db, 0));
    await this.#mirror.compareAll();
  }
}

function sample<T>(list: readonly T[], most: number, random: Random): T[] {
  const drawn = list.map((one): [number, T] => [random(), one]).toSorted(([a], [b]) => a - b);
  return drawn.slice(0, most).map(([, one]) => one);
}
