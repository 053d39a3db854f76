// Which list a cursor belongs to.

/** Identifies a list: a cursor of one is rejected by every other. */
export interface ListIdentity {
  orgNumber: number;
  path: string;
  /** Order and filters, as sent in the request. */
  query: Readonly<Record<string, unknown>>;
}

/** A text that differs for each list. */
export function nameOfList({ orgNumber, path, query }: ListIdentity): string {
  const names = Object.keys(query).sort();
  return JSON.stringify([orgNumber, path, names, names.map((name) => query[name])]);
}
