// The rules of a search in the plainest way, over all records: written from the contract, without code of the product.
import type { Json } from '../support/json.ts';
import { plainWords } from './plain-words.ts';

/** A record as a list shows it, and what belongs to it but is shown elsewhere. */
export interface PlainRecord {
  type: string;
  record: Json;
  externalIds: { source: string; id: string }[];
  /** What was said, and by whom. */
  transcript: string[];
}

/** A text of a record with its field. */
export interface PlainText {
  field: string;
  text: string;
}

/** What is found of a record. */
export interface PlainResult {
  type: string;
  id: string;
  tier: string;
}

const NAMES: Record<string, string[]> = {
  contacts: ['first_name', 'last_name', 'email', 'alt_emails'],
  companies: ['name', 'domain'],
  deals: ['name'],
  notes: ['title'],
  tasks: ['name'],
  meetings: ['title'],
  recordings: ['title'],
  interactions: ['title'],
  bookings: ['title'],
};
const SOCIAL = ['linkedin', 'twitter', 'facebook', 'instagram'];
const PHONES = ['phone', 'personal_phone', 'whatsapp'];
const TEXTS: Record<string, string[]> = {
  contacts: ['title', ...PHONES, ...SOCIAL, 'remarks'],
  companies: [...SOCIAL, 'crunchbase', 'industry', 'city', 'state', 'country'],
  deals: [],
  notes: ['content'],
  tasks: ['description'],
  meetings: ['description', 'location', 'organizer', 'attendees'],
  recordings: [],
  interactions: ['summary'],
  bookings: ['description', 'organizer', 'attendee', 'guests', 'cancellation_reason'],
};

function textsOf(field: string, value: Json): PlainText[] {
  if (Array.isArray(value)) return value.flatMap((one) => textsOf(field, one));
  if (value === null || value === undefined) return [];
  if (typeof value === 'object') return [...textsOf(field, value.name), ...textsOf(field, value.email)];
  return [{ field, text: String(value) }];
}

/** The texts of a record in which each tier looks; `text` has those of `name` too. */
export function plainTexts({ type, record, transcript }: PlainRecord): {
  name: PlainText[];
  text: PlainText[];
} {
  const of = (fields: string[]) => fields.flatMap((field) => textsOf(field, record[field]));
  const name = of(NAMES[type] ?? []);
  const custom = Object.entries<Json>(record.custom ?? {})
    .filter(([, value]) => typeof value !== 'boolean')
    .flatMap(([key, value]) => textsOf(`custom.${key}`, value));
  const spoken = transcript.map((text) => ({ field: 'transcript', text }));
  return { name, text: [...name, ...of(TEXTS[type] ?? []), ...custom, ...spoken] };
}

const digitsIn = (text: string) => [...text.normalize('NFKD')].filter((one) => /\p{Nd}/u.test(one));

function wordsIn(texts: readonly PlainText[]): string[] {
  const words = texts.flatMap(({ field, text }) => {
    const digits = PHONES.includes(field) ? digitsIn(text) : [];
    const ends = [digits.length, 4, 7, 10].filter((length) => length > 0 && length <= digits.length);
    return [
      ...plainWords(text).flatMap((one) => one.words),
      ...ends.map((length) => digits.slice(-length).join('')),
    ];
  });
  return [...new Set(words)];
}

const hostOf = (text: string) =>
  text
    .trim()
    .toLowerCase()
    .replace(/^https?:\/\//, '')
    .replace(/^www\./, '')
    .replace(/\/.*$/, '');

/** Whether the whole query is one of a record's identifiers. */
function isIdentified({ type, record, externalIds }: PlainRecord, q: string): boolean {
  const isPhone = /^[\p{Nd} ().+-]+$/u.test(q);
  const numbers = PHONES.map((field) => record[field]).filter((one) => typeof one === 'string');
  const emails = type === 'contacts' ? [record.email, ...record.alt_emails] : [];
  return (
    record.id === q ||
    emails.some((email) => email !== null && email.toLowerCase() === q.toLowerCase()) ||
    (type === 'companies' && record.domain !== null && record.domain === hostOf(q)) ||
    (isPhone && numbers.some((one) => digitsIn(one).join('') === digitsIn(q).join(''))) ||
    externalIds.some(({ source, id }) => id === q || `${source}:${id}` === q) ||
    record.external_id === q ||
    record.primary_id === q
  );
}

interface WithWords {
  one: PlainRecord;
  name: string[];
  text: string[];
}

/** All records of an organization, whose words are found once. */
export class PlainSearch {
  readonly #records: WithWords[];

  constructor(records: readonly PlainRecord[]) {
    this.#records = records.map((one) => {
      const { name, text } = plainTexts(one);
      return { one, name: wordsIn(name), text: wordsIn(text) };
    });
  }

  /** What a query finds among records of these types, in order. */
  find(q: string, types: readonly string[]): PlainResult[] {
    const searched = q.trim();
    const sought = soughtIn(searched);
    const tierOf = ({ one, name, text }: WithWords): number => {
      if (isIdentified(one, searched)) return 0;
      if (sought.every((word) => occurs(word, name))) return 1;
      return sought.every((word) => occurs(word, text)) ? 2 : 3;
    };
    const results = this.#records
      .filter(({ one }) => types.includes(one.type))
      .map((record) => ({ one: record.one, tier: tierOf(record) }))
      .filter(({ tier }) => tier < 3);
    results.sort(
      (a, b) =>
        a.tier - b.tier ||
        Date.parse(b.one.record.created_at) - Date.parse(a.one.record.created_at) ||
        (a.one.record.id < b.one.record.id ? 1 : -1),
    );
    return results.map(({ one, tier }) => ({
      type: one.type,
      id: one.record.id,
      tier: ['identifier', 'name', 'text'][tier] ?? '',
    }));
  }
}

interface Sought {
  word: string;
  isPrefix: boolean;
}

function soughtIn(q: string): Sought[] {
  const words = plainWords(q);
  return words.flatMap(({ words: of, isRun }, at) =>
    of.map((word) => {
      const length = [...word].length;
      return { word, isPrefix: isRun ? length === 1 : at === words.length - 1 && length >= 2 };
    }),
  );
}

function occurs({ word, isPrefix }: Sought, words: readonly string[]): boolean {
  return words.some((one) => one === word || (isPrefix && one.startsWith(word)));
}

/** Whether any word of a query is in a text. */
export function hasWordOf(q: string, text: PlainText): boolean {
  const words = wordsIn([text]);
  return soughtIn(q).some((one) => occurs(one, words));
}
