// What anybody on the machine sees of processes: their arguments, read again and again while commands run.
import { readdirSync, readFileSync } from 'node:fs';

const EVERY_MS = 25;

/** Collects the arguments of all processes until it is ended. */
export class Arguments {
  readonly #seen = new Set<string>();
  readonly #timer = setInterval(() => this.#look(), EVERY_MS);

  /** All that was seen, a process a line. */
  end(): string {
    clearInterval(this.#timer);
    return [...this.#seen].join('\n');
  }

  #look(): void {
    for (const name of readdirSync('/proc')) {
      if (!/^\d+$/.test(name)) continue;
      try {
        this.#seen.add(readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' '));
      } catch {
        // It has just ended.
      }
    }
  }
}
