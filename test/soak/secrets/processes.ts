// What anybody on the machine sees of processes: their arguments, read again and again while commands run.
import { readdirSync, readFileSync } from 'node:fs';

const EVERY_MS = 25;
// A process has its last arguments when it has begun.
const LOOKS = 4;

/** Collects the arguments of all processes until it is ended. */
export class Arguments {
  readonly #seen = new Set<string>();
  // How often a process was looked at, by its number.
  #looks = new Map<string, number>();
  readonly #timer = setInterval(() => this.#look(), EVERY_MS);

  /** All that was seen, a process a line. */
  end(): string {
    clearInterval(this.#timer);
    return [...this.#seen].join('\n');
  }

  #look(): void {
    const looks = new Map<string, number>();
    for (const name of readdirSync('/proc')) {
      if (!/^\d+$/.test(name)) continue;
      const before = this.#looks.get(name) ?? 0;
      looks.set(name, Math.min(LOOKS, before + 1));
      if (before < LOOKS) this.#read(name);
    }
    this.#looks = looks;
  }

  #read(name: string): void {
    try {
      this.#seen.add(readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' '));
    } catch {
      // It has just ended.
    }
  }
}
