// Makes text safe to show: control characters become visible.

// Control characters, characters that reorder text, and Unicode line breaks.
const OBEYED = /(?![\n\t])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** Text for a terminal: control characters and escape sequences become visible; line breaks and tabs are kept. */
export function neutralize(text: string): string {
  return text.replace(OBEYED, pictureOf);
}

/** Text for one line of a terminal: as `neutralize`, but line breaks and tabs become visible too. */
export function neutralizeLine(text: string): string {
  return neutralize(text.replace(/\r?\n/g, '⏎')).replace(/\t/g, ' ');
}

function pictureOf(character: string): string {
  const code = character.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '␡' : '�';
}

/** A word for a shell, quoted if needed. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
