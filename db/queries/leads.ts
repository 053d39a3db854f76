// Which conditions of a filter an index can narrow a query down by, the most selective kinds first.

import { type Condition, type FilterNode, requiredConditions } from '../model/query/filter.ts';
import { getQuerySort, type QuerySort, querySorts } from '../model/query/sorts.ts';
import type { Match, Resource } from '../model/resource.ts';
import { caselessKey, textKey } from '../model/text.ts';
import { boundsOf } from './bounds.ts';
import type { IdSource } from './id-sources.ts';
import { wholeBounds } from './sort-ranges.ts';

/** Records that a condition, or the owner, narrows a query down to. */
export interface Lead {
  /** The IDs themselves, if the condition names them. */
  ids: readonly string[] | null;
  /** Where the IDs come from; a record can be in several. */
  sources: readonly IdSource[];
  /** A column whose index continues with updated_at, and its value. */
  column: { column: string; given: string | number } | null;
  /** How few records it probably leaves: the lower, the fewer. */
  rank: number;
  /** Whether it probably leaves few enough that each is worth a look by itself. */
  isSelective: boolean;
}

const RANK = { itself: 0, identity: 1, related: 2, range: 3, owner: 4, kind: 5 };

/** What narrows a query down, best first. */
export function leadsOf(resource: Resource, filter: FilterNode, ownerId: string | null): Lead[] {
  const leads = requiredConditions(filter).flatMap((condition) => leadOf(resource, condition) ?? []);
  if (ownerId !== null && resource.owner !== null) leads.push(ownerLead(resource, resource.owner, ownerId));
  for (const name of querySorts(resource)) {
    const lead = rangeLead(resource, filter, getQuerySort(resource, name));
    if (lead !== null) leads.push(lead);
  }
  return leads.sort((one, other) => one.rank - other.rank);
}

function ownerLead({ name }: Resource, column: string, given: string): Lead {
  const source = { table: name, id: 'id', value: { column }, type: null, given, isOrdered: true };
  return { ids: null, sources: [source], column: { column, given }, rank: RANK.owner, isSelective: false };
}

// By a range of the values of a field that has an order.
function rangeLead({ name: table }: Resource, filter: FilterNode, sort: QuerySort): Lead | null {
  const bounds = boundsOf(filter, sort);
  if (bounds.from === null && bounds.to === null) return null;
  const { low: from, high: to } = wholeBounds(sort, bounds);
  const value = sort.by === 'text' ? { keyed: sort.name } : { column: sort.by === 'id' ? 'id' : sort.name };
  const source = { table, id: 'id', value, type: null, given: { from, to }, isOrdered: false };
  return { ids: null, sources: [source], column: null, rank: RANK.range, isSelective: false };
}

const CHOOSING: ReadonlySet<string> = new Set(['eq', 'in', 'has', 'any_of']);

function leadOf(resource: Resource, condition: Condition): Lead | null {
  const { field, operator, values } = condition;
  if (!CHOOSING.has(operator)) return null;
  if (field.name === 'id')
    return { ids: values.map(String), sources: [], column: null, rank: RANK.itself, isSelective: true };
  if (field.relation !== null) {
    const sources = field.relation.ways.flatMap(({ table, own, other, type }) =>
      values.map((value): IdSource => {
        return { table, id: own, value: { column: other }, type, given: String(value), isOrdered: true };
      }),
    );
    return { ids: null, sources, column: null, rank: RANK.related, isSelective: true };
  }
  return keyedLead(resource, condition) ?? columnLead(resource, condition);
}

// By a value that few records have: an address, or a field that has a key.
function keyedLead(resource: Resource, { field, values }: Condition): Lead | null {
  const texts = values.map(String);
  const addresses = addressesOf(resource, field.name);
  if (addresses !== null) {
    const sources = texts.map((text): IdSource => {
      const { table, record: id, value: column } = addresses;
      return { table, id, value: { column }, type: null, given: caselessKey(text), isOrdered: true };
    });
    return { ids: null, sources, column: null, rank: RANK.identity, isSelective: true };
  }
  if (field.field?.key == null) return null;
  const isCaseless = field.field.key === caselessKey || field.field.kind === 'domain';
  // A key with the case of the value is only found by text that has no case.
  if (!isCaseless && texts.some((text) => !/^[\x20-\x40[-`{-~]*$/.test(text))) return null;
  const sources = texts.map((text): IdSource => {
    const value = { keyed: field.name };
    return { table: resource.name, id: 'id', value, type: null, given: textKey(text), isOrdered: true };
  });
  return { ids: null, sources, column: null, rank: RANK.identity, isSelective: true };
}

function addressesOf({ unique, filters }: Resource, field: string): Extract<Match, { table: string }> | null {
  for (const [filter, names] of Object.entries(unique)) {
    const match = filters[filter]?.match.find((one) => 'table' in one);
    if (match !== undefined && 'table' in match && names.includes(field)) return match;
  }
  return null;
}

// By a column that has an index: references, because deletes look for them, and filters of lists.
function columnLead({ name: table, filters, owner }: Resource, { field, values }: Condition): Lead | null {
  const { name: column, family } = field;
  const matches = Object.values(filters).flatMap(({ match }) => match);
  const isFilter =
    column === owner ||
    matches.some((one) => 'column' in one && one.column === column && one.operator === '=');
  const isReference = family === 'id' && (field.field?.references ?? '') !== '';
  if (!isFilter && !isReference) return null;
  const given = values.map((value) => (typeof value === 'number' ? value : String(value)));
  const value = { column };
  const sources = given.map((one): IdSource => {
    return { table, id: 'id', value, type: null, given: one, isOrdered: isFilter };
  });
  const [only, ...others] = given;
  // Of a reference, the index may end with the ID.
  const isShared = family !== 'id' && isFilter && only !== undefined && others.length === 0;
  return {
    ids: null,
    sources,
    column: isShared ? { column, given: only } : null,
    rank: family === 'id' ? RANK.related : RANK.kind,
    isSelective: family === 'id',
  };
}
