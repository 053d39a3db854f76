// Keeps what others wrote within its line, so that it cannot pass for the words of crm.

/** JSON on one line. */
export function jsonLine(value: object): string {
  return oneLine(JSON.stringify(value));
}

// Some readers end lines at characters that JSON does not escape.
const ENDING = /[\p{Cc}\u2028\u2029]/gu;

/** Text on one line: line ends and control characters are escaped as in JSON. */
export function oneLine(text: string): string {
  return text.replace(ENDING, (character) => {
    const escaped = JSON.stringify(character).slice(1, -1);
    return escaped === character ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}` : escaped;
  });
}
