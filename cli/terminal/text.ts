// Makes text safe to show: what a terminal would obey becomes something it only prints.

// Control characters, the characters that reorder text, and Unicode's own line breaks.
const OBEYED = /(?![\n\t])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** Text for a terminal: control characters and escape sequences are shown, not obeyed; line breaks and tabs stay. */
export function neutralize(text: string): string {
  return text.replace(OBEYED, pictureOf);
}

/** Text for one line of a terminal: as `neutralize`, with line breaks and tabs shown too. */
export function neutralizeLine(text: string): string {
  return neutralize(text.replace(/\r?\n/g, '⏎')).replace(/\t/g, ' ');
}

function pictureOf(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '␡' : '�';
}

/** A word as a shell takes it: quoted where it must be. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
