// `--suggest-map`: prints the mapping of the columns of an input, for --map-file.
import type { Resource } from '../../../db/model/resource.ts';
import { jsonText } from '../../terminal/output.ts';
import { note, writeOut } from '../../terminal/streams.ts';
import { ERROR_COLUMNS } from '../row.ts';
import { Columns, columnConflicts } from './columns.ts';
import type { ColumnMatch } from './headers.ts';
import type { Mapping } from './mapping.ts';
import type { Survey } from './survey.ts';

/** Prints a JSON object from header to field; the first of several columns gets the field. */
export async function printSuggestedMap(resource: Resource, survey: Survey, mapping: Mapping): Promise<void> {
  const meaning = new Columns(resource, survey, mapping, { custom: false, ignoreUnknown: false });
  const headers = survey.headers.filter((header) => !(ERROR_COLUMNS as readonly string[]).includes(header));
  const known = headers.flatMap((header): [string, ColumnMatch][] => {
    const match = meaning.find(header);
    return match === undefined ? [] : [[header, match]];
  });
  const contests = columnConflicts(resource, known);
  const others = new Set(contests.flatMap(({ headers: [, ...rest] }) => rest));
  const fields = new Map(known.filter(([header]) => !others.has(header)));
  const keep = (header: string): string => (resource.fields.custom === undefined ? '-' : `custom.${header}`);
  const entries = headers.map((header) => [header, nameOf(fields.get(header)) ?? keep(header)]);
  await writeOut(`${jsonText(Object.fromEntries(entries), 2)}\n`);
  for (const {
    slot,
    headers: [first, ...rest],
  } of contests) {
    note(
      `crm: ${slot} comes from "${first}", but ${rest.map((one) => `"${one}"`).join(', ')} could be it too.`,
    );
  }
}

function nameOf(match: ColumnMatch | undefined): string | undefined {
  switch (match?.destination.kind) {
    case 'field': {
      const { field, factor } = match.destination;
      return factor === undefined ? field : `${field}*${factor}`;
    }
    case 'lookup':
      return match.destination.lookup;
    case 'custom':
      return `custom.${match.destination.key}`;
    case 'left out':
      return '-';
    default:
      return undefined;
  }
}
