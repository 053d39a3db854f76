// Which new record an exported one has become, kept in a folder beside the export so that a cut-off import can go on.
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CliError, systemFault } from '../../errors.ts';
import { isOwnFolder, kindAt, replaceFile, writeAt } from '../../files/private-file.ts';
import { KeyStore } from '../rows/key-store.ts';
import { JOURNAL_SUFFIX } from '../session/journal.ts';

const ABOUT_NAME = 'about.json';
const END_KEY = 'end';

/** Whose map it is. */
interface About {
  /** Stands for export, server and organization. */
  subject: string;
  /** Makes the idempotency keys of `--no-resume` new ones; '' otherwise. */
  salt: string;
}

/** How an import of a folder ended. */
export interface FolderEnd {
  onDuplicate: string;
  rejected: number;
}

/** Old ids to new ones, by resource (plural; `stages` too). */
export class IdMap {
  /** The folder of the journals. */
  readonly folder: string;
  readonly salt: string;
  readonly #store: KeyStore;

  /** Opens the map in a folder that an import has made. */
  constructor(folder: string, salt = '') {
    this.folder = folder;
    this.salt = salt;
    this.#store = new KeyStore(join(folder, 'ids'));
  }

  /** Begins a map in place of what an earlier import has left there. */
  static begin(folder: string, about: About): IdMap {
    rmSync(folder, { recursive: true, force: true });
    try {
      mkdirSync(folder, { mode: 0o700 });
      const bytes = Buffer.from(JSON.stringify(about));
      replaceFile(join(folder, ABOUT_NAME), (descriptor) => writeAt(descriptor, bytes, 0));
    } catch (cause) {
      throw new CliError(`There can be no journal at ${folder}: ${systemFault(cause)}.`, {
        nextSteps: ['permit writing there, or copy the exported folder to where you may write.'],
        cause,
      });
    }
    return new IdMap(folder, about.salt);
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
      const about = readAbout(folder);
      if (about?.subject === subject) return { folder, map: new IdMap(folder, about.salt) };
    }
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

function readAbout(folder: string): About | undefined {
  try {
    return JSON.parse(readFileSync(join(folder, ABOUT_NAME), 'utf8')) as About;
  } catch {
    return undefined;
  }
}
