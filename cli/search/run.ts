// Carries out `crm search`: a table for people, or the results as they came.
import type { Data } from '../../db/model/json.ts';
import { isObject } from '../../db/model/json.ts';
import { queryOf, type SearchQuery } from '../../db/model/search-query.ts';
import { SEARCHED_RESOURCES } from '../../db/model/searched.ts';
import { snippetAt } from '../../db/model/snippet.ts';
import { singularOf } from '../../db/model/text.ts';
import { foldedText, placeOf } from '../../db/model/words.ts';
import type { Client } from '../api/client.ts';
import { connect } from '../api/connect.ts';
import { wholeId } from '../api/find-id.ts';
import { isMissing } from '../api/id-finder.ts';
import { listAt, type Pageable, pagesOf } from '../api/pages.ts';
import { nameOf } from '../api/record-name.ts';
import { isRefusal, usageError } from '../errors.ts';
import { idRangeOf, shortIdOf } from '../input/short-id.ts';
import { didYouMean } from '../nearest.ts';
import type { Config } from '../settings/config.ts';
import { limitOf } from '../settings/options.ts';
import { createPrinter } from '../terminal/output.ts';
import { note, stdout } from '../terminal/streams.ts';
import { terminalWidth } from '../terminal/wrap.ts';

export interface SearchFlags {
  /** Separated by commas. */
  types?: string;
  limit?: number;
  all?: boolean;
}

const SEARCH_PAGE_SIZE_MAX = 100;
// Type and ID come first, in the order in which crm get takes them.
const COLUMNS = ['type', 'id', 'name', 'snippet'];
const FIELDS = ['record_type', 'record_id', 'match.tier', 'match.field', 'match.snippet', 'record'];

/** Prints what is found, up to the limit. */
export async function runSearch(words: string[], flags: SearchFlags, config: Config): Promise<void> {
  const query = queryIn(words);
  const types = flags.types === undefined ? undefined : typesIn(flags.types);
  const client = await connect(config);
  const isForPeople = config.output === 'table';
  const printer = createPrinter(config, { columns: COLUMNS, allFields: FIELDS });
  let found = 0;
  let hasMore = false;
  const print = async ({ text }: SearchQuery): Promise<void> => {
    for await (const { records, nextCursor } of pagesOf(client, listOf(text, types), {
      limit: limitOf(flags),
    })) {
      found += records.length;
      hasMore = nextCursor !== null;
      await printer.print(isForPeople ? linesOf(records, query) : records);
    }
  };
  await print(query);
  const id = found === 0 ? await idMeantBy(query, types ?? SEARCHED_RESOURCES, client) : undefined;
  if (id !== undefined) await print(queryIn([id]));
  if (found > 0 || !isForPeople) await printer.end();
  if (found === 0) note('No records found. Check the spelling, or try fewer words.');
  else if (hasMore) note('There can be more: add --limit N or --all.');
}

// The server knows no short IDs.
async function idMeantBy(
  { text }: SearchQuery,
  types: readonly string[],
  client: Client,
): Promise<string | undefined> {
  if (idRangeOf(text) === undefined) return undefined;
  for (const type of types) {
    try {
      return await wholeId(client, type, text);
    } catch (error) {
      if (!isMissing(error) && !isRefusal(error, 403)) throw error;
    }
  }
  return undefined;
}

function queryIn(words: readonly string[]): SearchQuery {
  const read = queryOf(words.join(' '));
  if ('query' in read) return read.query;
  const faults = read.faults.map(({ message }) => message).join('; ');
  throw usageError(`The words cannot be searched for: the query ${faults}.`, 'run "crm help search".');
}

function listOf(text: string, types: readonly string[] | undefined): Pageable {
  const query = { q: text, ...(types !== undefined && { types: [...types] }) };
  return { ...listAt('/api/v2/search', query), pageSizeMax: SEARCH_PAGE_SIZE_MAX };
}

function typesIn(text: string): string[] {
  const types = text.split(',').map((type) => type.trim());
  const known: readonly string[] = SEARCHED_RESOURCES;
  const unknown = types.find((type) => !known.includes(type));
  if (unknown === undefined) return types;
  const meant = known.find((type) => singularOf(type) === unknown.toLowerCase());
  throw usageError(
    `Unknown type "${unknown}".${didYouMean(meant ?? unknown, known)}`,
    `use one or more of: ${known.join(', ')}.`,
  );
}

function linesOf(records: readonly Data[], query: SearchQuery): Data[] {
  const lines = records.map(({ record_type, record_id, match, record }) => ({
    type: String(record_type),
    // On a terminal, in the form that leaves room for the snippet.
    id: stdout.isTTY ? shortIdOf(String(record_id)) : String(record_id),
    name: isObject(record) ? (nameOf(record) ?? '') : '',
    snippet: isObject(match) ? String(match.snippet) : '',
  }));
  const charactersMax = snippetRoom(lines);
  return lines.map((line) => ({ ...line, snippet: fitted(line.snippet, query, charactersMax) }));
}

const GAPS = 6;
const NAME_COLUMNS_MAX = 24;
const SNIPPET_CHARACTERS_MIN = 16;

// What type, ID and a name that is not long leave of a line.
function snippetRoom(lines: readonly { type: string; id: string; name: string }[]): number {
  const widest = (texts: string[]) => Math.max(0, ...texts.map((text) => Bun.stringWidth(text)));
  const names = Math.min(NAME_COLUMNS_MAX, widest(lines.map(({ name }) => name)));
  const others = widest(lines.map(({ type }) => type)) + widest(lines.map(({ id }) => id));
  return Math.max(SNIPPET_CHARACTERS_MIN, terminalWidth(stdout) - others - names - GAPS);
}

const LEAD = 10;

// So much of a snippet that the hit is on the line.
function fitted(snippet: string, { terms }: SearchQuery, charactersMax: number): string {
  const folded = foldedText(snippet);
  const places = terms.map((term) => placeOf(term, folded)).filter((place) => place >= 0);
  if (snippet.length <= charactersMax || places.length === 0) return snippet;
  const part = snippetAt(snippet, Math.min(...places), { charactersMax: charactersMax - 1, lead: LEAD });
  return snippet.startsWith(part) ? snippet : `…${part}`;
}
