// The non-empty cells of a row, and which of several cells for one field is used.
import type { JsonValue } from '../../../db/model/json.ts';
import type { Resource } from '../../../db/model/resource.ts';
import { type Destination, slotOf } from '../plan/headers.ts';
import type { Plan } from '../plan/plan.ts';
import { isAbsent } from '../plan/values.ts';
import type { SourceRow } from '../row.ts';

export interface Cell {
  header: string;
  destination: Destination;
  rank: number;
  value: JsonValue;
}

/** The cells of a row and the values for every row; `unknown` are unknown headers that appeared late. */
export function cellsOf(row: SourceRow, plan: Plan): { cells: Cell[]; unknown: string[] } {
  const cells: Cell[] = [];
  const unknown: string[] = [];
  for (const [header, value] of row.entries) {
    const match = plan.columns.get(header) ?? plan.late(header);
    if (match === undefined) unknown.push(header);
    else if (match.destination.kind !== 'left out' && match.destination.kind !== 'external ID') {
      const replaced = replacedValue(plan, header, value);
      if (isAbsent(replaced) && !isBlankText(plan.resource, match.destination, row, replaced)) continue;
      cells.push({ header, ...match, value: replaced });
    }
  }
  for (const { name, destination, value } of plan.constants) {
    if (!isAbsent(value)) cells.push({ header: `--set ${name}`, destination, rank: -Infinity, value });
  }
  return { cells, unknown };
}

/** The cells that are used for their field, and those that are not. */
export function settled(resource: Resource, cells: readonly Cell[]): { taken: Cell[]; others: Cell[] } {
  const first = new Map<string, Cell>();
  for (const cell of cells) {
    const slot = slotOf(resource, cell.destination);
    const other = slot === null ? undefined : first.get(slot);
    if (slot !== null && (other === undefined || comesBefore(cell, other))) first.set(slot, cell);
  }
  const isTaken = (cell: Cell): boolean => {
    const slot = slotOf(resource, cell.destination);
    return slot === null || first.get(slot) === cell;
  };
  return { taken: cells.filter(isTaken), others: cells.filter((cell) => !isTaken(cell)) };
}

function comesBefore(one: Cell, other: Cell): boolean {
  const [isBlank, isOtherBlank] = [isAbsent(one.value), isAbsent(other.value)];
  return isBlank === isOtherBlank ? one.rank < other.rank : isOtherBlank;
}

function replacedValue(plan: Plan, header: string, value: JsonValue): JsonValue {
  if (typeof value !== 'string') return value;
  return plan.values.get(header)?.get(value.trim().toLowerCase()) ?? value;
}

/** In JSON, blank text is a value; in CSV, it is an empty cell. */
function isBlankText(
  resource: Resource,
  destination: Destination,
  row: SourceRow,
  value: JsonValue,
): boolean {
  if (Array.isArray(row.original) || value === null) return false;
  if (destination.kind === 'custom') return true;
  const field = destination.kind === 'field' ? resource.fields[destination.field] : undefined;
  return field?.kind === 'text';
}
