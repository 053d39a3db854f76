// The tool that shows one record, as much of it as a result has room for, and one field of it where that is not enough.
import { Type } from 'typebox';
import { type Data, isObject, type JsonValue } from '../../db/model/json.ts';
import { CUSTOM_PREFIX } from '../../db/model/query/fields.ts';
import { hasTimeline } from '../../db/model/timelines.ts';
import { call, ToolError } from './failures.ts';
import { jsonLine } from './lines.ts';
import { includedLines, roomBeside, shown } from './results.ts';
import { queryFrom, servicePath } from './service.ts';
import { beginningOf, type Cut, largest, lineWithin } from './shorten.ts';
import { argumentsOf, INCLUDE, READING, RESOURCE, type Tool, textArgument } from './tool.ts';

export const get: Tool = {
  name: 'get',
  title: 'Get a record',
  description:
    'Show one record whole, and with include the records it is related to. What is too long for one result is shown in ' +
    'parts, with field and offset.',
  input: argumentsOf({
    resource: RESOURCE,
    id: textArgument(),
    include: INCLUDE,
    field: Type.Optional(textArgument('Show this field alone, such as content or "custom.NAME"')),
    offset: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Where its text or list begins; from the result before' }),
    ),
  }),
  hints: READING,
  run: async ({ resource, id, include = [], field, offset = 0 }, service) => {
    const name = String(resource);
    const { record, included } = await service.get(servicePath(name, id), queryFrom({ include }));
    const values = shown(record, name);
    const again = { resource, id: record.id };
    if (field !== undefined) return partText(values, String(field), Number(offset), again);
    const others = includedLines(included);
    const { text, cuts } = lineWithin(values, roomBeside(others));
    const happened = hasTimeline(name) ? [`Next: ${call('timeline', again)} shows what happened.`] : [];
    return [text, ...others, ...cutLines(cuts, again), ...happened].join('\n');
  },
};

const CUTS_SHOWN_MAX = 5;

/** What of a record is shown in part, and the calls that show the rest. */
function cutLines(cuts: readonly Cut[], again: object): string[] {
  if (cuts.length === 0) return [];
  return [
    `Shown in part: ${cuts.map(({ field }) => field).join(', ')}.`,
    ...cuts.slice(0, CUTS_SHOWN_MAX).map(({ field, offset }) => {
      const given = { ...again, field, ...(offset > 0 && { offset }) };
      return `Next: ${call('get', given)} shows ${offset > 0 ? 'the rest' : 'it'}.`;
    }),
  ];
}

/** One field from an offset on, and how to go on if there is more. */
function partText(values: Data, field: string, offset: number, again: object): string {
  const value = valueIn(values, field);
  const size = sizeOf(value);
  if (offset > 0 && offset >= size)
    throw new ToolError(
      'VALIDATION_OUT_OF_RANGE',
      `offset: must be less than ${size}, the length of ${field}`,
    );
  const room = roomBeside([]);
  const partTo = (end: number) => ({ [field]: sliceOf(value, offset, end) });
  const part = partTo(largest(offset + 1, size, (end) => jsonLine(partTo(end)).length <= room));
  const end = offset + sizeOf(part[field] ?? null);
  const { text, cuts } = lineWithin(part, room);
  const unit = typeof value === 'string' ? 'Characters' : 'Items';
  return [
    text,
    ...(end - offset < size ? [`${unit} ${offset + 1} to ${end} of ${size}.`] : []),
    ...(cuts.length > 0 ? ['What is marked "[cut" is too long for a result.'] : []),
    ...(end < size ? [`Next: ${call('get', { ...again, field, offset: end })} shows more.`] : []),
  ].join('\n');
}

function valueIn(values: Data, field: string): JsonValue {
  const value = Object.hasOwn(values, field) ? values[field] : undefined;
  if (value !== undefined) return value;
  const { custom } = values;
  const key = field.startsWith(CUSTOM_PREFIX) ? field.slice(CUSTOM_PREFIX.length) : undefined;
  const own = isObject(custom) && key !== undefined && Object.hasOwn(custom, key) ? custom[key] : undefined;
  if (own !== undefined) return own;
  const message = `field: the record has nothing in ${field}; it has ${Object.keys(values).join(', ')}`;
  throw new ToolError('VALIDATION_FAILED', message);
}

/** The characters of a text, or the items of a list or object. */
function sizeOf(value: JsonValue): number {
  if (typeof value === 'string') return value.length;
  return typeof value === 'object' && value !== null ? Object.keys(value).length : 1;
}

function sliceOf(value: JsonValue, from: number, to: number): JsonValue {
  if (typeof value === 'string') return beginningOf(value.slice(from), to - from);
  if (Array.isArray(value)) return value.slice(from, to);
  return isObject(value) ? Object.fromEntries(Object.entries(value).slice(from, to)) : value;
}
