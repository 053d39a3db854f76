// `key=value`, as filters and values of fields are written.
import { usageError } from '../errors.ts';

/** Splits `key=value` at the first equals sign. */
export function splitPair(text: string, what: string): { key: string; value: string } {
  const at = text.indexOf('=');
  if (at < 1)
    throw usageError(`${what} "${text}" does not have the form key=value.`, 'write it as key=value.');
  return { key: text.slice(0, at), value: text.slice(at + 1) };
}
