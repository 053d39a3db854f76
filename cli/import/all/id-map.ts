// Which new record an exported one has become, kept in a folder beside the export so that a cut-off import can go on.
import { mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CliError, errorCode } from '../../errors.ts';
import { isOwnFolder, kindAt } from '../../files/own-file.ts';
import { KeyStore } from '../rows/key-store.ts';
import { JOURNAL_SUFFIX } from '../session/journal.ts';

const SUBJECT_KEY = 'subject';
const SALT_KEY = 'salt';
const END_KEY = 'end';

/** How an import of a folder ended. */
export interface FolderEnd {
  onDuplicate: string;
  rejected: number;
}

/** Old ids to new ones, by resource (plural; `stages` too). */
export class IdMap {
  /** The folder of the journals. */
  readonly folder: string;
  readonly #store: KeyStore;

  /** Opens the map in a folder that an import has made. */
  constructor(folder: string) {
    this.folder = folder;
    this.#store = new KeyStore(join(folder, 'ids'));
  }

  /** Begins the map for an export, server and organization (`subject`). */
  static begin(folder: string, subject: string, salt: string): IdMap {
    rmSync(folder, { recursive: true, force: true });
    try {
      mkdirSync(folder, { mode: 0o700 });
    } catch (cause) {
      throw new CliError(`There can be no journal at ${folder}: ${errorCode(cause)}.`, {
        nextSteps: ['permit writing there, or copy the exported folder to where you may write.'],
        cause,
      });
    }
    const map = new IdMap(folder);
    map.#store.set(SUBJECT_KEY, subject);
    map.#store.set(SALT_KEY, salt);
    return map;
  }

  /** The map that an import of the exported folder has left, and where it is or is to be. */
  static find(exported: string, subject: string): { folder: string; map: IdMap | undefined } {
    const base = resolve(exported);
    for (let number = 1; ; number += 1) {
      const folder = `${base}${JOURNAL_SUFFIX}${number === 1 ? '' : `.${number}`}`;
      if (kindAt(folder) === 'nothing') return { folder, map: undefined };
      if (!isOwnFolder(folder)) {
        throw new CliError(`Cannot use the journal ${folder}: it is no folder of your own.`, {
          nextSteps: ['move it away.'],
        });
      }
      const map = new IdMap(folder);
      if (map.#store.get(SUBJECT_KEY) === subject) return { folder, map };
      map.close();
    }
  }

  /** Makes the idempotency keys of `--no-resume` new ones; '' otherwise. */
  get salt(): string {
    return this.#store.get(SALT_KEY) ?? '';
  }

  find(resource: string, oldId: string): string | undefined {
    return this.#store.get(`${resource} ${oldId}`);
  }

  addAll(resource: string, pairs: readonly { oldId: string; newId: string }[]): void {
    this.#store.addAll(pairs.map(({ oldId, newId }) => [`${resource} ${oldId}`, newId] as const));
  }

  /** How the import ended; null while records or links are left. */
  get end(): FolderEnd | null {
    return JSON.parse(this.#store.get(END_KEY) ?? 'null') as FolderEnd | null;
  }

  finish(end: FolderEnd): void {
    this.#store.set(END_KEY, JSON.stringify(end));
  }

  close(): void {
    this.#store.close();
  }
}
