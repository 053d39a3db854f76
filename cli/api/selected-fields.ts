// `--fields` as the server takes it: fewer bytes for long lists, from servers that can leave fields out.
import { isRefusal } from '../errors.ts';
import { parseFields } from '../terminal/output.ts';
import { listAt, type Pageable } from './pages.ts';

/** The fields of records that `--fields` needs, without repetitions; undefined for all. */
export function fieldsNeeded(text: string | undefined, known: readonly string[]): string[] | undefined {
  const names = parseFields(text, known);
  // `custom.plan` is part of `custom`.
  return names && [...new Set(names.map((name) => (name.startsWith('custom.') ? 'custom' : name)))];
}

/** The list at a path with these fields at least: a server that is too old to leave some out sends all. */
export function listOfFields(
  path: string,
  query: Record<string, string | readonly string[]>,
  fields: readonly string[],
): Pageable {
  const whole = listAt(path, query);
  const part = listAt(path, { ...query, fields });
  let isRefused = false;
  return {
    pageSizeMax: whole.pageSizeMax,
    page: async (client, cursor, limit) => {
      if (isRefused) return whole.page(client, cursor, limit);
      try {
        return await part.page(client, cursor, limit);
      } catch (error) {
        if (!isRefusal(error, 422)) throw error;
        // If something else is wrong, the server refuses this too.
        const page = await whole.page(client, cursor, limit);
        isRefused = true;
        return page;
      }
    },
  };
}
