// What the browser writes: a list as aligned lines, and a record as lines that can be opened or edited.
import type { Data, JsonValue } from '../../db/model/json.ts';
import type { Resource } from '../../db/model/resource.ts';
import { includesOf } from '../../db/model/resources/includes.ts';
import { findResource } from '../../db/model/resources/registry.ts';
import { updateFields } from '../api/body.ts';
import { instantsOf } from '../terminal/output.ts';
import { fit } from '../terminal/screen-text.ts';
import { toTheMinute, valueAt } from '../terminal/table.ts';
import type { Card } from './source.ts';

const CELL_COLUMNS_MAX = 36;
const GAP = '  ';

// Nearly every organization has one.
const UNTOLD = 'pipeline_id';

/** The columns of a list with what its records refer to; the ID last, which nobody reads and is the first to go. */
function columnsOf(resource: Resource): string[] {
  const [first = 'id', ...rest] = resource.columns.filter((name) => name !== 'id');
  const references = Object.values(includesOf(resource)).flatMap(({ ways }) =>
    ways.flatMap((way) => (way.kind === 'own' ? [way.other] : [])),
  );
  const others = references.filter((name) => name !== UNTOLD && !rest.includes(name));
  return [...new Set([first, others, rest, 'id'].flat())];
}

/** The header and a line for each record; columns without a value, and those without room, are left out. */
export function listLines(
  resource: Resource,
  { records, names }: { records: readonly Data[]; names: ReadonlyMap<string, string> },
  width: number,
): { header: string; lines: string[] } {
  const instants = instantsOf(resource.fields);
  const cell = (record: Data, name: string): string => {
    const value = valueAt(record, name);
    const isReference = resource.fields[name]?.references !== undefined;
    if (isReference) return names.get(String(value)) ?? '';
    return shownText(value, instants.has(name));
  };
  const filled = columnsOf(resource).filter((name) => records.some((record) => cell(record, name) !== ''));
  const columns: { name: string; width: number }[] = [];
  let room = width;
  for (const name of filled) {
    const widest = Math.max(
      titleOf(resource, name).length,
      ...records.map((record) => Bun.stringWidth(cell(record, name))),
    );
    const wanted = Math.min(name === 'id' ? widest : CELL_COLUMNS_MAX, widest);
    if (columns.length > 0 && room < wanted) continue;
    columns.push({ name, width: Math.min(wanted, room) });
    room -= wanted + GAP.length;
  }
  const line = (textOf: (name: string) => string): string =>
    columns.map((column) => fit(textOf(column.name), column.width)).join(GAP);
  return {
    header: line((name) => titleOf(resource, name)),
    lines: records.map((record) => line((name) => cell(record, name))),
  };
}

function titleOf({ fields }: Resource, name: string): string {
  const isNamed = fields[name]?.references !== undefined;
  return (isNamed ? name.replace(/_id$/, '') : name).toUpperCase();
}

function shownText(value: JsonValue | undefined, isInstant: boolean): string {
  if (value === null || value === undefined) return '';
  if (isInstant && typeof value === 'number') return toTheMinute(new Date(value).toISOString());
  if (Array.isArray(value) && value.every((one) => typeof one !== 'object')) return value.join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : toTheMinute(String(value));
}

/** A line of a record. */
export interface CardLine {
  label: string;
  text: string;
  /** The field that can be edited, with its text. */
  edit: { field: string; text: string } | null;
  /** The record that can be opened. */
  open: { resource: Resource; id: string } | null;
}

/** The fields of a record, with names instead of IDs, then the records that are linked to it. */
export function cardLines({ resource, record, linked }: Card, canUpdate: boolean): CardLine[] {
  const single = new Map(linked.map((one) => [one.id, one]));
  const instants = instantsOf(resource.fields);
  const editable = canUpdate ? updateFields(resource) : {};
  const pairs = Object.entries(record).flatMap(([name, value]): [string, JsonValue][] =>
    name === 'custom' && typeof value === 'object' && value !== null && !Array.isArray(value)
      ? Object.entries(value).map(([key, one]): [string, JsonValue] => [`custom.${key}`, one])
      : [[name, value]],
  );
  // Nobody looks for the ID first.
  const inOrder = [...pairs.filter(([name]) => name !== 'id'), ...pairs.filter(([name]) => name === 'id')];
  const fields = inOrder.map(([name, value]): CardLine => {
    const reference = typeof value === 'string' ? single.get(value) : undefined;
    const isReference = resource.fields[name]?.references !== undefined;
    const target = findResource(resource.fields[name]?.references ?? '') ?? null;
    const isNested = Array.isArray(value) && value.some((one) => typeof one === 'object');
    const isEditable =
      (Object.hasOwn(editable, name) && !isNested) || (canUpdate && name.startsWith('custom.'));
    return {
      label: name,
      text: (isReference ? reference?.text : undefined) ?? shownText(value, instants.has(name)),
      edit: isEditable
        ? { field: name, text: reference?.text ?? editedText(value, instants.has(name)) }
        : null,
      open: target !== null && typeof value === 'string' ? { resource: target, id: value } : null,
    };
  });
  const shownIds = new Set(Object.values(record).filter((value) => typeof value === 'string'));
  const others = linked.filter(({ id }) => !shownIds.has(id));
  const links = others.map(
    ({ name, resource: target, id, text }, at): CardLine => ({
      label: others[at - 1]?.name === name ? '' : name,
      text,
      edit: null,
      open: target === null ? null : { resource: target, id },
    }),
  );
  return [...fields, ...links];
}

function editedText(value: JsonValue, isInstant: boolean): string {
  if (isInstant && typeof value === 'number') return new Date(value).toISOString();
  return shownText(value, false);
}
