// Flags that would have an import do what it did not, and the command with them.
import type { ImportFlags } from './flags.ts';

/** Flags to be given as well; lists are added to those that are given. */
export type SuggestedFlags = Partial<ImportFlags>;

// With them the rows that were rejected are sent again; others make another import of the file.
const SETTINGS: readonly (keyof ImportFlags)[] = ['createMissing', 'onDuplicate', 'mapValue'];

/** The request with the changes, one after the other. */
export function withSuggestedFlags<R extends SuggestedFlags>(
  request: R,
  ...changes: readonly SuggestedFlags[]
): R {
  const changed: Record<string, unknown> = { ...request };
  for (const change of changes) {
    for (const [name, value] of Object.entries(change)) {
      const before = changed[name];
      const isList = Array.isArray(before) && Array.isArray(value);
      changed[name] = isList ? extended(before, value) : value;
    }
  }
  return changed as R;
}

/** A list with what it has not yet; what is said of a column, value or field again takes the place of what was. */
function extended(before: readonly string[], more: readonly string[]): string[] {
  const about = (text: string): string => text.slice(0, text.lastIndexOf('='));
  const said = new Set(more.map(about));
  return [...before.filter((text) => !said.has(about(text))), ...more];
}

/** Whether an import that has begun can be gone on with so changed. */
export function isOfSameImport(changes: SuggestedFlags): boolean {
  return Object.keys(changes).every((name) => SETTINGS.includes(name as keyof ImportFlags));
}
