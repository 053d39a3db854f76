// What is searched of a record: its texts, each with its field and whether it names the record, and their words.

import { memoize } from '../cache.ts';
import type { Field } from './fields.ts';
import { isObject, type JsonValue } from './json.ts';
import type { Resource, Row } from './resource.ts';
import { digitsOf, foldedText, indexedWord, wordsOf } from './words.ts';

/** The resources that are searched; the search index contains their numbers, so a new one goes to the end. */
export const SEARCHED_RESOURCES = [
  'contacts',
  'companies',
  'deals',
  'notes',
  'tasks',
  'meetings',
  'recordings',
  'interactions',
  'bookings',
] as const;

/** What a text says of a record: what it is called, which includes its addresses, or anything else. */
export type TextTier = 'name' | 'text';

/** A text of a record. */
export interface SearchedText {
  /** The field; of a custom value `custom.NAME`, of what was said in a recording `transcript`. */
  field: string;
  tier: TextTier;
  text: string;
  /** Of a telephone number, which is also found by its digits. */
  isPhone?: true;
}

/** What is searched of a record but stored elsewhere. */
export interface StoredBeside {
  /** The segments of the transcript of a recording, as stored. */
  transcript?: string | null | undefined;
}

// What a record is called; its title, if it has none of the others.
const NAMES = ['first_name', 'last_name', 'name'];
const TITLE = 'title';
const PHONES = ['phone', 'personal_phone', 'whatsapp'];
// IDs of other systems are found as a whole only.
const UNSEARCHED = ['external_id', 'primary_id', 'secondary_id', 'timezone', 'currency'];

interface SearchedField {
  name: string;
  tier: TextTier;
  isPhone: boolean;
  /** Adds the texts of a stored value. */
  read: (texts: SearchedText[], stored: string) => void;
}

const searchedFields = memoize(({ fields }: Resource): readonly SearchedField[] => {
  const isNamed = NAMES.some((name) => name in fields);
  const found = Object.entries(fields).flatMap(([name, field]): SearchedField[] => {
    if (!isSearched(name, field)) return [];
    const tier = isName(name, isNamed) || isAddress(field) ? 'name' : 'text';
    return [{ name, tier, isPhone: isPhone(name), read: readerOf(name, field, tier) }];
  });
  // Names before addresses, and both before everything else.
  const rank = ({ name, tier }: SearchedField) => (tier === 'text' ? 2 : isName(name, isNamed) ? 0 : 1);
  return found.toSorted((a, b) => rank(a) - rank(b));
});

function isSearched(name: string, { kind, column, access }: Field): boolean {
  if (column === null || access === 'internal' || access === 'input' || UNSEARCHED.includes(name))
    return false;
  return ['text', 'email', 'emails', 'domain', 'custom', 'json'].includes(kind);
}

function isName(name: string, isNamed: boolean): boolean {
  return isNamed ? NAMES.includes(name) : name === TITLE;
}

function isAddress({ kind }: Field): boolean {
  return kind === 'email' || kind === 'emails' || kind === 'domain';
}

/** Whether a field is a telephone number. */
export function isPhone(name: string): boolean {
  return PHONES.includes(name);
}

function readerOf(field: string, { kind, decode }: Field, tier: TextTier): SearchedField['read'] {
  if (kind === 'custom') return (texts, stored) => addCustom(texts, decode(stored));
  if (kind === 'emails' || kind === 'json') {
    return (texts, stored) => addStrings(texts, { field, tier }, decode(stored));
  }
  if (isPhone(field)) return (texts, text) => texts.push({ field, tier, text, isPhone: true });
  return (texts, text) => texts.push({ field, tier, text });
}

function addCustom(texts: SearchedText[], custom: JsonValue): void {
  if (!isObject(custom)) return;
  for (const [name, value] of Object.entries(custom)) {
    if (typeof value === 'string' || typeof value === 'number') {
      texts.push({ field: `custom.${name}`, tier: 'text', text: String(value) });
    }
  }
}

// Addresses, or people with their names and addresses.
function addStrings(texts: SearchedText[], at: Omit<SearchedText, 'text'>, value: JsonValue): void {
  if (typeof value === 'string') texts.push({ ...at, text: value });
  else if (Array.isArray(value)) for (const one of value) addStrings(texts, at, one);
  else if (isObject(value)) {
    addStrings(texts, at, value.name ?? null);
    addStrings(texts, at, value.email ?? null);
  }
}

// What was said, each segment a text, and who said it.
function addTranscript(texts: SearchedText[], segments: JsonValue): void {
  const at = { field: 'transcript', tier: 'text' } as const;
  if (!Array.isArray(segments)) return;
  const speakers = new Map<string, JsonValue>();
  for (const segment of segments) {
    if (!isObject(segment)) continue;
    const { speech = null, speaker = null } = segment;
    addStrings(texts, at, speech);
    speakers.set(JSON.stringify(speaker), speaker);
  }
  for (const speaker of speakers.values()) addStrings(texts, at, speaker);
}

/** The texts of a stored record, those that name it first; a hit in an earlier one counts before a hit in a later one. */
export function searchedTexts(resource: Resource, row: Row, beside: StoredBeside = {}): SearchedText[] {
  const texts: SearchedText[] = [];
  for (const { name, read } of searchedFields(resource)) {
    const stored = row[name];
    if (typeof stored === 'string' && stored !== '') read(texts, stored);
  }
  const { transcript } = beside;
  if (typeof transcript === 'string') addTranscript(texts, JSON.parse(transcript) as JsonValue);
  return texts;
}

/** The stored columns that the texts of a record come from. */
export const searchedColumns = memoize((resource: Resource): readonly string[] =>
  searchedFields(resource).map(({ name }) => name),
);

// By how many of its last digits a telephone number is found: people leave out the code of the country or the area.
const LAST_DIGITS = [4, 7, 10];

/** The words that a telephone number is found by beside those of its text: all of its digits, and the last ones. */
export function phoneWords(text: string): string[] {
  const digits = [...digitsOf(foldedText(text))];
  if (digits.length === 0) return [];
  const lengths = [digits.length, ...LAST_DIGITS.filter((length) => length < digits.length)];
  return lengths.map((length) => digits.slice(-length).join(''));
}

/** The words that an index keeps of a text. */
export function indexedWords({ text, isPhone }: SearchedText): string[] {
  const words = wordsOf(text).map(indexedWord);
  return isPhone ? [...words, ...phoneWords(text).map(indexedWord)] : words;
}
