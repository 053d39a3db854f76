// One content line of iCalendar, taken apart by ical.js: its parameters, and its value as it is written.
import ICAL from 'ical.js';
import { hasTooManyParameters } from '../../input/content-lines.ts';
import { quoted } from '../entries.ts';
import type { ContentLine } from './blocks.ts';

export interface Property {
  line: number;
  /** By names in lower case. */
  params: Record<string, string>;
  /** Still escaped, if it is text. */
  value: string;
}

// Without types, ical.js leaves values as they are; with them it cuts what it takes for a date by position.
const UNTYPED = { ...ICAL.design.icalendar, value: {}, property: {} };

/** Takes a content line apart; throws an Error where it cannot be. */
export function parseProperty({ line, name, text }: ContentLine): Property {
  if (hasTooManyParameters(text)) throw new Error(`${name} has more parameters than can be read`);
  try {
    const jcal: [string, Record<string, unknown>, string, unknown] = ICAL.parse.property(text, UNTYPED);
    const [, rawParams, type, value] = jcal;
    const params: Record<string, string> = { value: type };
    for (const [parameter, raw] of Object.entries(rawParams)) params[parameter] = String(raw);
    return { line, params, value: String(value).trim() };
  } catch {
    throw new Error(`${name} cannot be read: ${quoted(text)}`);
  }
}

/** The text of a property, unescaped. */
export function textValue({ value }: Property): string {
  return value.replace(/\\([\\;,nN])/g, (_, escaped: string) => (/n/i.test(escaped) ? '\n' : escaped)).trim();
}
