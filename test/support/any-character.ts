// Characters by chance, for texts of fast-check.
import fc from 'fast-check';

/**
 * Any character, halves of pairs too. The same as fast-check's `binary`, which puts all of them into a table first: that takes
 * as long as some hundred tests.
 */
export const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff })
  .map((codePoint) => String.fromCodePoint(codePoint));
