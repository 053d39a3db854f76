// Reads --map, --map-file, --map-value and --set: the user's own mapping of columns.
import { readFileSync } from 'node:fs';
import { isObject } from '../../../db/model/json.ts';
import type { Resource } from '../../../db/model/resource.ts';
import { CliError, messageOf, systemFault, usageError } from '../../errors.ts';
import { didYouMean } from '../../nearest.ts';
import type { ImportFlags } from '../flags.ts';
import { type Destination, fieldNames, type HeaderMatcher, headerKey } from './headers.ts';
import { isNumber } from './values.ts';

export type MappingOptions = Pick<ImportFlags, 'map' | 'mapFile' | 'mapValue' | 'set'>;

export interface Mapping {
  /** Header to destination text. */
  columns: Map<string, string>;
  /** Header to value (in lower case) to new value. */
  values: Map<string, Map<string, string>>;
}

const SCALED = /^(.+?)\s*\*\s*([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,3})?)$/;

const MAP_FILE_FORM =
  'use {"Header": "field"}, or {"Header": {"field": "stage", "values": {"Engaging": "Discovery"}}}.';

type MapFile = Record<string, string | { field?: string; values?: Record<string, string> }>;

/** Combines file and flags; flags win. `headers` null means that more headers may follow. */
export function readMapping(options: MappingOptions, headers: readonly string[] | null): Mapping {
  const mapping: Mapping = { columns: new Map(), values: new Map() };
  const replace = (header: string, value: string, replacement: string): void => {
    const values = mapping.values.get(header) ?? new Map<string, string>();
    mapping.values.set(header, values.set(value.toLowerCase(), replacement));
  };
  const file = options.mapFile === null ? {} : readMapFile(options.mapFile);
  for (const [title, entry] of Object.entries(file)) {
    // A file may be used for several inputs, so a missing header is not an error.
    const header = findHeader(title, headers);
    if (header === undefined) continue;
    const { field, values = {} } = typeof entry === 'string' ? { field: entry } : entry;
    if (field !== undefined) mapping.columns.set(header, field);
    for (const [value, replacement] of Object.entries(values)) replace(header, value, replacement);
  }
  for (const text of options.map) {
    // A field does not contain "=", but a header may.
    const at = text.lastIndexOf('=');
    if (at < 1)
      throw usageError(`--map '${text}' does not have the form Header=field.`, "use --map 'Header=field'.");
    mapping.columns.set(headerNamed(text.slice(0, at), headers, '--map'), text.slice(at + 1).trim());
  }
  for (const text of options.mapValue) replace(...splitValueMap(text, headers));
  return mapping;
}

function readMapFile(path: string): MapFile {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (cause) {
    throw new CliError(`Cannot read the map file ${path}: ${systemFault(cause)}.`, {
      nextSteps: ['check the path.'],
      cause,
    });
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw usageError(`The map file ${path} is not valid JSON: ${messageOf(cause)}.`, MAP_FILE_FORM);
  }
  if (isMapFile(value)) return value;
  throw usageError(`The map file ${path} does not have the right form.`, MAP_FILE_FORM);
}

function isMapFile(value: unknown): value is MapFile {
  const isText = (one: unknown): boolean => typeof one === 'string';
  const isEntry = (one: unknown): boolean =>
    isText(one) ||
    (isObject(one) &&
      Object.keys(one).every((key) => key === 'field' || key === 'values') &&
      (one.field === undefined || isText(one.field)) &&
      (one.values === undefined || (isObject(one.values) && Object.values(one.values).every(isText))));
  return isObject(value) && Object.values(value).every(isEntry);
}

function splitValueMap(
  text: string,
  headers: readonly string[] | null,
): [header: string, value: string, replacement: string] {
  const at = text.lastIndexOf('=');
  const left = text.slice(0, at);
  // A header may contain a colon: the longest known one that matches wins.
  const known = (headers ?? [])
    .filter((header) => left.startsWith(`${header}:`))
    .sort((one, other) => other.length - one.length)[0];
  const colon = known?.length ?? left.indexOf(':');
  if (at < 1 || colon < 1) {
    throw usageError(
      `--map-value '${text}' does not have the form Header:value=new value.`,
      "use, for example, --map-value 'deal_stage:Engaging=Discovery'.",
    );
  }
  const header = known ?? headerNamed(left.slice(0, colon), headers, '--map-value');
  return [header, left.slice(colon + 1).trim(), text.slice(at + 1).trim()];
}

function findHeader(title: string, headers: readonly string[] | null): string | undefined {
  if (headers === null || headers.includes(title)) return title;
  const alike = headers.filter((header) => headerKey(header) === headerKey(title));
  return alike.length === 1 ? alike[0] : undefined;
}

/** The header of the input that a flag means. */
export function headerNamed(title: string, headers: readonly string[] | null, flag: string): string {
  const header = findHeader(title.trim(), headers);
  if (header !== undefined) return header;
  throw usageError(
    `${flag} uses the column "${title}", which is not in the input.${didYouMean(title, headers ?? [])}`,
    `use one of: ${(headers ?? []).join(', ')}.`,
  );
}

/** The destination that --map or --set names: a field, a lookup, `custom.key`, `field*factor`, or `-`. */
export function parseDestination(resource: Resource, find: HeaderMatcher, text: string): Destination {
  if (text === '-') return { kind: 'left out', reason: 'asked for' };
  const [, multiplied, factor] = SCALED.exec(text) ?? [];
  const name = multiplied ?? text;
  if (factor === undefined && name.includes('*') && !name.startsWith('custom.')) {
    throw usageError(
      `"${text}" does not have a number after *.`,
      'use, for example, estimated_revenue*1000000.',
    );
  }
  const match = find(name);
  const found = (match?.elsewhere ?? match)?.destination;
  if (found === undefined || found.kind === 'left out') {
    const fields = fieldNames(resource);
    const what = found === undefined ? 'is not a field' : 'is a read-only field';
    throw usageError(
      `"${name}" ${what} of the resource.${didYouMean(name, fields)}`,
      `use one of: ${fields.join(', ')}, or "-" to leave the column out.`,
    );
  }
  if (factor === undefined) return found;
  if (found.kind === 'field' && isNumber(resource.fields[found.field])) return { ...found, factor };
  throw usageError(`"${name}" is not a number, so it cannot be multiplied.`, 'use a number field.');
}
