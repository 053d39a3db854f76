// Runs the command line as its users do: a process with streams, exit code, terminal. CRM_BIN names a built binary.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { dropDatabase, freshDatabase, freshFile, isPostgres } from './fresh-databases.ts';
import { SPARINGLY } from './sparingly.ts';

/** The executable that `bun run build` makes, or the one that CRM_BIN names. */
export const BINARY = resolve(process.env.CRM_BIN ?? join(import.meta.dir, '../..', 'dist', 'crm'));

/** The command line as it is typed: the executable that CRM_BIN names, without it the source. */
export const COMMAND: readonly string[] = process.env.CRM_BIN
  ? [BINARY]
  : [process.execPath, join(import.meta.dir, '../..', 'cli', 'main.ts')];

const NO_DRAIN = ['--drain-seconds', '0'];

export interface Result {
  code: number;
  stdout: string;
  stderr: string;
}

export interface RunOptions {
  env?: Record<string, string>;
  stdin?: string;
}

/** A folder of its own, in which commands run with nothing else in their environment. */
export class Sandbox implements Disposable, AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'crm-test-'));
  /** Variables that every command here gets. */
  readonly env: Record<string, string> = { ...SPARINGLY };
  readonly #children = new Set<Bun.Subprocess>();
  readonly #command: readonly string[];

  constructor(command: readonly string[] = COMMAND) {
    this.#command = command;
  }

  /** A sandbox whose commands have an empty database: crm.db in its folder or, where the tests run on it, one on PostgreSQL. */
  static async withDatabase(command?: readonly string[]): Promise<Sandbox> {
    const sandbox = new Sandbox(command);
    if (isPostgres) sandbox.env.CRM_DB = await freshDatabase();
    else await freshFile(sandbox.database);
    return sandbox;
  }

  /** A sandbox with a database of its own that is served, in which commands are signed in; its disposal ends the server. */
  static async serving(): Promise<Sandbox> {
    const sandbox = await Sandbox.withDatabase();
    await sandbox.serveOrganization();
    return sandbox;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Path or address of the database that commands take unless told otherwise. */
  get database(): string {
    return this.env.CRM_DB ?? this.path('crm.db');
  }

  write(name: string, text: string): Promise<number> {
    return Bun.write(this.path(name), text);
  }

  read(name: string): Promise<string> {
    return Bun.file(this.path(name)).text();
  }

  exists(name: string): Promise<boolean> {
    return Bun.file(this.path(name)).exists();
  }

  /** Runs a command with its streams piped. */
  crm(args: readonly string[], options: RunOptions = {}): Promise<Result> {
    return this.start(args, options).result;
  }

  /** Starts a command with its streams piped, to be killed on its way. */
  start(args: readonly string[], options: RunOptions = {}): RunningCommand {
    const child = Bun.spawn([...this.#command, ...args], {
      ...this.#place(options.env),
      stdin: options.stdin === undefined ? 'ignore' : new Blob([options.stdin]),
      stdout: 'pipe',
      stderr: 'pipe',
    });
    this.#children.add(child);
    const result = finished(child).finally(() => this.#children.delete(child));
    return { kill: (signal) => child.kill(signal), result };
  }

  /** Runs a command with its stdout piped into a shell command; the code is that of the command itself. */
  piped(args: readonly string[], reader: string): Promise<Result> {
    return this.shell(`"$@" | ${reader}; exit "\${PIPESTATUS[0]}"`, args);
  }

  /** Runs a command with its stdout going to a file or device. */
  into(path: string, args: readonly string[]): Promise<Result> {
    return this.shell(`"$@" > '${path}'`, args);
  }

  /** Runs a shell script, in which `"$@"` is a command. */
  shell(script: string, args: readonly string[]): Promise<Result> {
    return finished(
      Bun.spawn(['bash', '-c', script, 'bash', ...this.#command, ...args], {
        ...this.#place(),
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'pipe',
      }),
    );
  }

  /** Runs a command that must succeed and gives its stdout, trimmed. */
  async ok(args: readonly string[], options: RunOptions = {}): Promise<string> {
    const { code, stdout, stderr } = await this.crm(args, options);
    if (code !== 0) throw new Error(`crm ${args.join(' ')} ended with ${code}:\n${stderr}`);
    return stdout.trim();
  }

  /**
   * Runs a command on a terminal, or a shell script in which `"$@"` is the command; once `when` shows, types `answer`,
   * hangs up, or does what `during` says. Gives all that the terminal showed.
   */
  async onTerminal(
    args: readonly string[],
    options: {
      env?: Record<string, string>;
      columns?: number;
      rows?: number;
      script?: string;
      when?: string;
      answer?: string;
      hangUp?: boolean;
      during?: (type: (text: string) => void) => void;
    } = {},
  ): Promise<{ code: number; output: string }> {
    const decoder = new TextDecoder();
    let output = '';
    let isAnswered = false;
    const shell = options.script === undefined ? [] : ['bash', '-c', options.script, 'bash'];
    const child = Bun.spawn([...shell, ...this.#command, ...args], {
      ...this.#place({ TERM: 'xterm', ...options.env }),
      terminal: {
        cols: options.columns ?? 100,
        rows: options.rows ?? 40,
        data: (terminal, data) => {
          output += decoder.decode(data, { stream: true });
          if (isAnswered || options.when === undefined || !output.includes(options.when)) return;
          isAnswered = true;
          if (options.hangUp) return terminal.close();
          options.during?.((text) => terminal.write(text));
          terminal.write(options.answer ?? '');
        },
      },
    });
    const code = await child.exited;
    child.terminal?.close();
    return { code, output: output.replaceAll('\r\n', '\n') };
  }

  /** Starts `crm serve` on a free port and waits until it says where; stopped, it stops at once unless `drain` says else. */
  async serve(args: readonly string[] = [], drain: readonly string[] = NO_DRAIN): Promise<RunningServer> {
    const usual = ['--port', '0', '--log', 'off', ...drain];
    const limits = ['--key-limit', '100000', '--org-limit', '100000'];
    const child = Bun.spawn([...this.#command, 'serve', ...usual, ...limits, ...args], {
      ...this.#place(),
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    });
    this.#children.add(child);
    const decoder = new TextDecoder();
    const isUp = Promise.withResolvers<void>();
    const listeners = new Set<() => void>();
    let stderr = '';
    const collect = async (): Promise<void> => {
      for await (const chunk of child.stderr) {
        stderr += decoder.decode(chunk, { stream: true });
        if (/^Docs .*\nNext: .*\n/m.test(stderr)) isUp.resolve();
        for (const heard of listeners) heard();
      }
      isUp.reject(new Error(`crm serve ended with ${await child.exited}:\n${stderr}`));
    };
    const ended = collect();
    await isUp.promise;
    const url = /https?:\/\/[^\s/]+/.exec(stderr)?.[0] ?? '';
    const stop = async (signal: NodeJS.Signals = 'SIGTERM'): Promise<Result> => {
      child.kill(signal);
      const [stdout, code] = await Promise.all([child.stdout.text(), child.exited, ended]);
      this.#children.delete(child);
      return { code, stdout, stderr };
    };
    let readUpTo = 0;
    const says = (word: string): Promise<void> =>
      new Promise((resolve) => {
        const look = () => {
          const found = stderr.indexOf(word, readUpTo);
          if (found < 0) return;
          readUpTo = found + word.length;
          listeners.delete(look);
          resolve();
        };
        listeners.add(look);
        look();
      });
    const metricsUrl = /^Metrics +(\S+)$/m.exec(stderr)?.[1] ?? null;
    return { url, metricsUrl, pid: child.pid, stop, says };
  }

  /** Starts a command with its stderr going to an open file. */
  spawn(args: readonly string[], stderr: number): Bun.Subprocess {
    const options = { ...this.#place(), stdin: 'ignore', stdout: 'ignore', stderr } as const;
    const child = Bun.spawn([...this.#command, ...args], options);
    this.#children.add(child);
    return child;
  }

  /** Makes an organization, serves it, and signs every further command in. */
  async serveOrganization(name = 'Example', args: readonly string[] = []): Promise<RunningServer> {
    const key = await this.ok(['init', '--org', name, '--user', 'ada@example.com']);
    const server = await this.serve(args);
    this.env.CRM_URL = server.url;
    this.env.CRM_API_KEY = key;
    return server;
  }

  #place(env: Record<string, string> = {}) {
    // As it is for who has installed it: messages then call the executable by its name.
    const path = `${dirname(BINARY)}:${process.env.PATH ?? ''}`;
    const base = { PATH: path, HOME: this.folder, XDG_CONFIG_HOME: this.path('config') };
    return { cwd: this.folder, env: { ...base, ...this.env, ...env } };
  }

  [Symbol.dispose](): void {
    for (const child of this.#children) child.kill('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** What has a database of its own is disposed of like this. */
  async [Symbol.asyncDispose](): Promise<void> {
    this[Symbol.dispose]();
    if (isPostgres && this.env.CRM_DB !== undefined) await dropDatabase(this.env.CRM_DB);
  }
}

async function finished(child: Bun.Subprocess<'ignore' | Blob, 'pipe', 'pipe'>): Promise<Result> {
  const [stdout, stderr, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return { code, stdout, stderr };
}

export interface RunningCommand {
  kill(signal: NodeJS.Signals): void;
  /** Resolves once the command has ended. */
  result: Promise<Result>;
}

export interface RunningServer {
  url: string;
  /** Where it tells metrics, if it does. */
  metricsUrl: string | null;
  pid: number;
  /** Resolves once the server has said this on stderr, after what it was last heard to say. */
  says(word: string): Promise<void>;
  /** Signals the server and resolves once it has ended. */
  stop(signal?: NodeJS.Signals): Promise<Result>;
}

/** The records in NDJSON text. */
export function ndjson(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
}
