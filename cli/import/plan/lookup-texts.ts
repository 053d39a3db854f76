// The names in an input that an import looks up, as far as the first pass counted them.
import type { LookupKind } from './headers.ts';
import type { Plan } from './plan.ts';
import type { Survey } from './survey.ts';
import { isAbsent } from './values.ts';

export interface LookupText {
  text: string;
  /** The rows with it; null for a value of --set, which is in every row. */
  rows: number | null;
}

export interface LookupTexts {
  texts: readonly LookupText[];
  /** Whether the input may have more. */
  hasMore: boolean;
}

/** What is looked up by a kind of name, each text once, that of most rows first. */
export function lookupTexts(kind: LookupKind, plan: Plan, { evidence, isPartial }: Survey): LookupTexts {
  const constant = plan.constants.find(({ destination }) => isOf(kind, destination));
  if (constant !== undefined) return { texts: [{ text: constant.value, rows: null }], hasMore: false };
  const found = new Map<string, { text: string; rows: number }>();
  let hasMore = isPartial;
  for (const [header, { destination }] of plan.columns) {
    if (!isOf(kind, destination) || isSecond(header, plan)) continue;
    const column = evidence.texts.of(header);
    hasMore ||= column.hasMore;
    for (const [cell, rows] of column.rows) {
      const text = (plan.values.get(header)?.get(cell.trim().toLowerCase()) ?? cell).trim();
      if (isAbsent(text)) continue;
      const before = found.get(text.toLowerCase()) ?? { text, rows: 0 };
      found.set(text.toLowerCase(), { text: before.text, rows: before.rows + rows });
    }
  }
  return { texts: [...found.values()].toSorted((one, other) => other.rows - one.rows), hasMore };
}

function isOf(kind: LookupKind, destination: { kind: string; lookup?: LookupKind }): boolean {
  return destination.kind === 'lookup' && destination.lookup === kind;
}

/** Whether a column counts only in rows where another one is empty, so that nobody knows which of its values do. */
function isSecond(header: string, { places }: Plan): boolean {
  return (places.get(header)?.place ?? 0) > 0;
}
