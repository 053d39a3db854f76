// Finds exported interactions that cannot be created again: without a main contact, too similar, or with many participants.

import type { JsonValue } from '../../../db/model/json.ts';
import { REFERENCES_MAX } from '../../../db/model/json-fields.ts';
import { interactions } from '../../../db/model/resources/interactions.ts';
import { sha256 } from '../../files/digest.ts';
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
const LIKE_ANOTHER = {
  code: 'RESOURCE_CONFLICT',
  path: 'primary_id',
  message: 'has the contact, type, direction, title and date of another one; set a primary_id to import it',
};
/** What tells interactions apart that have no `primary_id`. */
const IDENTITY = ['main_contact', 'type', 'direction', 'title', 'interaction_date'];

/** What could not be created again. */
export type InteractionsLeftOut = Omit<LeftOut, 'references_left_out'>;

/** The contacts of an exported folder, which decide which interactions can be created again. */
export class FolderContacts {
  readonly #companies = new KeyStore();
  /** The IDs of the first interactions that have what tells them apart; a create would find these instead of others. */
  readonly #firsts = new KeyStore();

  /** Adds the contacts in the folder. */
  async read(input: SurveyedInput): Promise<void> {
    for await (const row of await input.rows()) this.#companies.add(idOf(row), textAt(row, 'company_id'));
  }

  /** Whether an interaction can be created again, after all were sorted. */
  has(row: SourceRow): boolean {
    return this.#obstacle(row) === null;
  }

  /**
   * Saves interactions that cannot be created again next to their file, as `shown`, and counts those that lose
   * participants.
   */
  async sort(
    path: string,
    input: SurveyedInput,
    shown: (row: SourceRow) => SourceRow,
  ): Promise<InteractionsLeftOut> {
    const { format, headers } = input;
    const kept = new ErrorsFile({
      ...{ path: null, input: path, suffix: 'left-out', format, headers, earlier: null },
    });
    // The file of an earlier run has the same content.
    kept.startOver(true);
    let [gone, repeated, reduced] = [0, 0, 0];
    try {
      for await (const row of await input.rows()) {
        if (row.fault === null && textAt(row, 'primary_id') === '')
          this.#firsts.add(identityOf(row), idOf(row));
        const obstacle = this.#obstacle(row);
        if (obstacle !== null) kept.add(shown(row), obstacle);
        if (obstacle === CONTACT_GONE) gone += 1;
        else if (obstacle === LIKE_ANOTHER) repeated += 1;
        else if (this.#tooMany(row)) reduced += 1;
      }
      kept.sync();
    } finally {
      kept.close();
    }
    return {
      ...{ interactions_left_out: gone, interactions_repeated: repeated, left_out_file: kept.path },
      interactions_reduced: reduced,
    };
  }

  /** The rows, each with no more participants than a create accepts. */
  async *reduced(rows: AsyncIterable<SourceRow>): AsyncGenerator<SourceRow> {
    for await (const row of rows) {
      const isLong = LISTS.some((name) => listAt(row, name).length > REFERENCES_MAX);
      yield isLong ? withLists(row, (name) => this.#further(row, name).slice(0, REFERENCES_MAX)) : row;
    }
  }

  close(): void {
    this.#companies.close();
    this.#firsts.close();
  }

  #obstacle(row: SourceRow): typeof CONTACT_GONE | null {
    if (row.fault !== null) return null;
    if (this.#companies.get(textAt(row, 'main_contact')) === undefined) return CONTACT_GONE;
    if (textAt(row, 'primary_id') !== '') return null;
    return this.#firsts.get(identityOf(row)) === idOf(row) ? null : LIKE_ANOTHER;
  }

  #tooMany(row: SourceRow): boolean {
    return LISTS.some((name) => this.#further(row, name).length > REFERENCES_MAX);
  }

  /** Those in a list that a create does not add by itself. */
  #further(row: SourceRow, name: string): string[] {
    const contact = textAt(row, 'main_contact');
    const added = name === 'contact_ids' ? contact : this.#companies.get(contact);
    return listAt(row, name).filter((id) => id !== added);
  }
}

/** The lists of participants. */
const LISTS = Object.entries(interactions.fields).flatMap(([name, { kind }]) =>
  kind === 'references' ? [name] : [],
);

function withLists(row: SourceRow, listFor: (name: string) => string[]): SourceRow {
  const entries = row.entries.map(([name, value]): [string, JsonValue] => [
    name,
    LISTS.includes(name) ? listFor(name) : value,
  ]);
  return { ...row, entries };
}

function identityOf(row: SourceRow): string {
  return sha256(JSON.stringify(IDENTITY.map((name) => valueAt(row, name))));
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
