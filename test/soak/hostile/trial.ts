// A hostile trial: a server with two organizations, one whose clients are hostile, and one that is measured meanwhile.
import { join } from 'node:path';
import { Node, runOnce } from '../service.ts';
import { Attack, prepareHostile } from './attack.ts';
import type { Waits } from './bystander.ts';
import { type Client, runClients } from './clients.ts';
import { FLOOD } from './flood.ts';
import { LARGE } from './large.ts';
import { SLOW } from './slow.ts';

const BYSTANDER = join(import.meta.dir, 'bystander.ts');
const BYSTANDER_KEYS = 5;
/** All hostile clients. */
export const CLIENTS: readonly Client[] = [...SLOW, ...LARGE, ...FLOOD];

export class HostileTrial {
  readonly #bystander: Bun.Subprocess;
  #told: (waits: Waits) => void = () => undefined;
  #hostile: Promise<void> = Promise.resolve();

  private constructor(
    readonly node: Node,
    readonly attack: Attack,
    keys: readonly string[],
  ) {
    this.#bystander = Bun.spawn([process.execPath, BYSTANDER, node.url, ...keys], {
      ...{ stdin: 'ignore', stdout: 'inherit', stderr: 'inherit' },
      ipc: (waits: Waits) => this.#told(waits),
    });
  }

  /** Makes both organizations in an empty database, serves it with the usual limits, and has one of them begin. */
  static async start(db: string, args: readonly string[], log?: string): Promise<HostileTrial> {
    const first = await runOnce(['init', '--org', 'Bystander', '--db', db]);
    const issue = () => runOnce(['keys', 'issue', '--org', 'Bystander', '--all-scopes', '--db', db]);
    const keys = [first, ...(await Promise.all(Array.from({ length: BYSTANDER_KEYS - 1 }, issue)))];
    const hostile = await prepareHostile(db);
    const node = await Node.start(db, args, log);
    return new HostileTrial(node, new Attack(node.url, hostile), keys);
  }

  /** Has the other organization's clients begin, or some of them. */
  async startAttack(clients: readonly Client[] = CLIENTS): Promise<void> {
    const known = { largeId: await this.attack.fill() };
    this.#hostile = runClients(this.attack, clients, known);
  }

  /** What the measured organization's requests came to since this was asked last. */
  take(): Promise<Waits> {
    const { promise, resolve } = Promise.withResolvers<Waits>();
    this.#told = resolve;
    this.#bystander.send('take');
    return promise;
  }

  /** Has all clients end. */
  async end(): Promise<void> {
    this.attack.end();
    await this.#hostile;
    this.#bystander.send('end');
    await this.#bystander.exited;
  }

  async kill(): Promise<void> {
    this.attack.end();
    this.#bystander.kill();
    await this.node.kill();
  }
}
