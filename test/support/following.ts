// A command that goes on until it is stopped, and what it has printed so far.
import { COMMAND, type Result, type Sandbox } from './command.ts';
import { until } from './until.ts';

/** A running command with its streams piped. */
export class Following implements AsyncDisposable {
  readonly #child: Bun.Subprocess<'ignore', 'pipe', 'pipe'>;
  readonly #reading: Promise<unknown>;
  stdout = '';
  stderr = '';

  constructor(sandbox: Pick<Sandbox, 'folder' | 'env'>, args: readonly string[]) {
    const { folder, env } = sandbox;
    this.#child = Bun.spawn([...COMMAND, ...args], {
      cwd: folder,
      env: { PATH: process.env.PATH ?? '', HOME: folder, ...env },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    });
    this.#reading = Promise.all([
      this.#collect(this.#child.stdout, (text) => {
        this.stdout += text;
      }),
      this.#collect(this.#child.stderr, (text) => {
        this.stderr += text;
      }),
    ]);
  }

  /** A command of which it is known that it follows from now on. */
  static async start(sandbox: Pick<Sandbox, 'folder' | 'env'>, args: readonly string[]): Promise<Following> {
    const following = new Following(sandbox, args);
    await following.says('Ctrl-C ends');
    return following;
  }

  /** Resolves once stdout has this many lines. */
  async lines(count: number): Promise<string[]> {
    const lines = () => this.stdout.split('\n').slice(0, -1);
    await until(
      () => lines().length >= count,
      () => this.stdout + this.stderr,
    );
    return lines();
  }

  /** Resolves once stderr has this text. */
  says(text: string): Promise<void> {
    return until(
      () => this.stderr.includes(text),
      () => this.stderr,
    );
  }

  /** Signals the command and resolves once it has ended. */
  stop(signal: NodeJS.Signals): Promise<Result> {
    this.#child.kill(signal);
    return this.end();
  }

  /** Resolves once the command has ended by itself. */
  async end(): Promise<Result> {
    await this.#reading;
    return { code: await this.#child.exited, stdout: this.stdout, stderr: this.stderr };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop('SIGKILL');
  }

  async #collect(stream: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> {
    const decoder = new TextDecoder();
    for await (const chunk of stream) take(decoder.decode(chunk, { stream: true }));
  }
}
