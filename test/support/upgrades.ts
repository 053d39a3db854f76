// A server that is replaced by another on the same port and file, again and again.
import { join } from 'node:path';
import { freePort } from './ports.ts';

const READY_MS_MAX = 240_000;

/** A server that has said where it serves. */
interface Started {
  child: Bun.Subprocess<'ignore', 'ignore', 'pipe'>;
  /** All that it has said so far. */
  said(): string;
}

export class UpgradedServer {
  readonly url: string;
  readonly #folder: string;
  readonly #args: readonly string[];
  #current: Started | null = null;
  readonly #formers: Started[] = [];
  /** How long each takeover took, until the new server answered. */
  readonly ms: number[] = [];

  private constructor(folder: string, port: number, args: readonly string[]) {
    this.#folder = folder;
    this.url = `${args.includes('--tls-cert') ? 'https' : 'http'}://127.0.0.1:${port}`;
    const limits = ['--key-limit', '1000000', '--org-limit', '1000000'];
    this.#args = ['serve', '--port', String(port), '--log', 'off', ...limits, ...args];
  }

  /** Serves crm.db of that folder. */
  static async start(
    command: readonly string[],
    folder: string,
    args: readonly string[],
  ): Promise<UpgradedServer> {
    const server = new UpgradedServer(folder, await freePort(), args);
    server.#current = await server.#spawn(command, []);
    return server;
  }

  get db(): string {
    return join(this.#folder, 'crm.db');
  }

  /** Has a new one take over; gives what it said. The former one ends once its connections have. */
  async upgrade(command: readonly string[]): Promise<string> {
    const begun = performance.now();
    const next = await this.#spawn(command, ['--takeover']);
    this.ms.push(performance.now() - begun);
    if (this.#current !== null) this.#formers.push(this.#current);
    this.#current = next;
    return next.said();
  }

  /** Ends them all; @throws if one of those that were taken over has not ended as it should */
  async stop(): Promise<void> {
    this.#current?.child.kill();
    for (const { child, said } of [...this.#formers, this.#current].filter((one) => one !== null)) {
      const code = await child.exited;
      if (code !== 0) throw new Error(`a server ended with ${code}:\n${said()}`);
    }
  }

  async #spawn(command: readonly string[], more: readonly string[]): Promise<Started> {
    const child = Bun.spawn([...command, ...this.#args, ...more], {
      ...{ cwd: this.#folder, stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' },
      env: { PATH: process.env.PATH ?? '', HOME: this.#folder },
    });
    let text = '';
    const serves = Promise.withResolvers<void>();
    const hear = async () => {
      const decoder = new TextDecoder();
      for await (const chunk of child.stderr) {
        text += decoder.decode(chunk, { stream: true });
        if (/^Docs /m.test(text)) serves.resolve();
      }
      serves.reject(new Error(`crm serve ended with ${await child.exited}:\n${text}`));
    };
    void hear();
    const late = setTimeout(() => serves.reject(new Error(`no server:\n${text}`)), READY_MS_MAX);
    await serves.promise.finally(() => clearTimeout(late));
    return { child, said: () => text };
  }
}
