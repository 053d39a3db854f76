// Finds exported interactions that cannot be created again: they need their main contact, and no other participants.
import type { JsonValue } from '../../../db/model/json.ts';
import type { SurveyedInput } from '../plan/survey.ts';
import type { SourceRow } from '../row.ts';
import { KeyStore } from '../rows/key-store.ts';
import { idOf } from '../rows/note-levels.ts';
import { ErrorsFile } from '../session/errors-file.ts';
import type { LeftOut } from './folder-job.ts';

const CONTACT_GONE = {
  code: 'VALIDATION_REQUIRED_FIELD',
  path: 'main_contact',
  message: 'the contact was deleted; set the ID of another contact to import it',
};

/** The contacts of an exported folder, which decide which interactions can be created again. */
export class FolderContacts {
  readonly #companies = new KeyStore();

  /** Adds the contacts in the folder. */
  async read(input: SurveyedInput): Promise<void> {
    for await (const row of await input.rows()) this.#companies.add(idOf(row), textAt(row, 'company_id'));
  }

  /** Whether an interaction can be created again. */
  has(row: SourceRow): boolean {
    return row.fault !== null || this.#companies.get(textAt(row, 'main_contact')) !== undefined;
  }

  /** Saves interactions that cannot be created again next to their file, and counts those that lose participants. */
  async sort(path: string, input: SurveyedInput): Promise<Omit<LeftOut, 'references_left_out'>> {
    const kept = new ErrorsFile({
      ...{ path: null, input: path, suffix: 'left-out', format: 'ndjson', headers: null, earlier: null },
    });
    // The file of an earlier run has the same content.
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
    return { interactions_left_out: leftOut, left_out_file: kept.path, interactions_reduced: reduced };
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
