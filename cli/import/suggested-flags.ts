// Changes to the flags of an import, for the commands that it suggests.
import type { ImportFlags } from './flags.ts';

/** Flags to add; lists are appended to the given ones. */
export type SuggestedFlags = Partial<ImportFlags>;

// With these, only rejected rows are sent again; other flags make it a new import of the file.
const SETTINGS: readonly (keyof ImportFlags)[] = ['createMissing', 'createStages', 'onDuplicate', 'mapValue'];

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

/** A list with new items; a new item for the same column, value or field replaces the old one. */
function extended(before: readonly string[], more: readonly string[]): string[] {
  const about = (text: string): string => text.slice(0, text.lastIndexOf('='));
  const said = new Set(more.map(about));
  return [...before.filter((text) => !said.has(about(text))), ...more];
}

/** Whether a started import can continue with these changes. */
export function isOfSameImport(changes: SuggestedFlags): boolean {
  return Object.keys(changes).every((name) => SETTINGS.includes(name as keyof ImportFlags));
}
