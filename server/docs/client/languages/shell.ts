// Quoting for a shell.

const PLAIN = /^[\w@%+=:,./-]+$/;

/** A text as one word of a command, in single quotes. */
export function inQuotes(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A text as one word of a command, in quotes only where it needs them. */
export function asWord(text: string): string {
  return PLAIN.test(text) ? text : inQuotes(text);
}
