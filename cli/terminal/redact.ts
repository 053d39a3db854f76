// Removes secrets from troubleshooting output: API keys, tokens in URLs, passwords, credentials of any scheme.

/** Replaces a secret. */
const NOT_SHOWN = '(not shown)';

const SECRET_WORD = '(?:passw(?:or)?d|secret|token|api[_-]?key|signature|credentials?|authorization)';
// Names of parameters and JSON keys; `sig` and `key` are so short that they must match as whole names.
const SECRET_NAME = String.raw`(?:[\w.-]*${SECRET_WORD}|sig|key)`;

const SECRETS: readonly [pattern: RegExp, shown: string][] = [
  [/(service_[a-z]+_)[0-9A-Za-z]+/g, `$1${NOT_SHOWN}`],
  [/(whsec_)[\w+/=-]+/g, `$1${NOT_SHOWN}`],
  [/\b(Bearer|Basic)(\s+)[\w.~+/=-]{12,}/gi, `$1$2${NOT_SHOWN}`],
  // Up to the last @ before a slash: a password that was not escaped can contain an @.
  [/\b([a-z][\w+.-]{0,20}:\/\/[^\s/?#:@"'<>]*):[^\s/?#"'<>]*@/gi, `$1:${NOT_SHOWN}@`],
  [
    new RegExp(String.raw`((?:[?&;]|\\u0026)${SECRET_NAME}=)(?!\(not shown)[^&;\s"'<>\\]+`, 'gi'),
    `$1${NOT_SHOWN}`,
  ],
  [new RegExp(String.raw`("${SECRET_NAME}"\s*:\s*)"(?:[^"\\]|\\.)*"?`, 'gi'), `$1"${NOT_SHOWN}"`],
];

const SECRET_HEADER = new RegExp(`${SECRET_WORD}|cookie|session|idempotency-key`, 'i');

/** The text without secrets; redacted text does not change. */
export function redact(text: string): string {
  return SECRETS.reduce((rest, [pattern, shown]) => rest.replace(pattern, shown), text);
}

/** A header as one line, without secret values; the scheme of a credential is shown. */
export function headerLine(name: string, value: string): string {
  if (!SECRET_HEADER.test(name)) return redact(`${name}: ${value}`);
  const [, scheme = ''] = /^((?:Bearer|Basic|Digest) )/i.exec(value) ?? [];
  return `${name}: ${scheme}${NOT_SHOWN}`;
}

// How much of a text is examined, and how much of its end is left out, because it may contain half a secret.
const WINDOW_CHARACTERS = 8_192;
const EDGE_CHARACTERS = 512;

/** The beginning of a text without secrets, at most `max` characters, which may be a few thousand. */
export function redactedStart(text: string, max: number): { shown: string; isWhole: boolean } {
  const start = redact(text.slice(0, WINDOW_CHARACTERS));
  const isSeenWhole = text.length <= WINDOW_CHARACTERS;
  const shown = start.slice(0, isSeenWhole ? max : Math.min(max, start.length - EDGE_CHARACTERS));
  return { shown, isWhole: isSeenWhole && shown.length === start.length };
}
