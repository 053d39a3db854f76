// Reads emails from cells: one or several, each bare, in brackets after a name, or as a mailto: link.

// Only one way to match an @: otherwise a cell full of them would take quadratic time.
const ADDRESS = String.raw`(?:mailto:)?([^\s@,;:|<>()"[\]]+@[^\s,;:|<>()"[\]]+)`;
const NAMED = String.raw`[^@<>()]*?[<(]\s*${ADDRESS}\s*[>)]`;
const SEPARATOR = String.raw`(?:$|(?:[,;|\s]|:::)+)`;
const ENTRY = new RegExp(`(?:${ADDRESS}|${NAMED})${SEPARATOR}`, 'iy');

/** The emails in `a@x`, `Ada Lovelace (ada@x)`, `a@x ::: b@x` and similar, without duplicates; [] for other text. */
export function addressesIn(text: string): string[] {
  const value = text.trim();
  const addresses = new Map<string, string>();
  for (let at = 0; at < value.length; ) {
    ENTRY.lastIndex = at;
    const match = ENTRY.exec(value);
    const address = match?.[1] ?? match?.[2];
    if (address === undefined) return [];
    const key = address.toLowerCase();
    if (!addresses.has(key)) addresses.set(key, address);
    at = ENTRY.lastIndex;
  }
  return [...addresses.values()];
}
