// What can be wrong with a PostgreSQL server, in words for the operator and with the next steps to take.

/** PostgreSQL's code of an error (SQLSTATE), '' if it carries none. */
export function sqlState(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('errno' in error)) return '';
  return /^[0-9A-Z]{5}$/.test(String(error.errno)) ? String(error.errno) : '';
}

// Connections that broke, servers that stop or start, resources that are used up, and time that ran out.
const UNAVAILABLE = /^(?:08|53|57|58|25P03|55P03)/;

/** Whether the database cannot be reached or written for now. */
export function isUnreachable(error: unknown): boolean {
  if (UNAVAILABLE.test(sqlState(error))) return true;
  return (
    error instanceof Error &&
    'code' in error &&
    /^ERR_POSTGRES_(?!SERVER_ERROR)|^ECONN/.test(String(error.code))
  );
}

/** Whether after this error of a statement its transaction is gone. */
export function endsTransaction(error: unknown): boolean {
  return isUnreachable(error);
}
