// How a person sees what records include: by name, in columns of a table and below a card.
import { type Data, isObject } from '../../db/model/json.ts';
import { RELATED_MAX } from '../../db/model/resource.ts';
import type { Include } from '../../db/model/resources/includes.ts';
import type { Included } from '../api/envelope.ts';
import { nameOf } from '../api/record-name.ts';
import { usageError } from '../errors.ts';
import {
  type ColumnLayout,
  type OutputFormat,
  type OutputSettings,
  printRecord,
} from '../terminal/output.ts';
import { neutralizeLine } from '../terminal/text.ts';

/** The field of a record with the IDs of what it includes. */
export const INCLUDED_IDS = 'included_ids';

/** Throws a usage error for an output that has no place for what is included. */
export function checkShowsIncluded(includes: readonly Include[], output: OutputFormat): void {
  if (includes.length > 0 && output === 'csv')
    throw usageError(
      'CSV does not show what records include.',
      'use -o json, ndjson or table, or remove --include.',
    );
}

interface RelatedRecord {
  id: string;
  /** Null if nothing of the record says it. */
  name: string | null;
}

/** The columns of a table with those of what is included: behind what a record is called, where they are not cut. */
export function columnsWithNames(columns: readonly string[], includes: readonly Include[]): string[] {
  return columns.toSpliced(2, 0, ...includes.map(({ name }) => name));
}

/** A record for a line of a table: with the names of what it includes. */
export function withNames(record: Data, includes: readonly Include[], included: Included): Data {
  const names = includes.map((include): [string, string] => {
    const related = relatedRecords(record, include, included);
    return [include.name, related.map(({ id, name }) => name ?? id).join(', ')];
  });
  return { ...record, ...Object.fromEntries(names) };
}

/** Prints one record and what it includes: below the card of the record, or beside its fields in JSON. */
export async function printWithIncluded(
  config: Pick<OutputSettings, 'output' | 'isColored'>,
  record: Data,
  { look, includes, included }: { look: ColumnLayout; includes: readonly Include[]; included: Included },
): Promise<void> {
  const { fields } = look;
  if (config.output !== 'table') {
    const whole = { ...record, included };
    return printRecord(config, whole, { ...look, fields: fields && [...fields, INCLUDED_IDS, 'included'] });
  }
  const { [INCLUDED_IDS]: _, ...own } = record;
  const related = includedFields(record, includes, included);
  const shown = [...(fields ?? Object.keys(own)), ...Object.keys(related)];
  await printRecord(config, { ...own, ...related }, { ...look, fields: shown });
}

// For each name the included records, one on a line, with the ID to get it by.
function includedFields(record: Data, includes: readonly Include[], included: Included): Data {
  const fields = includes.map((include): [string, string] => {
    const related = relatedRecords(record, include, included);
    const width = Math.max(0, ...related.map(({ name }) => Bun.stringWidth(name ?? '')));
    const lines = related.map(({ id, name }) => {
      const text = name ?? '';
      return `${text}${' '.repeat(width - Bun.stringWidth(text))}  ${id}`.trimStart();
    });
    if (related.length === RELATED_MAX) lines.push(`(the newest ${RELATED_MAX})`);
    return [include.name, lines.join('\n')];
  });
  return Object.fromEntries(fields);
}

function relatedRecords(record: Data, { name, group }: Include, included: Included): RelatedRecord[] {
  const all = record[INCLUDED_IDS];
  const ids = isObject(all) ? all[name] : undefined;
  if (!Array.isArray(ids)) return [];
  return ids.map(String).map((id) => {
    const name = nameOf(included[group]?.[id] ?? {});
    return { id, name: name && neutralizeLine(name) };
  });
}
