// Which new record an exported one has become, kept beside the export so that a cut-off import can go on.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { KeyStore } from '../rows/key-store.ts';

const SUBJECT_KEY = 'subject';
const FINISHED_KEY = 'finished';

/** Old ids to new ones, by resource (plural; `stages` too). */
export class IdMap {
  readonly #store: KeyStore;

  private constructor(store: KeyStore) {
    this.#store = store;
  }

  /** Opens the map of a folder; one of another export, server or organization (`subject`) is begun anew. */
  static open(folder: string, subject: string, isResumed: boolean): IdMap {
    const path = pathIn(folder);
    if (!isResumed) rmSync(path, { force: true });
    let store = new KeyStore(path);
    if ((store.get(SUBJECT_KEY) ?? subject) !== subject) {
      store.close();
      rmSync(path, { force: true });
      store = new KeyStore(path);
    }
    store.set(SUBJECT_KEY, subject);
    return new IdMap(store);
  }

  /** The map that an import of the folder has left. */
  static reopen(folder: string): IdMap {
    return new IdMap(new KeyStore(pathIn(folder)));
  }

  find(resource: string, oldId: string): string | undefined {
    return this.#store.get(`${resource} ${oldId}`);
  }

  addAll(resource: string, pairs: readonly { oldId: string; newId: string }[]): void {
    this.#store.addAll(pairs.map(({ oldId, newId }) => [`${resource} ${oldId}`, newId] as const));
  }

  /** Whether records and links are all dealt with. */
  get isFinished(): boolean {
    return this.#store.get(FINISHED_KEY) !== undefined;
  }

  finish(): void {
    this.#store.set(FINISHED_KEY, 'yes');
  }

  close(): void {
    this.#store.close();
  }
}

function pathIn(folder: string): string {
  return join(folder, 'import-all.crm-journal');
}
