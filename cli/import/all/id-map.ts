// Maps exported IDs to new ones, in a folder next to the export, so that an interrupted import can continue.
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CliError, systemFault } from '../../errors.ts';
import { isOwnFolder, kindAt, replaceFile, writeAt } from '../../files/private-file.ts';
import { KeyStore } from '../rows/key-store.ts';
import { JOURNAL_SUFFIX } from '../session/journal.ts';

const ABOUT_NAME = 'about.json';
const END_KEY = 'end';

/** What the map belongs to. */
interface About {
  /** Identifies export, server and organization. */
  subject: string;
  /** Makes new idempotency keys for `--no-resume`; '' otherwise. */
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

  /** Opens the map in a folder that an import created. */
  constructor(folder: string, salt = '') {
    this.folder = folder;
    this.salt = salt;
    this.#store = new KeyStore(join(folder, 'ids'));
  }

  /** Creates a map, replacing that of an earlier import. */
  static begin(folder: string, about: About): IdMap {
    rmSync(folder, { recursive: true, force: true });
    try {
      mkdirSync(folder, { mode: 0o700 });
      const bytes = Buffer.from(JSON.stringify(about));
      replaceFile(join(folder, ABOUT_NAME), (descriptor) => writeAt(descriptor, bytes, 0));
    } catch (cause) {
      throw new CliError(`Cannot create the journal ${folder}: ${systemFault(cause)}.`, {
        nextSteps: ['allow writing there, or copy the exported folder to a place where you can write.'],
        cause,
      });
    }
    return new IdMap(folder, about.salt);
  }

  /** The map of an earlier import of the exported folder, if any, and its path. */
  static find(exported: string, subject: string): { folder: string; map: IdMap | undefined } {
    const base = resolve(exported);
    for (let number = 1; ; number += 1) {
      const folder = `${base}${JOURNAL_SUFFIX}${number === 1 ? '' : `.${number}`}`;
      if (kindAt(folder) === 'nothing') return { folder, map: undefined };
      if (!isOwnFolder(folder)) {
        throw new CliError(`Cannot use the journal ${folder}: it is not a folder that belongs to you.`, {
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
