// How a character is written by its number in URLs, mail source (quoted-printable), JSON, source code and HTML: regular expressions.

// What introduces a number. Text that was encoded again has more of the same, such as %2540, =3D40 or \\u0040; the limits
// keep the time that a text takes proportional to its length.
const PERCENT = '%(?:25){0,9}';
const EQUALS = `(?:=|${PERCENT}3d)(?:3d){0,9}`;
const BACKSLASH = `(?:\\\\|${PERCENT}5c)`;
const BACKSLASHES = `(?:\\\\{1,16}|(?:${PERCENT}5c){1,4})`;
const HEX = `(?:${PERCENT}(?:u00)?|${BACKSLASH}(?:x|u00))`;

// Bytes of letters and digits, and those of a dot and a plus.
const WORD_BYTE = '(?:3\\d|[46][1-9a-f]|[57][\\da])';
const JOINING_BYTE = '2[be]';
const OTHER_BYTE = `(?!${WORD_BYTE}|${JOINING_BYTE})[\\da-f]{2}`;
const OTHER_ASCII = `(?!${WORD_BYTE}|${JOINING_BYTE})[0-7][\\da-f]`;
// Upper case only, or "=be" would hide the beginning of an address such as beth@x.org.
const LATIN_BYTE = '(?-i:[89A-F][\\dA-F])';

/** A letter or digit. Not in quoted-printable, which leaves them as they are: "=50" is more often a value. */
export const WORD_ESCAPE = `${HEX}${WORD_BYTE}`;

/** A dot. */
export const DOT_ESCAPE = `(?:${HEX}|${EQUALS})2e`;

/** A dot or a plus. */
export const JOINING_ESCAPE = `(?:${HEX}|${EQUALS})${JOINING_BYTE}`;

/** Any other character; a line break or tab also as a letter. Entities of HTML end with such a character already. */
export const OTHER_ESCAPE = [
  `${HEX}${OTHER_BYTE}`,
  `${EQUALS}(?:${OTHER_ASCII}|${LATIN_BYTE})`,
  `(?:${PERCENT}|${BACKSLASH})u(?!00)[\\da-f]{4}`,
  `${BACKSLASH}[bfnrt]`,
].join('|');

/** A line break within a long line of mail source, which does not belong to the text. */
export const SOFT_BREAK = '=\\r?\\n';

/** Alternatives of a regular expression that match any of these characters, plain and in every escape. */
export function formsOf(variants: readonly string[]): string {
  const [wide, narrow] = [variants.filter((one) => one > '\x7f'), variants.filter((one) => one <= '\x7f')];
  return [
    ...variants.map((one) => RegExp.escape(one)),
    ...(narrow.length === 0 ? [] : [narrowEscapes(narrow)]),
    ...wide.map(wideEscapes),
  ].join('|');
}

// Together, because an introducer that is read once for all takes half the time.
function narrowEscapes(characters: readonly string[]): string {
  const codes = characters.map((one) => one.charCodeAt(0));
  const byte = `(?:${codes.map((code) => hex(code, 2)).join('|')})`;
  return [
    `${PERCENT}(?:u00)?${byte}`,
    `${EQUALS}${byte}`,
    `${BACKSLASHES}(?:(?:x|u00)${byte}|u\\{0*${byte}\\})`,
    `&#(?:0*(?:${codes.join('|')})|x0*${byte});`,
  ].join('|');
}

function wideEscapes(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => hex(character.charCodeAt(at), 4));
  const code = character.codePointAt(0) ?? 0;
  return [
    [...Buffer.from(character)].map((byte) => `(?:${PERCENT}|${EQUALS})${hex(byte, 2)}`).join(''),
    units.map((unit) => `${PERCENT}u${unit}`).join(''),
    units.map((unit) => `${BACKSLASHES}u${unit}`).join(''),
    `${BACKSLASHES}u\\{0*${hex(code, 1)}\\}`,
    `&#(?:0*${code}|x0*${hex(code, 1)});`,
  ].join('|');
}

function hex(number: number, digits: number): string {
  return number.toString(16).padStart(digits, '0');
}
