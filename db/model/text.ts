// Text in the forms in which it is compared, stored and named.

const HASHED = 'sha256:';
// An index entry of PostgreSQL has at most about 2,700 bytes, and a UTF-16 unit takes at most three.
const KEY_UNITS_MAX = 256;

/**
 * The form in which text of any length is looked up: the text itself, or for long text its beginning and a hash. Keys sort
 * by the beginning of their texts, and the key of a long text never equals that of a short one.
 */
export function textKey(text: string): string {
  if (text.length <= KEY_UNITS_MAX) return text;
  return keyStart(text) + HASHED + Bun.SHA256.hash(text, 'hex');
}

/** The common prefix of the keys of all texts that begin with this text. */
export function keyStart(text: string): string {
  return text.slice(0, KEY_UNITS_MAX).toWellFormed();
}

/** The common prefix of the keys of all long texts that begin like this one; null for text that is its own key. */
export function longKeyStart(text: string): string | null {
  return text.length <= KEY_UNITS_MAX ? null : keyStart(text) + HASHED;
}

const FINAL_SIGMA = 'ς';
const SIGMA = 'σ';

/**
 * Lower-case text with one form of sigma. The one at the end of a word is spelled differently, so that the beginning of a word
 * would not be found in it.
 */
export function foldSigma(lower: string): string {
  return lower.replaceAll(FINAL_SIGMA, SIGMA);
}

/** Of all lower-case texts that `foldSigma` makes the same, the first by code points. */
export function firstSigmaForm(lower: string): string {
  return lower.replaceAll(SIGMA, FINAL_SIGMA);
}

/** The form in which emails and names are compared and looked up: lower case. */
export function caselessKey(value: string): string {
  return textKey(value.toLowerCase());
}

/** A domain in stored form: lower case, without scheme, path, any `www.` and trailing dots; idempotent. */
export function normalizeDomain(value: string): string {
  const host = value
    .trim()
    .toLowerCase()
    .replace(/^(?:[a-z][a-z0-9+.-]*:)?\/\//, '')
    .replace(/[/?#\\].*$/s, '')
    .replace(/^(?:www\.)+/, '');
  // From the end: a regular expression would retry at each of a thousand dots.
  const port = portStart(host);
  let end = port;
  while (host[end - 1] === '.') end--;
  return end === port ? host : host.slice(0, end) + host.slice(port);
}

// Where `:443` begins, or the end of the text without a port.
function portStart(host: string): number {
  let at = host.length;
  while (isDigit(host.charCodeAt(at - 1))) at--;
  return host[at - 1] === ':' ? at - 1 : host.length;
}

function isDigit(char: number): boolean {
  return char >= 0x30 && char <= 0x39;
}

const HOST = /^[\p{L}\p{M}\p{Nd}_-]+(?:\.[\p{L}\p{M}\p{Nd}_-]+)*(?::\d{1,5})?$/u;

/** Whether text is a domain in some spelling: its stored form is a host name, with or without a port. */
export function isDomain(text: string): boolean {
  return HOST.test(normalizeDomain(text));
}

const LOCAL_PART = /^[^\p{Z}\p{C}"(),.:;<>@[\\\]]+(?:\.[^\p{Z}\p{C}"(),.:;<>@[\\\]]+)*$/u;
const LABELS =
  /^[\p{L}\p{N}][\p{L}\p{M}\p{N}-]{0,62}(?<!-)(?:\.[\p{L}\p{N}][\p{L}\p{M}\p{N}-]{0,62}(?<!-))*$/u;

/** Whether text is an email address with non-ASCII characters, as defined by RFC 6531. */
export function isInternationalEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  return (
    at > 0 && /\P{ASCII}/u.test(text) && LOCAL_PART.test(text.slice(0, at)) && LABELS.test(text.slice(at + 1))
  );
}

/** Text that is not blank contains a character other than white space. */
export const NOT_BLANK = '\\S';

/** Whether text is empty or only white space. */
export function isBlank(text: string): boolean {
  return text.trim() === '';
}

/** The singular of a resource name: `companies` → `company`. */
export function singularOf(plural: string): string {
  if (plural === 'people') return 'person';
  return plural.replace(/ies$/, 'y').replace(/s$/, '');
}

/** A whole number with thousands separators: `10,000`. */
export function formatCount(value: number): string {
  return String(Math.round(value)).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** Alternatives as English lists them: `a`, `a or b`, `a, b, or c`. */
export function joinWithOr(words: readonly string[]): string {
  if (words.length < 3) return words.join(' or ');
  return `${words.slice(0, -1).join(', ')}, or ${words.at(-1)}`;
}

/** A noun, or a list of nouns, with its indefinite article: `an interaction`, `a user`. */
export function withArticle(noun: string): string {
  return `${/^[aeio]/i.test(noun) ? 'an' : 'a'} ${noun}`;
}

// What messages quote of values of any length.
const QUOTED_CHARACTERS_MAX = 120;

/** Text of at most the given number of code points; longer text ends in `…`. */
export function clip(text: string, charactersMax = QUOTED_CHARACTERS_MAX): string {
  if (text.length <= charactersMax) return text;
  // A code point has at most two units, so that the rest of a long text does not matter.
  const characters = [...text.slice(0, 2 * (charactersMax + 1))];
  return characters.length <= charactersMax ? text : `${characters.slice(0, charactersMax - 1).join('')}…`;
}
