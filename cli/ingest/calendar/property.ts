// Parses a content line of iCalendar with ical.js: its parameters, and its raw value.
import ICAL from 'ical.js';
import { hasTooManyParameters } from '../../input/content-lines.ts';
import { quoted } from '../entries.ts';
import type { ContentLine } from './blocks.ts';

export interface Property {
  line: number;
  /** Upper case. */
  name: string;
  /** By lower-case name. */
  params: Record<string, string>;
  /** Still escaped, if it is text. */
  value: string;
}

// Without types, ical.js does not change values; with types, it would cut dates by position.
const UNTYPED = { ...ICAL.design.icalendar, value: {}, property: {} };

/** Parses a content line; throws an Error if it is invalid. */
export function parseProperty({ line, name, text }: ContentLine): Property {
  if (hasTooManyParameters(text)) throw new Error(`${name} has too many parameters`);
  try {
    const jcal: [string, Record<string, unknown>, string, unknown] = ICAL.parse.property(text, UNTYPED);
    const [, rawParams, type, value] = jcal;
    const params: Record<string, string> = { value: type };
    for (const [parameter, raw] of Object.entries(rawParams)) params[parameter] = String(raw);
    return { line, name, params, value: String(value).trim() };
  } catch {
    throw new Error(`${name} is not valid: ${quoted(text)}`);
  }
}

/** The text of a property, unescaped. */
export function textValue({ value }: Property): string {
  return value.replace(/\\([\\;,nN])/g, (_, escaped: string) => (/n/i.test(escaped) ? '\n' : escaped)).trim();
}
