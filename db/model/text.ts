// Text in the forms in which it is compared, kept and named.

// What PostgreSQL takes as an entry of an index has at most some 2,700 bytes; of UTF-16's units none takes more than three.
const KEY_UNITS_MAX = 256;

/**
 * The form in which text of any length is looked up: itself, but what is long by its beginning and a hash. So keys are in
 * the order of what their texts begin with, and no key of a long text is that of a short one.
 */
export function textKey(text: string): string {
  if (text.length <= KEY_UNITS_MAX) return text;
  return `${keyStart(text)}sha256:${Bun.SHA256.hash(text, 'hex')}`;
}

/** What the keys of all texts begin with that begin with this one. */
export function keyStart(text: string): string {
  return text.slice(0, KEY_UNITS_MAX).toWellFormed();
}

/** The form in which emails and names are compared and looked up: lower case. */
export function caselessKey(value: string): string {
  return textKey(value.toLowerCase());
}

/** A domain in stored form: lower case, without scheme, path, any `www.` and trailing dots; normalised again, the same. */
export function normalizeDomain(value: string): string {
  const host = value
    .trim()
    .toLowerCase()
    .replace(/^(?:[a-z][a-z0-9+.-]*:)?\/\//, '')
    .replace(/[/?#\\].*$/s, '')
    .replace(/^(?:www\.)+/, '');
  // From the end: an expression would try each of a thousand dots again.
  const port = portStart(host);
  let end = port;
  while (host[end - 1] === '.') end--;
  return end === port ? host : host.slice(0, end) + host.slice(port);
}

// Where `:443` begins, or the text ends where it has no port.
function portStart(host: string): number {
  let at = host.length;
  while (isDigit(host.charCodeAt(at - 1))) at--;
  return host[at - 1] === ':' ? at - 1 : host.length;
}

function isDigit(char: number): boolean {
  return char >= 0x30 && char <= 0x39;
}

const HOST = /^[\p{L}\p{M}\p{Nd}_-]+(?:\.[\p{L}\p{M}\p{Nd}_-]+)*(?::\d{1,5})?$/u;

/** Whether text is a domain in some spelling: what its stored form leaves is a host name, with a port or without. */
export function isDomain(text: string): boolean {
  return HOST.test(normalizeDomain(text));
}

const LOCAL_PART = /^[^\p{Z}\p{C}"(),.:;<>@[\\\]]+(?:\.[^\p{Z}\p{C}"(),.:;<>@[\\\]]+)*$/u;
const LABELS =
  /^[\p{L}\p{N}][\p{L}\p{M}\p{N}-]{0,62}(?<!-)(?:\.[\p{L}\p{N}][\p{L}\p{M}\p{N}-]{0,62}(?<!-))*$/u;

/** Whether text is an email address of characters beyond ASCII, as RFC 6531 has them. */
export function isInternationalEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  return (
    at > 0 && /\P{ASCII}/u.test(text) && LOCAL_PART.test(text.slice(0, at)) && LABELS.test(text.slice(at + 1))
  );
}

/** Whether text says nothing: it is empty, or white space alone. */
export function isBlank(text: string): boolean {
  return text.trim() === '';
}

/** What one of many is called: `companies` → `company`. */
export function singularOf(plural: string): string {
  if (plural === 'people') return 'person';
  return plural.replace(/ies$/, 'y').replace(/s$/, '');
}

/** A noun, or a list of nouns, with the article that its sound asks for: `an interaction`, `a user`. */
export function withArticle(noun: string): string {
  return `${/^[aeio]/i.test(noun) ? 'an' : 'a'} ${noun}`;
}
