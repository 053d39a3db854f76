// What of exported interactions cannot be made again: one needs its main contact, and names no other who took part.
import type { JsonValue } from '../../../db/model/json.ts';
import type { SurveyedInput } from '../plan/survey.ts';
import type { SourceRow } from '../row.ts';
import { KeyStore } from '../rows/key-store.ts';
import { idOf } from '../rows/note-levels.ts';
import { ErrorsFile } from '../session/errors-file.ts';

/** What is told of the interactions of a folder. */
export interface SkippedInteractions {
  /** Interactions whose contact is not in the folder, as it was deleted; they are not imported. */
  leftOut: number;
  /** Where those are kept; null where there are none. */
  file: string | null;
  /** Interactions that come in without others who took part, or with their contact's present company. */
  reduced: number;
}

const CONTACT_GONE = {
  code: 'VALIDATION_REQUIRED_FIELD',
  path: 'main_contact',
  message: 'the contact was deleted; with the id of another it can be imported',
};

/** The contacts of an exported folder, by which it is known which interactions can be made again. */
export class FolderContacts {
  readonly #companies = new KeyStore();

  /** Takes in the contacts that the folder has. */
  async read(input: SurveyedInput): Promise<void> {
    for await (const row of await input.rows()) this.#companies.add(idOf(row), textAt(row, 'company_id'));
  }

  /** Whether an interaction can be made again. */
  has(row: SourceRow): boolean {
    return row.fault !== null || this.#companies.get(textAt(row, 'main_contact')) !== undefined;
  }

  /** Keeps the interactions that cannot be made again beside their file, and counts those that lose others. */
  async sort(path: string, input: SurveyedInput): Promise<SkippedInteractions> {
    const kept = new ErrorsFile({
      ...{ path: null, input: path, suffix: 'left-out', format: 'ndjson', headers: null, earlier: null },
    });
    // What an earlier run has kept there is the same.
    kept.startOver(true);
    let [leftOut, reduced] = [0, 0];
    try {
      for await (const row of await input.rows()) {
        if (!this.has(row)) {
          leftOut += 1;
          kept.add(row, CONTACT_GONE);
        } else if (this.#losesOthers(row)) reduced += 1;
      }
      kept.sync();
    } finally {
      kept.close();
    }
    return { leftOut, file: kept.path, reduced };
  }

  close(): void {
    this.#companies.close();
  }

  #losesOthers(row: SourceRow): boolean {
    const contact = textAt(row, 'main_contact');
    const company = this.#companies.get(contact) ?? '';
    const isAlone = (ids: readonly string[], only: string): boolean => ids.every((id) => id === only);
    return !isAlone(listAt(row, 'contact_ids'), contact) || !isAlone(listAt(row, 'company_ids'), company);
  }
}

function valueAt(row: SourceRow, header: string): JsonValue {
  return row.entries.find(([name]) => name === header)?.[1] ?? null;
}

function textAt(row: SourceRow, header: string): string {
  const value = valueAt(row, header);
  return typeof value === 'string' ? value : '';
}

// In CSV a list is its JSON text.
function listAt(row: SourceRow, header: string): string[] {
  const value = valueAt(row, header);
  const list: unknown = typeof value === 'string' && value.startsWith('[') ? JSON.parse(value) : value;
  return Array.isArray(list) ? list.map(String) : [];
}
