// Short IDs, as tables show them: when a record was created, and which one of that millisecond it is, in ten characters.

// Without I, L, O and U, which people misread.
const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';
const SHORT = /^[0-9a-hjkmnp-tv-z]{10}$/;
const MISREAD: Readonly<Record<string, string>> = { i: '1', l: '1', o: '0' };
const OF_ONE_MS = 256;
// Other words of ten letters would mean times that no record has.
const FIRST_MS = Date.UTC(2020, 0);
const CLOCK_ERROR_MS = 86_400_000;

/** The form of an ID without dashes: its time, the digits that count, and randomness. */
const MS_DIGITS = 12;
const COUNT_PLACE = 20;
const WHOLE = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;
const BEGINNING = /^0[0-9a-f-]{3,34}$/i;

/** The IDs that a text can mean: all have their time in this range. */
export interface MeantIds {
  fromMs: number;
  /** The last millisecond. */
  untilMs: number;
  has(id: string): boolean;
}

/** The short form of an ID of this service; any other text unchanged. */
export function shortIdOf(id: string): string {
  if (!WHOLE.test(id)) return id;
  const digits = id.replaceAll('-', '');
  const ms = Number.parseInt(digits.slice(0, MS_DIGITS), 16);
  let rest = ms * OF_ONE_MS + Number.parseInt(digits.slice(COUNT_PLACE, COUNT_PLACE + 2), 16);
  let text = '';
  for (; rest > 0; rest = Math.floor(rest / DIGITS.length)) text = DIGITS.charAt(rest % DIGITS.length) + text;
  return idRangeOf(text) === undefined ? id : text;
}

/** The IDs that a short ID, or the beginning of an ID, means; undefined for other text, whole IDs included. */
export function idRangeOf(text: string): MeantIds | undefined {
  const word = text.trim().toLowerCase();
  return BEGINNING.test(word) && !WHOLE.test(word) ? rangeOfBeginning(word) : rangeOfShortId(word);
}

function rangeOfShortId(word: string): MeantIds | undefined {
  const read = word.replace(/[ilo]/g, (letter) => MISREAD[letter] ?? letter);
  if (!SHORT.test(read)) return undefined;
  const value = [...read].reduce((sum, digit) => sum * DIGITS.length + DIGITS.indexOf(digit), 0);
  const ms = Math.floor(value / OF_ONE_MS);
  if (ms < FIRST_MS || ms > Date.now() + CLOCK_ERROR_MS) return undefined;
  return { fromMs: ms, untilMs: ms, has: (id) => shortIdOf(id) === read };
}

function rangeOfBeginning(word: string): MeantIds {
  const digits = word.replaceAll('-', '');
  const time = digits.slice(0, MS_DIGITS);
  return {
    fromMs: Number.parseInt(time.padEnd(MS_DIGITS, '0'), 16),
    untilMs: Number.parseInt(time.padEnd(MS_DIGITS, 'f'), 16),
    has: (id) => id.replaceAll('-', '').startsWith(digits),
  };
}
