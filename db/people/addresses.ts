// Email addresses in text that somebody wrote: where they stand, and the text without them.
import type { JsonValue } from '../declare/json.ts';

/** What stands where something of a person was. */
export const ERASED = '[erased]';

/** The addresses of one person. */
export class AddressSet {
  /** In lower case. */
  readonly list: readonly string[];
  readonly #pattern: RegExp;

  constructor(addresses: Iterable<string>) {
    this.list = [...new Set([...addresses].map((one) => one.toLowerCase()))];
    // As a link has it too; neither the end of a longer address nor the beginning of one.
    const forms = this.list.map((one) => one.split('@').map(RegExp.escape).join('(?:@|%40)'));
    this.#pattern = new RegExp(
      `(?<![\\p{L}\\p{N}_%+-]|[\\p{L}\\p{N}]\\.)(?:${forms.join('|')})(?![\\p{L}\\p{N}]|[-.][\\p{L}\\p{N}])`,
      'giu',
    );
  }

  /** Whether a value is one of them. */
  has(value: JsonValue | undefined): boolean {
    return typeof value === 'string' && this.list.includes(value.toLowerCase());
  }

  /** Whether one of them stands in a text. */
  isIn(text: string): boolean {
    if (!text.includes('@') && !text.includes('%40')) return false;
    this.#pattern.lastIndex = 0;
    return this.#pattern.test(text);
  }

  /** A text without them. */
  takenOutOf(text: string): string {
    return this.isIn(text) ? text.replace(this.#pattern, ERASED) : text;
  }
}
