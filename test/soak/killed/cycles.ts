// Cycles of a server that writes, is killed at some moment, and is held to what it has told.
import { NO_LIMITS, Node, runOnce } from '../service.ts';
import { faultsOf, findSince, miscountsOf } from './database.ts';
import { type KillTarget, killInBackup, killInImport, killInMigration, killInStart } from './incidents.ts';
import type { KeyedRequest } from './ledger.ts';
import { Writers } from './writers.ts';

const KILL_MS_MAX = 450;
const INTEGRITY_EVERY = 25;
const WHOLE_EVERY = 200;
// So that what the organization holds is counted, and nothing refused.
const QUOTA = ['--records', '1000000000', '--bytes', '1000GB'];
// Of those that were answered: in this cycle, and ever.
const REPEATED = 10;
const REPEATED_OF_OLD = 5;

type Incident = (target: KillTarget, cycle: number) => Promise<void>;

/** What else happens, in how many of a hundred cycles. */
function incidents(isFile: boolean): [string, Incident, number][] {
  const anywhere: [string, Incident, number][] = [
    ['in its start', killInStart, 8],
    ['in an import', killInImport, 4],
  ];
  const migrate = (target: KillTarget) => killInMigration(target, (db) => Node.prepare(db, NO_LIMITS));
  const ofFiles: [string, Incident, number][] = [
    ['in a backup', killInBackup, 4],
    ['in a migration', migrate, 4],
  ];
  return isFile ? [...anywhere, ...ofFiles] : anywhere;
}

/** Kills a server again and again. */
export class Kills {
  readonly #target: KillTarget;
  readonly #readers: number;
  readonly #kinds = new Map<string, number>();
  #replayed = 0;
  #old: KeyedRequest[] = [];

  constructor(target: KillTarget, readers: number) {
    this.#target = target;
    this.#readers = readers;
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
    const writers = new Writers(ledger, { url: node.url, key }, cycle);
    const writing = writers.write();
    await Bun.sleep(Math.random() * KILL_MS_MAX);
    await node.kill();
    await writing;
    const incident = this.#draw(!db.includes('://'));
    await incident?.(this.#target, cycle);
    await node.start(cycle % 2 === 0 && this.#readers > 0 ? ['--readers', String(this.#readers)] : []);
    ledger.check(ledger.touched, await findSince(db, begunAt));
    // What was not answered all of it, of the rest some.
    const open = ledger.keyed.filter(({ answer }) => answer === null);
    const answered = ledger.keyed.filter(({ answer }) => answer !== null);
    const again = [...open, ...sample(answered, REPEATED), ...sample(this.#old, REPEATED_OF_OLD)];
    this.#replayed += await writers.repeatKeyed(again);
    ledger.check(ledger.touched, await findSince(db, begunAt));
    this.#old.push(...sample(answered, REPEATED_OF_OLD));
    ledger.keyed = [];
    ledger.endCycle();
  }

  #draw(isFile: boolean): Incident | undefined {
    let place = Math.random() * 100;
    for (const [name, incident, weight] of incidents(isFile)) {
      place -= weight;
      if (place >= 0) continue;
      this.#kinds.set(name, (this.#kinds.get(name) ?? 0) + 1);
      return incident;
    }
    return undefined;
  }

  async #checkAll(): Promise<void> {
    const { db, ledger } = this.#target;
    ledger.check(ledger.entries.values(), await findSince(db, 0));
  }
}

function sample<T>(list: readonly T[], most: number): T[] {
  return list.toSorted(() => Math.random() - 0.5).slice(0, most);
}
