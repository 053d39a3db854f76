// `--suggest-map`: prints the mapping of the columns of an input, for --map-file.
import type { Resource } from '../../../db/model/resource.ts';
import { jsonText } from '../../terminal/output.ts';
import { note, writeOut } from '../../terminal/streams.ts';
import { ERROR_COLUMNS } from '../row.ts';
import { columnConflicts, readColumns } from './columns.ts';
import type { Destination } from './headers.ts';
import type { Mapping } from './mapping.ts';
import type { Survey } from './survey.ts';

/** Prints a JSON object from header to field; the first of several columns gets the field. */
export async function printSuggestedMap(resource: Resource, survey: Survey, mapping: Mapping): Promise<void> {
  const { known } = readColumns(resource, survey, mapping, { custom: false, ignoreUnknown: false });
  const contests = columnConflicts(resource, [...known]);
  const others = new Set(contests.flatMap(({ headers: [, ...rest] }) => rest));
  const headers = survey.headers.filter((header) => !(ERROR_COLUMNS as readonly string[]).includes(header));
  const keep = (header: string): string => (resource.fields.custom === undefined ? '-' : `custom.${header}`);
  const entries = headers.map((header) => {
    const match = others.has(header) ? undefined : known.get(header);
    return [header, match === undefined ? keep(header) : nameOf(match.destination)];
  });
  await writeOut(`${jsonText(Object.fromEntries(entries), 2)}\n`);
  for (const contest of contests) {
    const [first, ...rest] = contest.headers.map((header) => `"${header}"`);
    note(`crm: ${contest.slot} comes from ${first}, but ${rest.join(', ')} would fit too.`);
  }
}

function nameOf(destination: Destination): string {
  switch (destination.kind) {
    case 'field':
      return [destination.field, destination.factor ?? []].flat().join('*');
    case 'lookup':
      return destination.lookup;
    case 'status':
      return 'status';
    case 'custom':
      return `custom.${destination.key}`;
    case 'external ID':
    case 'left out':
      return '-';
  }
}
