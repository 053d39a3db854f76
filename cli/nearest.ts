// Suggests the name that an unknown one was probably meant to be.
import { nearest } from '../db/model/nearest.ts';

export { nearest };

/** ` Did you mean X?` with the space before it, or nothing. */
export function didYouMean(given: string, known: readonly string[]): string {
  const name = nearest(given, known);
  return name === undefined ? '' : ` Did you mean ${name}?`;
}
