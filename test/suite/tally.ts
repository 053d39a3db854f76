// What `bun test` says while it runs and at its end, for several of them that run side by side.

/** How many tests there were; an error outside a test, or an end that was never reached, is a failed one. */
export interface Tally {
  passed: number;
  failed: number;
  skipped: number;
}

const OPENING = /^bun test v\S+ \(/;
const COUNT = /^ *(\d+) (pass|fail|skip|todo|errors?|expect\(\) calls)$/;
const FILE = /^(test\/\S+\.test\.tsx?):$/;
const FAIL = /^\(fail\) /;
const END = /^Ran \d+ tests? across \d+ files?\./;

/** Takes the lines of one `bun test`: gives those that a person wants to read, counts by what the others say. */
export class Listener {
  readonly #counts = new Map<string, number>();
  readonly #failedFiles = new Set<string>();
  #file = '';
  #isAtItsEnd = false;

  /** The line as it is, or null if it only counts, opens or closes. */
  hear(line: string): string | null {
    this.#file = FILE.exec(line)?.[1] ?? this.#file;
    if (FAIL.test(line)) this.#failedFiles.add(this.#file);
    const [, count, of] = COUNT.exec(line) ?? [];
    if (count !== undefined && of !== undefined) this.#counts.set(of, Number(count));
    else if (END.test(line)) this.#isAtItsEnd = true;
    else if (!OPENING.test(line)) return line;
    return null;
  }

  /** The files with failed tests; null if something failed that belongs to no test. */
  failedFiles(): string[] | null {
    const hasOther = !this.#isAtItsEnd || this.#counts.has('error') || this.#counts.has('errors');
    return hasOther || this.#failedFiles.size === 0 || this.#failedFiles.has('')
      ? null
      : [...this.#failedFiles];
  }

  /** The counts, once it has ended with this code. */
  tally(code: number | null): Tally {
    const count = (...names: string[]) => names.reduce((sum, name) => sum + (this.#counts.get(name) ?? 0), 0);
    const failed = count('fail', 'error', 'errors');
    const isWhole = this.#isAtItsEnd && code === 0;
    return {
      passed: count('pass'),
      failed: isWhole ? failed : Math.max(failed, 1),
      skipped: count('skip', 'todo'),
    };
  }
}

/** The sum of several. */
export function addUp(tallies: readonly Tally[]): Tally {
  const sum = (of: keyof Tally) => tallies.reduce((total, tally) => total + tally[of], 0);
  return { passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') };
}

/** The last lines of a run, as `bun test` ends its own. */
export function closing({ passed, failed, skipped }: Tally): string {
  return [` ${passed} pass`, ` ${skipped} skip`, ` ${failed} fail`].join('\n');
}
