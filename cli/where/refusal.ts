// The error for a condition that cannot be read: what is wrong, the text, and a caret at the place.
import { type CliError, usageError } from '../errors.ts';
import { stderr } from '../terminal/streams.ts';
import { neutralizeLine } from '../terminal/text.ts';
import { terminalWidth } from '../terminal/wrap.ts';

const INDENT = '  ';
const HELP = 'crm help query   (shows what --where takes)';
const CUT = '…';
const COLUMNS_MAX = 100;
// More than a line holds on either side.
const NEARBY_UNITS = 1_000;

/** Makes the error for a place in the text; the message begins in lower case and follows `--where: `. */
export type Refuse = (at: number, message: string, ...nextSteps: string[]) => CliError;

/** The errors for places in a text of `--where`. */
export function refusalsOf(text: string): Refuse {
  return (at, message, ...nextSteps) => {
    const columns = Math.min(terminalWidth(stderr), COLUMNS_MAX) - INDENT.length;
    const steps = nextSteps.length > 0 ? nextSteps : [HELP];
    return usageError(`--where: ${message}\n${excerpt(text, at, columns)}`, ...steps);
  };
}

/** The part of the text that fits around a place, and a line with a caret under the place. */
function excerpt(text: string, at: number, columns: number): string {
  const before = [...neutralizeLine(text.slice(Math.max(0, at - NEARBY_UNITS), at).toWellFormed())];
  const after = [...neutralizeLine(text.slice(at, at + NEARBY_UNITS).toWellFormed())];
  // The end of the text is a place too.
  const total = Bun.stringWidth([...before, ...after].join('')) + 1;
  if (total > columns) {
    // What stands before the place says more about it than what follows.
    cutStart(before, Math.max(1, Math.floor((columns * 2) / 3)));
    cutEnd(after, Math.max(1, columns - Bun.stringWidth(before.join(''))));
  }
  const shown = before.join('');
  return `${INDENT}${shown}${after.join('')}\n${INDENT}${' '.repeat(Bun.stringWidth(shown))}^`;
}

function cutStart(characters: string[], columns: number): void {
  let width = Bun.stringWidth(characters.join(''));
  if (width <= columns) return;
  let from = 0;
  while (from < characters.length && width > columns - CUT.length) {
    width -= Bun.stringWidth(characters[from] ?? '');
    from += 1;
  }
  characters.splice(0, from, CUT);
}

function cutEnd(characters: string[], columns: number): void {
  let width = 0;
  const end = characters.findIndex((character) => {
    width += Bun.stringWidth(character);
    return width > columns - CUT.length;
  });
  const rest = characters.slice(Math.max(0, end)).join('');
  if (end >= 0 && Bun.stringWidth(rest) > CUT.length) characters.splice(end, characters.length - end, CUT);
}
