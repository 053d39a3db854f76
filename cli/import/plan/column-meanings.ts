// What a column means by its name, if its values and the other columns of the input agree.
import type { Resource } from '../../../db/model/resource.ts';
import type { ColumnMatch, Destination, HeaderMatcher } from './headers.ts';
import type { Mapping } from './mapping.ts';
import type { Survey } from './survey.ts';

export interface MeaningOptions {
  match: HeaderMatcher;
  /** The destination that --map names. */
  parse(text: string): Destination;
  /** Whether unknown columns are kept. */
  isCustom: boolean;
}

export interface ColumnMeanings {
  /** Undefined if the column is unknown. */
  meaningOf(header: string): ColumnMatch | undefined;
  /** Whether a column has the name of an ID field, and IDs of another product. */
  hasForeignIds(header: string): boolean;
}

/** Finds the meanings of the columns of an input. */
export function columnMeanings(
  resource: Resource,
  { headers, evidence: { ids, texts } }: Survey,
  mapping: Mapping,
  { match, parse, isCustom }: MeaningOptions,
): ColumnMeanings {
  // Undefined if nothing shows it: an export of ours may be without its IDs.
  const isOurExport = ids.size === 0 ? true : ids.get('id')?.hasIds;
  // An ID from another product is not an ID here. An empty column cannot lose anything.
  const isForeign = (header: string, destination: Destination | undefined): boolean => {
    if (destination?.kind !== 'field' && destination?.kind !== 'lookup') return false;
    // Owners need an ID; --custom keeps the other values of a column that has some.
    const isById = destination.kind === 'field' || (destination.lookup === 'owner' && !isCustom);
    const isReference = isById && resource.fields[destination.field]?.references !== undefined;
    return isReference && !mapping.values.has(header) && ids.get(header)?.hasIds === false;
  };
  const { enum: statuses = [] } = (resource.fields.status?.schema ?? {}) as { enum?: readonly string[] };
  const hasStatuses = (header: string): boolean => {
    const cells = [...texts.of(header).rows.keys()].map((text) => text.trim().toLowerCase());
    const replaced = mapping.values.get(header);
    return (
      cells.length > 0 &&
      cells.every((text) => statuses.includes((replaced?.get(text) ?? text).trim().toLowerCase()))
    );
  };
  const isPartOfName = (header: string): boolean => {
    const asked = mapping.columns.get(header);
    const found = asked === undefined ? match(header) : { destination: parse(asked), isWholeName: false };
    if (found?.destination.kind !== 'field' || found.isWholeName) return false;
    return ['first_name', 'last_name'].includes(found.destination.field);
  };
  const hasPartsOfName = headers.some(isPartOfName);
  const isMeant = (header: string, { destination, isWholeName }: ColumnMatch): boolean =>
    (destination.kind !== 'status' || hasStatuses(header)) &&
    !(isWholeName && hasPartsOfName) &&
    !isForeign(header, destination);
  return {
    meaningOf(header) {
      const named = match(header);
      const { destination } = named ?? {};
      const isReadOnly = destination?.kind === 'left out' && destination.reason === 'read-only';
      const found = isReadOnly && !isOurExport ? named?.elsewhere : named;
      if (found !== undefined && isMeant(header, found)) return found;
      return isReadOnly && isOurExport === undefined && !isCustom ? named : undefined;
    },
    hasForeignIds: (header) => isForeign(header, match(header)?.destination),
  };
}
