// How long a text can be that records are looked up by: a longer one finds nothing, and may not fit into a request.
import { limitFault } from '../../db/model/faults.ts';
import { NAME_CHARACTERS_MAX } from '../../db/model/fields.ts';

/** What a text that no name, email or domain can have is refused for; undefined if it can be looked up. */
export function lengthFault(text: string): { code: string; message: string } | undefined {
  return isLonger(text, NAME_CHARACTERS_MAX) ? limitFault('', 'maxLength', NAME_CHARACTERS_MAX) : undefined;
}

/** The same for a stage, which can be written as `Name (Pipeline)`. */
export function stageLengthFault(text: string): { code: string; message: string } | undefined {
  return isLonger(text, 2 * NAME_CHARACTERS_MAX + ' ()'.length) ? lengthFault(text) : undefined;
}

// A code point has at most two units, so that long texts need not be counted.
function isLonger(text: string, charactersMax: number): boolean {
  if (text.length <= charactersMax) return false;
  return text.length > 2 * charactersMax || [...text].length > charactersMax;
}
