// Collects evidence from the cells of each column before a row is sent: formats of dates and numbers, IDs, and a sample.
import type { JsonValue } from '../../../db/model/json.ts';
import { isOurId } from '../../input/record-id.ts';
import type { SourceRow } from '../row.ts';
import { addDigitEvidence } from './date-counts.ts';
import { addDateEvidence, type DateEvidence, type SlashedEvidence } from './dates.ts';
import { TextCounts } from './distinct-texts.ts';
import { addNumberEvidence, type NumberEvidence } from './numbers.ts';

export interface ColumnEvidence extends DateEvidence {
  numbers: ReadonlyMap<string, NumberEvidence>;
  ids: ReadonlyMap<string, IdEvidence>;
  sample: Sample;
  /** The different texts of each column. */
  texts: Pick<TextCounts, 'of'>;
}

/** Values of the first rows that have any, by header, to guess what a column may mean. */
export interface Sample {
  rows: number;
  values: ReadonlyMap<string, readonly string[]>;
}

/** Whether a column has IDs of this service, and an example of another value. */
export interface IdEvidence {
  hasIds: boolean;
  other: string | null;
}

const SAMPLE_ROWS_MAX = 500;
const SAMPLE_CELLS_MAX = 50_000;
const ID_CHARACTERS = 36;
const EXAMPLE_CHARACTERS_MAX = 40;
// As in `- US$ 5`.
const SIGN_CHARACTERS_MAX = 6;

/** Collects the evidence of an input. */
export class Evidence implements ColumnEvidence {
  readonly slashed = new Map<string, SlashedEvidence>();
  readonly digits = new Map<string, string>();
  readonly numbers = new Map<string, NumberEvidence>();
  readonly ids = new Map<string, IdEvidence>();
  readonly texts = new TextCounts();

  readonly sample = { rows: 0, values: new Map<string, string[]>() };
  #sampledCells = 0;

  takeRow(entries: SourceRow['entries']): void {
    const isSampled = this.sample.rows < SAMPLE_ROWS_MAX && this.#sampledCells < SAMPLE_CELLS_MAX;
    if (isSampled) {
      this.sample.rows += 1;
      this.#sampledCells += entries.length;
    }
    for (const [header, value] of entries) {
      this.take(header, value);
      if (isSampled) this.#addToSample(header, value);
    }
  }

  #addToSample(header: string, value: JsonValue): void {
    const text = typeof value === 'object' ? '' : String(value).trim();
    if (text === '') return;
    const values = this.sample.values.get(header);
    if (values === undefined) this.sample.values.set(header, [text]);
    else values.push(text);
  }

  /** Takes one cell. */
  take(header: string, value: JsonValue): void {
    if (value === null || value === '') return;
    this.texts.take(header, value);
    if (typeof value !== 'string' || isNumeric(value)) {
      addDateEvidence(this.slashed, header, value);
      addDigitEvidence(this.digits, header, value);
      addNumberEvidence(this.numbers, header, value);
    }
    this.#weighId(header, value);
  }

  #weighId(header: string, value: JsonValue): void {
    const evidence = this.ids.get(header);
    // For most columns, only IDs are still of interest.
    if (
      evidence !== undefined &&
      (evidence.hasIds || (typeof value === 'string' && value.length < ID_CHARACTERS))
    ) {
      return;
    }
    const text = typeof value === 'string' ? value.trim() : JSON.stringify(value);
    // A list of IDs is known by its first one.
    const isOurs = isOurId(/^[["]*([^\s,;"\]]*)/.exec(text)?.[1] ?? '');
    if (text === '' || (evidence !== undefined && !isOurs)) return;
    const other = evidence?.other ?? (isOurs ? null : text.slice(0, EXAMPLE_CHARACTERS_MAX));
    this.ids.set(header, { hasIds: isOurs, other });
  }
}

// Whether a text may start like a date or number; this runs for every cell.
function isNumeric(text: string): boolean {
  for (let index = 0; index < Math.min(text.length, SIGN_CHARACTERS_MAX); index += 1) {
    const code = text.charCodeAt(index);
    // Digits, + , - . and the dollar; other currency signs are not ASCII.
    if ((code >= 43 && code <= 57) || code === 36 || code > 127) return true;
  }
  return false;
}
