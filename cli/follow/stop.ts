// Ends a command that would otherwise never end: at Ctrl-C, at SIGTERM, and when nobody reads its output any more.
import { EXIT } from '../errors.ts';
import { readerHasLeft } from '../terminal/closed-reader.ts';
import { onInterrupt } from '../terminal/interrupt.ts';
import { stdout } from '../terminal/streams.ts';

// How long a reader that does not read can hold up the end.
const GRACE_MS = 1_000;
const LOOK_MS = 1_000;

/** Whether and why a command is to end. */
export class Stop implements Disposable {
  readonly #controller = new AbortController();
  readonly #hurry = new AbortController();
  readonly #cleanups: (() => void)[] = [];
  readonly #graceMs: number | null;
  #exitCode: number = EXIT.done;

  /** @param hasOutput whether the command prints to stdout; otherwise it ends once what it runs has ended */
  constructor(hasOutput: boolean) {
    this.#graceMs = hasOutput ? GRACE_MS : null;
    const terminate = () => this.#end(EXIT.terminated);
    process.on('SIGTERM', terminate);
    this.#cleanups.push(
      () => process.off('SIGTERM', terminate),
      onInterrupt(() => this.#end(EXIT.interrupted)),
    );
    if (!hasOutput || stdout.isTTY) return;
    const timer = setInterval(() => readerHasLeft() && this.#end(EXIT.done), LOOK_MS);
    this.#cleanups.push(() => clearInterval(timer));
  }

  /** Aborted when the command is to end. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  get isRequested(): boolean {
    return this.#controller.signal.aborted;
  }

  /** The exit code of a command that ends as requested. */
  get exitCode(): number {
    return this.#exitCode;
  }

  /** Aborted when the end is requested a second time. */
  get hurry(): AbortSignal {
    return this.#hurry.signal;
  }

  #end(exitCode: number): void {
    if (this.isRequested) {
      this.#hurry.abort();
      return;
    }
    this.#exitCode = exitCode;
    this.#controller.abort();
    if (this.#graceMs !== null) setTimeout(() => process.exit(exitCode), this.#graceMs).unref();
  }

  [Symbol.dispose](): void {
    for (const cleanup of this.#cleanups) cleanup();
  }
}
