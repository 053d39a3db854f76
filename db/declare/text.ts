// Text in the forms in which it is compared, kept and named.

/** The form in which emails and names are compared: lower case. */
export function caselessKey(value: string): string {
  return value.toLowerCase();
}

/** A domain in stored form: lower case, without scheme, `www.`, path and trailing dot; '' if nothing is left. */
export function normalizeDomain(value: string): string {
  return value
    .trim()
    .toLowerCase()
    .replace(/^(?:[a-z][a-z0-9+.-]*:)?\/\//, '')
    .replace(/[/?#\\].*$/s, '')
    .replace(/\.+$/, '')
    .replace(/^www\./, '');
}

/** What one of many is called: `companies` → `company`. */
export function singularOf(plural: string): string {
  return plural.replace(/ies$/, 'y').replace(/s$/, '');
}
