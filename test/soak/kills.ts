// `bun run soak:kills`: a server that is killed again and again as it writes, and what of its word it has kept.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { BINARY } from '../support/command.ts';
import { PostgresServer } from '../support/postgres.ts';
import { faultsOf, findSince } from './killed/database.ts';
import { killInBackup, killInImport, killInMigration, killInStart, type Site } from './killed/incidents.ts';
import { type KeyedRequest, Ledger } from './killed/ledger.ts';
import { Writers } from './killed/writers.ts';
import { Node, runOnce } from './service.ts';
import { endWithVerdict, show, tell } from './verdict.ts';

const USAGE = `bun run soak:kills [--cycles N] [--readers N] [--postgres]
  --cycles    how often the server is killed (1000)
  --readers   threads that answer, in every other cycle (2)
  --postgres  on a PostgreSQL server of its own`;

const NO_LIMITS = ['--key-limit', '100000000', '--org-limit', '100000000'];
const KILL_MS_MAX = 450;
const INTEGRITY_EVERY = 25;
const WHOLE_EVERY = 200;
// Of those that were answered: in this cycle, and ever.
const REPEATED = 10;
const REPEATED_OF_OLD = 5;

type Incident = (site: Site, cycle: number) => Promise<void>;

/** What else happens, in how many of a hundred cycles. */
function incidents(isFile: boolean): [string, Incident, number][] {
  const anywhere: [string, Incident, number][] = [
    ['in its start', killInStart, 8],
    ['in an import', killInImport, 4],
  ];
  const migrate = (site: Site) => killInMigration(site, (db) => Node.prepare(db, NO_LIMITS));
  const ofFiles: [string, Incident, number][] = [
    ['in a backup', killInBackup, 4],
    ['in a migration', migrate, 4],
  ];
  return isFile ? [...anywhere, ...ofFiles] : anywhere;
}

class Kills {
  readonly #site: Site;
  readonly #readers: number;
  readonly #kinds = new Map<string, number>();
  #replayed = 0;
  #old: KeyedRequest[] = [];

  constructor(site: Site, readers: number) {
    this.#site = site;
    this.#readers = readers;
  }

  async run(cycles: number): Promise<void> {
    const { db, ledger, node } = this.#site;
    await node.start();
    for (let cycle = 1; cycle <= cycles; cycle++) {
      await this.#cycle(cycle);
      if (cycle % INTEGRITY_EVERY === 0) for (const fault of await faultsOf(db)) ledger.note(fault);
      if (cycle % WHOLE_EVERY === 0 || cycle === cycles) await this.#checkAll(cycle);
    }
    const { acknowledged, lost, doubled, faults } = ledger;
    const kinds = [...this.#kinds].map((pair) => pair.reverse().join(' ')).join(', ');
    const text = `${acknowledged} writes acknowledged, ${lost} lost, ${doubled} doubled; ${this.#replayed} replays`;
    await node.kill();
    tell(`${cycles} cycles`, faults.length === 0 && acknowledged > 0, `${text} (${kinds})`);
    show(faults);
  }

  async #cycle(cycle: number): Promise<void> {
    const { db, node, key, ledger } = this.#site;
    const begunAt = Date.now();
    const writers = new Writers(ledger, { url: node.url, key }, cycle);
    const writing = writers.write();
    await Bun.sleep(Math.random() * KILL_MS_MAX);
    await node.kill();
    await writing;
    const incident = this.#draw(!db.includes('://'));
    await incident?.(this.#site, cycle);
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

  async #checkAll(cycle: number): Promise<void> {
    const { db, ledger } = this.#site;
    ledger.check(ledger.entries.values(), await findSince(db, 0));
    const { acknowledged, lost, doubled, faults } = ledger;
    const text = `${acknowledged} writes acknowledged, ${lost} lost, ${doubled} doubled, ${faults.length} faults`;
    console.log(`     cycle ${cycle}: ${text}`);
  }
}

function sample<T>(list: readonly T[], most: number): T[] {
  return list.toSorted(() => Math.random() - 0.5).slice(0, most);
}

async function main(): Promise<void> {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    options: {
      cycles: { ...text, default: '1000' },
      readers: { ...text, default: '2' },
      ...{ postgres: flag, help: flag },
    },
  });
  if (values.help) return console.log(USAGE);
  const cycles = Number(values.cycles);
  console.log(`${BINARY}: ${await runOnce(['version'])}, ${cycles} cycles`);
  const folder = mkdtempSync(join(tmpdir(), 'crm-soak-'));
  const server = values.postgres ? await PostgresServer.start() : null;
  try {
    const db = server?.address() ?? join(folder, 'crm.db');
    const key = await runOnce(['init', '--org', 'Kills', '--db', db]);
    const node = await Node.prepare(db, NO_LIMITS);
    const site: Site = { db, folder, key, node, ledger: new Ledger() };
    await new Kills(site, server === null ? Number(values.readers) : 0).run(cycles);
  } finally {
    await server?.close();
    rmSync(folder, { recursive: true });
  }
  endWithVerdict();
}

await main();
