// What an export has fetched so far, as NDJSON beside the file to be, with the cursor from which to go on.
import { type FileHandle, open, readFile, rename, rm, stat } from 'node:fs/promises';
import { CliError, errorCode } from '../errors.ts';

interface State {
  /** What is being exported; another export does not go on from here. */
  subject: string;
  cursor: string | null;
  isComplete: boolean;
  lines: number;
  bytes: number;
}

/** A growing file of lines that can be picked up again after the process has ended, however it ended. */
export class Spool {
  readonly path: string;
  readonly #handle: FileHandle;
  #state: State;
  #isOpen = true;

  private constructor(path: string, handle: FileHandle, state: State) {
    this.path = path;
    this.#handle = handle;
    this.#state = state;
  }

  /** Opens the spool at `path`: where an earlier run for the same subject left off if `isResumed`, else empty. */
  static async open(path: string, subject: string, isResumed: boolean): Promise<Spool> {
    const fresh: State = { subject, cursor: null, isComplete: false, lines: 0, bytes: 0 };
    const state = (isResumed ? await findState(path, subject) : undefined) ?? fresh;
    const handle = await open(path, state.bytes > 0 ? 'r+' : 'w').catch((error: unknown) => {
      throw unwritable(path, error);
    });
    await handle.truncate(state.bytes);
    return new Spool(path, handle, state);
  }

  get cursor(): string | null {
    return this.#state.cursor;
  }

  get isComplete(): boolean {
    return this.#state.isComplete;
  }

  /** Lines written, those of earlier runs included. */
  get lines(): number {
    return this.#state.lines;
  }

  /** Adds lines and remembers where to go on from; null says that nothing more will come. */
  async append(records: readonly unknown[], cursor: string | null): Promise<void> {
    const bytes = Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    await this.#handle.write(bytes, 0, bytes.length, this.#state.bytes).catch((error: unknown) => {
      throw unwritable(this.path, error);
    });
    this.#state = {
      subject: this.#state.subject,
      cursor,
      isComplete: cursor === null,
      lines: this.#state.lines + records.length,
      bytes: this.#state.bytes + bytes.length,
    };
    await this.#save();
  }

  async #save(): Promise<void> {
    const temporary = `${statePath(this.path)}.new`;
    try {
      await Bun.write(temporary, JSON.stringify(this.#state));
      await rename(temporary, statePath(this.path));
    } catch (error) {
      await rm(temporary, { force: true });
      throw unwritable(this.path, error);
    }
  }

  /** Makes the lines the content of `target`, durably, and ends the spool. */
  async become(target: string): Promise<void> {
    try {
      await this.#handle.sync();
      await this.#close();
      await rename(this.path, target);
      await syncFolder(target);
    } catch (error) {
      throw unwritable(target, error);
    }
    await rm(statePath(this.path), { force: true });
  }

  /** Closes the file, which stays for a later run unless nothing is in it. */
  async leave(): Promise<void> {
    if (this.#state.lines === 0) return this.discard();
    await this.#close();
  }

  async #close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await this.#handle.close();
  }

  /** Closes and removes everything. */
  async discard(): Promise<void> {
    await this.#close();
    await rm(this.path, { force: true });
    await rm(statePath(this.path), { force: true });
  }
}

const statePath = (path: string): string => `${path}.json`;

async function findState(path: string, subject: string): Promise<State | undefined> {
  try {
    const state = JSON.parse(await readFile(statePath(path), 'utf8')) as State;
    const { size } = await stat(path);
    return state.subject === subject && size >= state.bytes ? state : undefined;
  } catch {
    return undefined;
  }
}

/** Makes a rename in the file's folder durable. */
export async function syncFolder(path: string): Promise<void> {
  const { dirname } = await import('node:path');
  const folder = await open(dirname(path), 'r');
  await folder.sync();
  await folder.close();
}

/** The error for a file that cannot be written. */
export function unwritable(path: string, error: unknown): CliError {
  const code = errorCode(error);
  const reason =
    { ENOSPC: 'the disk is full', ENOENT: 'its folder does not exist', EISDIR: 'it is a folder' }[code] ??
    (code || String(error));
  const remedy = { ENOSPC: 'make room', ENOENT: 'make the folder' }[code] ?? 'permit writing there';
  return new CliError(`Cannot write ${path}: ${reason}.`, {
    nextSteps: [`${remedy}, or choose another place in --out.`],
    cause: error,
  });
}
