// Which list a cursor belongs to.

/** Identifies a list: a cursor of one is rejected by every other. */
export interface ListIdentity {
  orgNumber: number;
  path: string;
  /** Order and filters, as sent in the request. */
  query: Readonly<Record<string, unknown>>;
}

/** A text that differs for each list; the order in which names were written makes no difference. */
export function nameOfList({ orgNumber, path, query }: ListIdentity): string {
  const names = Object.keys(query).sort();
  return JSON.stringify([orgNumber, path, names, names.map((name) => inOrder(query[name]))]);
}

// The same value with the names of its objects in order.
function inOrder(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(inOrder);
  const entries = Object.entries(value).map(([name, part]): [string, unknown] => [name, inOrder(part)]);
  return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)));
}
