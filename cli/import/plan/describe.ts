// Describes a plan: what happens to each column.
import { clip } from '../../../db/model/text.ts';
import { counted } from '../../terminal/format.ts';
import { neutralizeLine } from '../../terminal/text.ts';
import type { Destination } from './headers.ts';
import type { Plan } from './plan.ts';

const WIDTH_MAX = 40;
// Naming all would make each line as long as the header line.
const OTHERS_NAMED_MAX = 3;

const REASONS = {
  'asked for': 'requested',
  'not known': 'unknown',
  'read-only': 'read-only',
  'of the errors file': 'column of the errors file',
} as const;

/** What the plan does with each column, one line each. */
export function describePlan(plan: Plan): string[] {
  const width = Math.min(WIDTH_MAX, Math.max(0, ...[...plan.columns.keys()].map((header) => header.length)));
  const lines = [...plan.columns.keys()].map(
    (header) =>
      `  ${neutralizeLine(header).padEnd(width)} → ${neutralizeLine(describeColumn(plan, header) ?? '')}`,
  );
  const constants = plan.constants.map(
    ({ destination, value }) =>
      `  ${`"${clip(value)}"`.padEnd(width)} → ${describe(destination)}, in every row`,
  );
  return [...lines, ...constants];
}

/** What the plan does with a column; undefined if it does not know the column. */
export function describeColumn(plan: Plan, header: string): string | undefined {
  const destination = plan.columns.get(header)?.destination;
  return destination && `${describe(destination)}${notes(plan, header, destination)}`;
}

function describe(destination: Destination): string {
  switch (destination.kind) {
    case 'field': {
      const { field, factor } = destination;
      return factor === undefined ? field : `${field}, multiplied by ${factor}`;
    }
    case 'custom':
      return `custom.${destination.key}`;
    case 'lookup': {
      const { field, lookup } = destination;
      if (lookup === 'owner') return `${field}, if it is a user ID`;
      return `${field}, looked up by ${lookup === 'contact' ? 'email' : lookup}`;
    }
    case 'status':
      return `${destination.field}, of the won or lost stage`;
    case 'external ID':
      return `external ID from ${destination.source}`;
    case 'left out':
      return `left out (${REASONS[destination.reason]})`;
  }
}

function notes(plan: Plan, header: string, destination: Destination): string {
  const order = plan.dates.orders.get(header);
  const isComma = plan.numbers.get(header) === 'comma';
  const replaced = plan.values.get(header)?.size;
  const mayRemain = destination.kind === 'lookup' && ['owner', 'contact'].includes(destination.lookup);
  return [
    mayRemain && plan.keepsOthers ? `, else custom.${header}` : '',
    contestNote(plan, header),
    order === undefined ? '' : `, read as ${order === 'mdy' ? 'month/day/year' : 'day/month/year'}`,
    isComma && destination.kind === 'field' ? ', read with a decimal comma' : '',
    replaced === undefined ? '' : `, ${counted(replaced, 'value')} replaced`,
  ].join('');
}

function contestNote(plan: Plan, header: string): string {
  const { headers, place } = plan.places.get(header) ?? { headers: [], place: 0 };
  if (place === 0) return '';
  const named = headers.slice(0, Math.min(place, OTHERS_NAMED_MAX)).map((one) => `"${one}"`);
  const more = place - named.length;
  const before = more === 0 ? named : [...named, counted(more, 'other column')];
  return `, if ${before.join(' and ')} ${place > 1 ? 'are' : 'is'} empty, else custom.${header}`;
}
