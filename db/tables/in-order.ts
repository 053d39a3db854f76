// Puts rows into an order that does not depend on the plan of a query: the log shows what is written in it.

/** The rows in the order of these keys, each of which is given once. */
export function inOrderOf<R>(keys: readonly string[], rows: readonly R[], keyOf: (row: R) => unknown): R[] {
  const found = new Map(rows.map((row) => [keyOf(row), row]));
  return keys.flatMap((key) => found.get(key) ?? []);
}
