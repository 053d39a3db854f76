// A plain model of queries: all records that a key sees, one by one, by the words of the contract.
import type { Json } from './harness.ts';
import { FILTERED_FIELDS } from './query-contract.ts';

/** What a key sees: records by resource, and for each link the IDs at its other ends, by resource, record and name. */
export interface Seen {
  records: Record<string, Json[]>;
  ends: Record<string, Record<string, Record<string, string[]>>>;
}

/** Whether a record meets a filter. */
export function meets(seen: Seen, resource: string, record: Json, filter: Json, now: number): boolean {
  return Object.entries(filter as Record<string, Json>).every(([name, value]) => {
    if (name === 'and') return value.every((one: Json) => meets(seen, resource, record, one, now));
    if (name === 'or') return value.some((one: Json) => meets(seen, resource, record, one, now));
    if (name === 'not') return !meets(seen, resource, record, value, now);
    const kind = FILTERED_FIELDS[resource]?.[name] ?? 'custom';
    const isPlain = typeof value !== 'object' || 'ago' in value || 'ahead' in value;
    const operators: [string, Json][] = isPlain ? [['eq', value]] : Object.entries(value);
    const stored = storedValue(seen, resource, record, name, kind);
    return operators.every(([operator, given]) =>
      holds(seen, kind, stored, operator, given, now, resource, name),
    );
  });
}

function storedValue(seen: Seen, resource: string, record: Json, name: string, kind: string): Json {
  if (kind === 'link') return seen.ends[resource]?.[record.id]?.[name] ?? [];
  if (kind !== 'custom') return record[name];
  const key = name.slice('custom.'.length);
  return Object.hasOwn(record.custom, key) ? record.custom[key] : null;
}

// The resources that fields with an ID refer to, where records of them can be hidden.
const REFERS: Record<string, string> = {
  company_id: 'companies',
  deal_id: 'deals',
  person_id: 'contacts',
  point_of_contact_id: 'contacts',
  main_contact: 'contacts',
  parent_id: 'notes',
  meeting_id: 'meetings',
  contact_ids: 'contacts',
  company_ids: 'companies',
};

function holds(
  seen: Seen,
  kind: string,
  stored: Json,
  operator: string,
  given: Json,
  now: number,
  resource: string,
  name: string,
): boolean {
  if (kind === 'texts' || kind === 'ids' || kind === 'link') {
    if (operator === 'is_null') return (stored.length === 0) === given;
    const wanted = (operator === 'has' ? [given] : given).filter((id: Json) => isSeen(seen, kind, name, id));
    const compared = kind === 'texts' ? (text: string) => text.toLowerCase() : (text: string) => text;
    return wanted.some((one: string) => stored.map(compared).includes(compared(one)));
  }
  if (operator === 'is_null') return (stored === null) === given;
  const same = (one: Json) => isSeen(seen, kind, name, one) && isSame(kind, stored, one, now);
  if (operator === 'eq') return same(given);
  if (operator === 'ne') return !same(given);
  if (operator === 'in') return given.some(same);
  if (operator === 'not_in') return !given.some(same);
  if (stored === null) return false;
  if (operator === 'contains' || operator === 'starts_with') {
    if (typeof stored !== 'string') return false;
    // A sigma that ends a word has a lower case of its own.
    const folded = (text: string) => text.toLowerCase().replaceAll('ς', 'σ');
    const at = folded(stored).indexOf(folded(given));
    return operator === 'contains' ? at >= 0 : at === 0;
  }
  const own = comparable(kind, stored, now);
  const other = (one: Json) => comparable(kind, one, now);
  if (kind === 'custom' && typeof own !== 'number') return false;
  if (operator === 'between') return own >= other(given[0]) && own <= other(given[1]);
  if (operator === 'lt') return own < other(given);
  if (operator === 'lte') return own <= other(given);
  if (operator === 'gt') return own > other(given);
  if (operator === 'gte') return own >= other(given);
  throw new Error(`${resource}.${name} has no operator ${operator}`);
}

function isSeen(seen: Seen, kind: string, name: string, id: Json): boolean {
  const target = kind === 'id' || kind === 'ids' ? REFERS[name] : undefined;
  return target === undefined || seen.records[target]?.some((record) => record.id === id) === true;
}

function isSame(kind: string, stored: Json, given: Json, now: number): boolean {
  const isTime = kind === 'instant' || kind === 'date';
  if (stored === null || (!isTime && typeof stored !== typeof given)) return false;
  return comparable(kind, stored, now) === comparable(kind, given, now);
}

const DAY_MS = 86_400_000;
const UNITS: Record<string, number> = { h: 3_600_000, d: DAY_MS, w: 7 * DAY_MS };

function comparable(kind: string, value: Json, now: number): Json {
  if (kind === 'instant' || kind === 'date') {
    const at =
      typeof value === 'object'
        ? now + relative(value)
        : typeof value === 'string'
          ? Date.parse(value)
          : value;
    return kind === 'date' ? Math.floor(at / DAY_MS) : at;
  }
  const isText = kind === 'text' || kind === 'custom';
  return isText && typeof value === 'string' ? value.toLowerCase() : value;
}

function relative({ ago, ahead }: Json): number {
  const span: string = ago ?? ahead;
  return (ago === undefined ? 1 : -1) * Number(span.slice(0, -1)) * (UNITS[span.slice(-1)] ?? 0);
}

/** The records that meet a filter, in order. */
export function query(
  seen: Seen,
  resource: string,
  { filter = {}, sort_by = 'created_at', sort_direction = 'desc' }: Json,
  now: number,
): Json[] {
  const sign = sort_direction === 'asc' ? 1 : -1;
  const found = (seen.records[resource] ?? []).filter((record) => meets(seen, resource, record, filter, now));
  return found.sort((one, other) => {
    const [a, b] = [one[sort_by], other[sort_by]];
    if (a === null || b === null) {
      if (a !== b) return a === null ? 1 : -1;
    } else {
      const order = sort_by === 'name' ? byCodePoints(a, b) : Number(a > b) - Number(a < b);
      if (order !== 0) return sign * order;
    }
    return sign * (one.id < other.id ? -1 : 1);
  });
}

function byCodePoints(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one.toLowerCase()), Buffer.from(other.toLowerCase()));
}
