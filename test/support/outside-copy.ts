// A copy of an organization outside: a program of `crm recipe`, in a process, that follows the feed of changes.
import { Database } from 'bun:sqlite';
import { mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RECIPES } from '../../cli/recipes/recipes.ts';
import { openApiDocument } from '../../server/openapi/document.ts';
import { listDifferences, type Truth } from './change-mirror.ts';
import type { Json } from './json.ts';
import { until } from './until.ts';

const ROOT = join(import.meta.dir, '../..');

/** What runs each program, and the program. */
const PROGRAMS = {
  TypeScript: { command: [process.execPath], recipe: 'copy' },
  Python: { command: ['python3'], recipe: 'copy-python' },
};
export type Language = keyof typeof PROGRAMS;

/** The languages, and whether this machine runs them. */
export const LANGUAGES: readonly (readonly [Language, boolean])[] = [
  ['TypeScript', true],
  ['Python', Bun.which('python3') !== null],
];

/** A folder with the programs, and the client that `openapi-typescript` generates for the one in TypeScript. */
export class ProgramFolder implements Disposable {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async make(): Promise<ProgramFolder> {
    const path = mkdtempSync(join(tmpdir(), 'crm-copy-'));
    const description = join(path, 'openapi.json');
    await Bun.write(description, JSON.stringify(await openApiDocument({ baseUrl: 'http://crm.test' })));
    const generate = [process.execPath, join(ROOT, 'test/clients/generate.ts'), description, path];
    const making = Bun.spawn([...generate, 'openapi-typescript'], { stdout: 'ignore', stderr: 'pipe' });
    if ((await making.exited) !== 0) throw new Error(await making.stderr.text());
    renameSync(join(path, 'openapi-typescript.ts'), join(path, 'crm.ts'));
    symlinkSync(join(ROOT, 'node_modules'), join(path, 'node_modules'));
    for (const { recipe } of Object.values(PROGRAMS)) {
      const { file = '', text = '' } = RECIPES[recipe] ?? {};
      await Bun.write(join(path, file), text);
    }
    return new ProgramFolder(path);
  }

  [Symbol.dispose](): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

export interface OutsideCopyOptions {
  language: Language;
  /** Of the server. */
  url: string;
  /** An API key with access to the whole organization. */
  key: string;
}

/** A copy, which lives as long as its folder; the process that keeps it can be stopped and started again. */
export class OutsideCopy implements Truth, AsyncDisposable {
  readonly #command: readonly string[];
  readonly #folder: string;
  readonly #env: Record<string, string>;
  #child: Bun.Subprocess<'ignore', 'ignore', 'pipe'> | undefined;
  #stderr: Promise<string> = Promise.resolve('');

  constructor(programs: ProgramFolder, { language, url, key }: OutsideCopyOptions) {
    const { command, recipe } = PROGRAMS[language];
    this.#command = [...command, join(programs.path, RECIPES[recipe]?.file ?? '')];
    this.#folder = mkdtempSync(join(programs.path, `${recipe}-`));
    this.#env = { PATH: process.env.PATH ?? '', CRM_URL: url, CRM_API_KEY: key };
  }

  /** Starts the process, which must not be running. */
  start(): void {
    const streams = { stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' } as const;
    this.#child = Bun.spawn([...this.#command], { cwd: this.#folder, env: this.#env, ...streams });
    this.#stderr = this.#child.stderr.text();
  }

  /** Ends the process, if it is running. */
  async stop(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    this.#child?.kill(signal);
    await this.ended();
  }

  /** Resolves once the process has ended, by itself or stopped, with what it wrote to stderr. */
  async ended(): Promise<string> {
    await this.#child?.exited;
    return this.#stderr;
  }

  #hasEnded(): boolean {
    const { exitCode = null, signalCode = null } = this.#child ?? {};
    return this.#child === undefined || exitCode !== null || signalCode !== null;
  }

  /** Resolves once the copy is as the lists are; rejects with what differs if the process ends or it takes too long. */
  async settle(truth: Truth): Promise<void> {
    let difference = '';
    const isSame = async () => {
      const hasEnded = this.#hasEnded();
      // The tables can be missing yet.
      const differences = await listDifferences(this, truth).catch((error: unknown) => [String(error)]);
      difference = differences.join('\n');
      if (difference !== '' && hasEnded)
        throw new Error(`the program has ended: ${await this.ended()}\n${difference}`);
      return difference === '';
    };
    await until(isSame, () => difference);
  }

  records(resource: string): Json[] {
    return this.#bodies('SELECT body FROM records WHERE resource = ?', resource);
  }

  links(kind: string): Json[] {
    return this.#bodies('SELECT body FROM links WHERE kind = ?', kind);
  }

  /** Locks the file, as a program that writes into it does, until it is disposed of. */
  lock(): Disposable {
    const db = new Database(join(this.#folder, 'copy.db'));
    db.run('PRAGMA busy_timeout = 5000');
    db.run('BEGIN IMMEDIATE');
    return { [Symbol.dispose]: () => db.close() };
  }

  #bodies(query: string, value: string): Json[] {
    using db = new Database(join(this.#folder, 'copy.db'), { readwrite: true, create: true });
    db.run('PRAGMA busy_timeout = 5000');
    return db
      .query<{ body: string }, [string]>(query)
      .all(value)
      .map(({ body }) => JSON.parse(body));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}
