// Takes secrets out of what is told for troubleshooting: API keys, tokens in addresses, passwords, credentials of any scheme.

/** Stands where a secret was. */
export const NOT_SHOWN = '(not shown)';

const SECRET_WORD = '(?:passw(?:or)?d|secret|token|api[_-]?key|signature|credentials?|authorization)';
// Names of parameters and of JSON's members; `sig` and `key` are so short that they stand alone.
const SECRET_NAME = String.raw`(?:[\w.-]*${SECRET_WORD}|sig|key)`;

const SECRETS: readonly [pattern: RegExp, shown: string][] = [
  [/(service_[a-z]+_)[0-9A-Za-z]+/g, `$1${NOT_SHOWN}`],
  [/\b(Bearer|Basic)(\s+)[\w.~+/=-]{12,}/gi, `$1$2${NOT_SHOWN}`],
  // Up to the last @ before a slash: a password that should have been escaped can have one in it.
  [/\b([a-z][\w+.-]{0,20}:\/\/[^\s/?#:@"'<>]*):[^\s/?#"'<>]*@/gi, `$1:${NOT_SHOWN}@`],
  [
    new RegExp(String.raw`((?:[?&;]|\\u0026)${SECRET_NAME}=)(?!\(not shown)[^&;\s"'<>\\]+`, 'gi'),
    `$1${NOT_SHOWN}`,
  ],
  [new RegExp(String.raw`("${SECRET_NAME}"\s*:\s*)"(?:[^"\\]|\\.)*"?`, 'gi'), `$1"${NOT_SHOWN}"`],
];

const SECRET_HEADER = new RegExp(`${SECRET_WORD}|cookie|session|idempotency-key`, 'i');

/** The text without what only its owner may know; where that is done already, nothing is changed. */
export function redact(text: string): string {
  return SECRETS.reduce((rest, [pattern, shown]) => rest.replace(pattern, shown), text);
}

/** A header as one line, its value left out where that is a secret; of a credential the scheme is shown. */
export function headerLine(name: string, value: string): string {
  if (!SECRET_HEADER.test(name)) return redact(`${name}: ${value}`);
  const [, scheme = ''] = /^((?:Bearer|Basic|Digest) )/i.exec(value) ?? [];
  return `${name}: ${scheme}${NOT_SHOWN}`;
}

// How far a text is looked at, and how much of its end is left out, where a secret may have been cut in two.
const WINDOW_CHARACTERS = 8_192;
const EDGE_CHARACTERS = 512;

/** The beginning of a text of any length without secrets, `max` characters at most, which are up to a few thousand. */
export function redactedStart(text: string, max: number): { shown: string; isWhole: boolean } {
  const start = redact(text.slice(0, WINDOW_CHARACTERS));
  const isSeenWhole = text.length <= WINDOW_CHARACTERS;
  const shown = start.slice(0, isSeenWhole ? max : Math.min(max, start.length - EDGE_CHARACTERS));
  return { shown, isWhole: isSeenWhole && shown.length === start.length };
}
