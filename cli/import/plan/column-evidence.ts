// Collects evidence from the cells of each column before a row is sent: formats of dates and numbers, IDs, and a sample.
import type { JsonValue } from '../../../db/model/json.ts';
import { isOurId } from '../../input/record-id.ts';
import { addDigitEvidence } from './date-counts.ts';
import { addDateEvidence, type DateEvidence, type SlashedEvidence } from './dates.ts';
import { addNumberEvidence, type NumberEvidence } from './numbers.ts';

export interface ColumnEvidence extends DateEvidence {
  numbers: ReadonlyMap<string, NumberEvidence>;
  ids: ReadonlyMap<string, IdEvidence>;
}

/** Whether a column has IDs of this service, and an example of another value. */
export interface IdEvidence {
  hasIds: boolean;
  other: string | null;
}

const ID_CHARACTERS = 36;
const EXAMPLE_CHARACTERS_MAX = 40;
// As in `- US$ 5`.
const SIGN_CHARACTERS_MAX = 6;

/** Collects the evidence of an input, cell by cell. */
export class Evidence implements ColumnEvidence {
  readonly slashed = new Map<string, SlashedEvidence>();
  readonly digits = new Map<string, string>();
  readonly numbers = new Map<string, NumberEvidence>();
  readonly ids = new Map<string, IdEvidence>();

  take(header: string, value: JsonValue): void {
    if (value === null || value === '') return;
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
    const isOurs = isOurId(text);
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
