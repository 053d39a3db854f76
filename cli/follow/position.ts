// How far the feed of changes was followed, and the file that remembers it.
import { existsSync, readFileSync } from 'node:fs';
import { isObject } from '../../db/model/json.ts';
import { CliError, systemFault, usageError } from '../errors.ts';
import { replaceFile, writeAt } from '../files/private-file.ts';
import { lockBeside, lockWork } from '../files/work-lock.ts';
import { shellWord } from '../terminal/text.ts';

/** A place in the feed: after a page, or after one of the changes that follow it. */
export interface FeedPosition {
  /** The `end_cursor` of a page, or the `start` of the feed. */
  from: { cursor: string } | { start: string };
  /** The mark of the last change after that which is done; null if none is. */
  last: string | null;
}

/** A file with a position. It is replaced as a whole, and one process at a time uses it. */
export class CursorFile {
  readonly path: string;
  readonly #resources: readonly string[];
  readonly #unlock: () => void;

  private constructor(path: string, resources: readonly string[], unlock: () => void) {
    this.path = path;
    this.#resources = resources;
    this.#unlock = unlock;
  }

  /** Locks the file, which does not have to exist. `resources` is what is followed; a file for others is refused. */
  static open(path: string, resources: readonly string[]): CursorFile {
    const unlock = lockWork({
      path: lockBeside(path),
      refusal: `already follows changes with ${path}`,
      nextSteps: ['wait for that process or stop it, or use another file with --cursor-file.'],
    });
    return new CursorFile(path, resources.toSorted(), unlock);
  }

  /** The position saved last; undefined if none was saved. */
  read(): FeedPosition | undefined {
    if (!existsSync(this.path)) return undefined;
    const content = contentOf(this.path);
    const { cursor, start, last, resources } = content;
    const from = typeof cursor === 'string' ? { cursor } : typeof start === 'string' ? { start } : undefined;
    const isComplete = from !== undefined && Array.isArray(resources);
    if (!isComplete || (last !== null && typeof last !== 'string')) throw notOurs(this.path);
    if (resources.join() !== this.#resources.join()) throw forOthers(this.path, resources.map(String));
    return { from, last };
  }

  /** Replaces the position. It is on the disk when this returns. */
  save({ from, last }: FeedPosition): void {
    const text = `${JSON.stringify({ ...from, last, resources: this.#resources })}\n`;
    try {
      replaceFile(this.path, (descriptor) => writeAt(descriptor, Buffer.from(text), 0));
    } catch (cause) {
      throw new CliError(`Cannot write the cursor file ${this.path}: ${systemFault(cause)}.`, {
        nextSteps: [
          'correct that, then run the command again: it continues from the last position that was saved.',
        ],
        cause,
      });
    }
  }

  close(): void {
    this.#unlock();
  }
}

function contentOf(path: string): Record<string, unknown> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new CliError(`Cannot read the cursor file ${path}: ${systemFault(cause)}.`, {
      nextSteps: ['correct that, or use another file with --cursor-file.'],
      cause,
    });
  }
  try {
    const content: unknown = JSON.parse(text);
    if (isObject(content as never)) return content as Record<string, unknown>;
  } catch {
    // Refused below.
  }
  throw notOurs(path);
}

function notOurs(path: string): CliError {
  return usageError(
    `${path} is not a cursor file.`,
    'use a file that this command wrote, or one that does not exist yet, with --cursor-file.',
  );
}

function forOthers(path: string, resources: readonly string[]): CliError {
  const words = ['crm watch', ...resources, '--cursor-file', shellWord(path)].join(' ');
  return usageError(
    `${path} follows ${resources.length === 0 ? 'all resources' : resources.join(', ')}, not the ones given.`,
    `continue it with the same resources: ${words}`,
    'or use another file with --cursor-file.',
  );
}
