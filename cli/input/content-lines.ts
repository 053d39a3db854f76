// Content lines, which iCalendar and vCard share: a name, parameters, a value.

// Real lines have a few. The parser searches for the end of all parameters at each of them.
const PARAMETERS_MAX = 100;

/** Whether any line of a text, which may be folded, has too many parameters. */
export function hasTooManyParameters(text: string): boolean {
  let count = 0;
  let isValue = false;
  let isQuoted = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === '\n') {
      const isFolded = text[at + 1] === ' ' || text[at + 1] === '\t';
      if (!isFolded) {
        count = 0;
        isValue = false;
        isQuoted = false;
      }
    } else if (isValue) continue;
    else if (character === '"') isQuoted = !isQuoted;
    else if (character === ':' && !isQuoted) isValue = true;
    else if ((character === ';' || character === '=') && ++count > 2 * PARAMETERS_MAX) return true;
  }
  return false;
}

/** The message for such a line. */
export const TOO_MANY_PARAMETERS = `has a line with more than ${PARAMETERS_MAX} parameters`;
