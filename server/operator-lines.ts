// What a running server says to its operator on stderr.
import type { DatabaseError } from '../db/store.ts';
import type { LineWriter } from './logging/line-writer.ts';
import { capitalized } from './v2/naming.ts';

/** Says that a part of the server failed, and ends the process; a restart serves the `purpose`. */
export function exitOnFailure(lines: LineWriter, of: string, error: unknown, purpose: string): void {
  tell(
    lines,
    `${of} failed: ${error instanceof Error ? error.message : error}`,
    `The server stops now; restarting it ${purpose}.`,
  );
  process.exit(1);
}

/** Says what is wrong with the database, or with null that it works again. */
export function tellTrouble(lines: LineWriter, trouble: DatabaseError | null, effect: string): void {
  if (trouble === null) tell(lines, 'The database is working again; writes have resumed.');
  else tell(lines, trouble.message, effect, ...trouble.nextSteps.map((step) => `Next: ${capitalized(step)}`));
}

/** Writes lines for the operator; flushed, because the process could be about to exit. */
export function tell(lines: LineWriter, ...texts: readonly string[]): void {
  for (const text of texts) lines.add(text);
  lines.flush();
}
