// Matching of a search: what is read from a query, what is searched of a record, and what of it matches.
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { hitIn } from '../../db/model/hits.ts';
import { identifierHitIn, identifiersIn } from '../../db/model/identifiers.ts';
import type { Row } from '../../db/model/resource.ts';
import { RESOURCES } from '../../db/model/resources/registry.ts';
import { queryOf, type SearchQuery } from '../../db/model/search-query.ts';
import {
  indexedWords,
  SEARCHED_RESOURCES,
  type StoredBeside,
  searchedColumns,
  searchedTexts,
} from '../../db/model/searched.ts';
import { foldedText, indexedTerm, wordsOf } from '../../db/model/words.ts';

function resourceOf(name: string) {
  const found = RESOURCES.find((one) => one.name === name);
  if (found === undefined) throw new Error(`No resource ${name}.`);
  return found;
}

function query(q: string): SearchQuery {
  const read = queryOf(q);
  if ('faults' in read) throw new Error(JSON.stringify(read.faults));
  return read.query;
}

const faults = (q?: string) => {
  const read = queryOf(q);
  return 'faults' in read ? read.faults.map(({ message, code }) => [message, code]) : [];
};

/** What a query finds in a stored record, as `tier field: snippet`. */
function found(name: string, row: Row, q: string, beside: StoredBeside = {}): string | null {
  const hit = hitIn(query(q), searchedTexts(resourceOf(name), row, beside));
  return hit && `${hit.tier} ${hit.field}: ${hit.snippet}`;
}

describe('a query', () => {
  const terms = (q: string) => query(q).terms.map(({ word, isPrefix }) => (isPrefix ? `${word}*` : word));

  test.each([
    ['ada lov', ['ada', 'lov*']],
    ['  Ada@Ex  ', ['ada', 'ex*']],
    ['lov ada ', ['lov', 'ada*']],
    ['ada l', ['ada', 'l']],
    ['7', ['7']],
    ['ada ada', ['ada']],
    ['ada lov ada', ['ada', 'lov']],
    ['ad ad ada', ['ad', 'ada*']],
    ['東京 a', ['東京', 'a']],
    ['東京都', ['東京', '京都']],
    ['中 ada', ['中*', 'ada*']],
    ['ada 中', ['ada', '中*']],
    ['한', [`${foldedText('한')}*`]],
  ])('%s', (q, expected) => expect(terms(q)).toEqual(expected));

  test('has at least one word and at most ten, a run counting as one', () => {
    expect(faults('a b c d e f g h i j')).toEqual([]);
    expect(faults('東京都庁舎展望台 ภาษาไทยภาษาไทย c d e f g h i j')).toEqual([]);
    expect(faults('a b c d e f g h i j k')).toEqual([
      ['must have at most 10 words; it has 11', 'VALIDATION_OUT_OF_RANGE'],
    ]);
    expect(faults('東京 tower東京 a b c d e f g h')).toEqual([
      ['must have at most 10 words; it has 11', 'VALIDATION_OUT_OF_RANGE'],
    ]);
    expect(faults(' --- ')).toEqual([['must contain a letter or a digit', 'VALIDATION_INVALID_FORMAT']]);
    expect(faults()).toEqual([['is required', 'VALIDATION_REQUIRED_FIELD']]);
    expect(faults('  ')).toEqual([
      ['must contain at least one character other than white space', 'VALIDATION_REQUIRED_FIELD'],
    ]);
  });

  test('has at most 256 characters without the spaces around it', () => {
    expect(faults(` ${'😀'.repeat(255)}a `)).toEqual([]);
    expect(faults('a'.repeat(257))).toEqual([
      ['must have at most 256 characters', 'VALIDATION_OUT_OF_RANGE'],
    ]);
  });
});

describe('what is searched', () => {
  test('of each resource, in the order of hits', () => {
    const columns = SEARCHED_RESOURCES.map((name) => [name, searchedColumns(resourceOf(name)).join(' ')]);
    expect(Object.fromEntries(columns)).toEqual({
      contacts:
        'first_name last_name email alt_emails title phone personal_phone linkedin twitter facebook instagram whatsapp ' +
        'remarks custom',
      companies:
        'name domain linkedin twitter facebook instagram crunchbase industry city state country custom',
      deals: 'name custom',
      notes: 'title content',
      tasks: 'name description',
      meetings: 'title description location organizer attendees',
      recordings: 'title',
      interactions: 'title summary',
      bookings: 'title description organizer attendee guests cancellation_reason',
    });
  });

  const CONTACT: Row = {
    id: 'c1',
    first_name: 'Ada',
    last_name: 'Lovelace',
    email: 'ada@example.com',
    alt_emails: '["a.lovelace@work.example"]',
    title: 'Head of Engines',
    phone: '+44 (20) 7946-0000',
    remarks: 'Met at the Analytical Society with Babbage.',
    custom: '{"plan":"navy","size":1250.5,"is_new":true,"plan.b":"teal"}',
  };

  test.each([
    ['ada lovelace', 'name first_name: Ada'],
    ['lovelace', 'name last_name: Lovelace'],
    ['ada@ex', 'name email: ada@example.com'],
    ['ada lovelace work', 'name first_name: Ada'],
    ['head engines', 'text title: Head of Engines'],
    ['example.com', 'name email: ada@example.com'],
    ['work example', 'name alt_emails: a.lovelace@work.example'],
    ['engines', 'text title: Head of Engines'],
    ['ada engines', 'text first_name: Ada'],
    ['society babb', 'text remarks: Met at the Analytical Society with Babbage.'],
    ['navy', 'text custom.plan: navy'],
    ['1250', 'text custom.size: 1250.5'],
    ['teal', 'text custom.plan.b: teal'],
    ['true', null],
    ['plan', null],
    ['babb society', null],
    ['engine', 'text title: Head of Engines'],
    ['engine ada', null],
    ['c1', null],
  ])('of a contact: %s', (q, expected) => expect(found('contacts', CONTACT, q)).toBe(expected));

  test.each([
    '+44 20 7946',
    '7946',
    '442079460000',
    '4420',
    '2079460000',
    '207946',
    '9460000',
    '0000',
    '44 9460000',
  ])('a telephone number: %s', (q) =>
    expect(found('contacts', CONTACT, q)).toBe('text phone: +44 (20) 7946-0000'),
  );

  test.each(['02079460000', '46', '79460000', '420', '00000'])('not a telephone number: %s', (q) =>
    expect(found('contacts', CONTACT, q)).toBeNull(),
  );

  test('people of meetings and bookings by name and address', () => {
    const meeting: Row = {
      title: 'Kick-off',
      organizer: '{"name":"Ada","email":"ada@example.com"}',
      attendees:
        '[{"name":"Charles Babbage","email":null,"contact_id":"xyz"},{"name":null,"email":"g@h.example"}]',
      location: 'Room 4',
      timezone: 'Europe/London',
    };
    expect(found('meetings', meeting, 'kick')).toBe('name title: Kick-off');
    expect(found('meetings', meeting, 'kick ada')).toBe('text title: Kick-off');
    expect(found('meetings', meeting, 'ada@example.com')).toBe('text organizer: ada@example.com');
    expect(found('meetings', meeting, 'babbage')).toBe('text attendees: Charles Babbage');
    expect(found('meetings', meeting, 'h.example')).toBe('text attendees: g@h.example');
    expect(found('meetings', meeting, 'room 4')).toBe('text location: Room 4');
    expect(found('meetings', meeting, 'xyz')).toBeNull();
    expect(found('meetings', meeting, 'europe')).toBeNull();
    const booking: Row = {
      title: 'Call',
      attendee: '{"name":"Grace","email":"grace@navy.example","contact_id":null}',
      guests: '["mary@example.com"]',
      external_id: 'bk-1',
    };
    expect(found('bookings', booking, 'grace navy')).toBe('text attendee: grace@navy.example');
    expect(found('bookings', booking, 'mary')).toBe('text guests: mary@example.com');
    expect(found('bookings', booking, 'bk')).toBeNull();
  });

  test('what was said in a recording, and by whom', () => {
    const segments = [
      {
        speaker: { name: 'Ada', email: 'ada@example.com' },
        start_time: 0,
        end_time: 1,
        speech: 'Good morning.',
      },
      { speaker: null, start_time: 1, end_time: 2, speech: 'Two engines, please.' },
    ];
    const beside = { transcript: JSON.stringify(segments) };
    const row: Row = { title: 'Kick-off' };
    expect(found('recordings', row, 'engines', beside)).toBe('text transcript: Two engines, please.');
    expect(found('recordings', row, 'morning engines', beside)).toBe('text transcript: Good morning.');
    expect(found('recordings', row, 'ada', beside)).toBe('text transcript: Ada');
    expect(found('recordings', row, 'kick morning', beside)).toBe('text title: Kick-off');
    expect(found('recordings', row, 'engines')).toBeNull();
  });

  test('by the words of its index: a record that matches has all of them, in the tier of the hit', () => {
    const word = fc.constantFrom(
      'ada',
      'Ädam',
      'lov',
      'lovelace',
      '東京都',
      '東',
      'x'.repeat(70),
      '2079460000',
      'a.b',
    );
    const text = fc.array(word, { maxLength: 3 }).map((words) => words.join(' '));
    const row = fc.record({ first_name: text, email: text, phone: text, remarks: text });
    const beginning = fc.tuple(word, fc.integer({ min: 1, max: 80 })).map(([one, end]) => one.slice(0, end));
    let matches = 0;
    const property = fc.property(row, text, beginning, (stored, whole, last) => {
      const texts = searchedTexts(resourceOf('contacts'), stored);
      const searched = query(`${whole} ${last}`);
      const words = { name: new Set<string>(), text: new Set<string>() };
      for (const one of texts) for (const found of indexedWords(one)) words[one.tier].add(found);
      const inIndex = (sets: Set<string>[]) =>
        searched.terms
          .map(indexedTerm)
          .every(({ word: sought, isPrefix }) =>
            sets.some((set) =>
              [...set].some((one) => one === sought || (isPrefix && one.startsWith(sought))),
            ),
          );
      const hit = hitIn(searched, texts);
      if (hit === null) return;
      matches++;
      expect(inIndex(hit.tier === 'name' ? [words.name] : [words.name, words.text])).toBe(true);
      if (hit.tier === 'text' && !searched.terms.some(({ word: one }) => one.length > 64))
        expect(inIndex([words.name])).toBe(false);
    });
    fc.assert(property, { numRuns: 3_000, seed: 7 });
    expect(matches).toBeGreaterThan(300);
  });

  test('long words exactly, though an index keeps only their beginning', () => {
    const row: Row = { remarks: `${'x'.repeat(70)}1` };
    expect(found('contacts', row, `${'x'.repeat(70)}1 x`)).toBeNull();
    expect(found('contacts', row, 'x'.repeat(69))).not.toBeNull();
    expect(found('contacts', row, `${'x'.repeat(70)}2`)).toBeNull();
  });
});

describe('a snippet', () => {
  const snippet = (remarks: string, q: string) =>
    found('contacts', { remarks }, q)?.replace('text remarks: ', '') ?? '';

  test('is a short text as a whole', () => {
    expect(snippet('  Größe,\n und Öl ', 'ol')).toBe('Größe,\n und Öl');
  });

  test('is at most 160 characters around the first hit, whole words where there are spaces', () => {
    const text = `${'before the hit '.repeat(30)}Ünique ${'after it '.repeat(40)}`;
    const part = snippet(text, 'unique');
    expect(text).toContain(` ${part} `);
    expect(part).toStartWith('the hit before the hit');
    expect(part).toContain('hit Ünique after');
    expect([...part].length).toBeWithin(140, 161);
    expect(snippet(`${text}unique2`, 'unique')).toBe(part);
  });

  test('is cut at characters where there are no spaces', () => {
    const text = `${'𠮷'.repeat(300)}東京${'𠮷'.repeat(300)}`;
    const part = snippet(text, '東京');
    expect(text).toContain(part);
    expect([...part]).toHaveLength(160);
    expect([...part].indexOf('東')).toBe(40);
    expect(part.isWellFormed()).toBe(true);
  });

  test('is around the hit in a text whose characters before it have fewer or more in their folded form', () => {
    const text = `${'e\u0301 '.repeat(400)}Hit${' ﬃ'.repeat(200)}`;
    expect(foldedText(text)).toHaveLength(text.length);
    expect(snippet(text, 'hit')).toMatch(/^e\u0301 (e\u0301 )+Hit( ﬃ)+$/);
  });

  test('fills up at the end of a text', () => {
    const text = `${'x '.repeat(500)}end`;
    expect(snippet(text, 'end')).toBe(text.slice(-159));
  });

  test('contains the hit, whatever the text', () => {
    const character = fc.constantFrom('a', 'É', 'ﬃ', 'İ', '東', '𠮷', 'ไ', '\u0301', ' ', '.', '😀', '½');
    const filling = fc.array(character, { maxLength: 1_500 }).map((all) => all.join(''));
    const property = fc.property(filling, filling, (before, after) => {
      const text = `${before} Hit ${after}`;
      const part = snippet(text, 'hit');
      expect(text).toContain(part);
      expect(wordsOf(part)).toContain('hit');
      expect([...part].length).toBeLessThanOrEqual(160);
    });
    fc.assert(property, { numRuns: 300, seed: 42 });
  });
});

describe('a whole query', () => {
  const identified = (
    name: string,
    row: Row,
    q: string,
    externalIds = [{ source: 'hubspot', id: '77:x' }],
  ) => {
    const hit = identifierHitIn(identifiersIn(query(q)), resourceOf(name), row, externalIds);
    return hit && `${hit.field}: ${hit.snippet}`;
  };
  const id = '019b76da-a800-7000-8000-00000000abcd';
  const contact: Row = {
    id,
    email: 'Ada@example.com',
    alt_emails: '["al@work.example","Ä@ümlaut.example"]',
    phone: '+44 20 7946-0000',
    whatsapp: '٠١٢٣',
    first_name: '77',
  };

  test.each([
    ['ADA@example.com', 'email: Ada@example.com'],
    [' al@work.example ', 'alt_emails: al@work.example'],
    ['ä@ümlaut.example', 'alt_emails: Ä@ümlaut.example'],
    ['44 (20) 79460000', 'phone: +44 20 7946-0000'],
    ['+442079460000', 'phone: +44 20 7946-0000'],
    ['٠١٢٣', 'whatsapp: ٠١٢٣'],
    [id.toUpperCase(), `id: ${id}`],
    ['77:x', 'external_id: hubspot:77:x'],
    ['hubspot:77:x', 'external_id: hubspot:77:x'],
    ['salesforce:77:x', null],
    ['77:X', null],
    ['2079460000', null],
    ['ada', null],
    ['ada@example.com al@work.example', null],
    ['77', null],
  ])('identifies a contact: %s', (q, expected) => expect(identified('contacts', contact, q)).toBe(expected));

  test('identifies a company by its domain, however it is written', () => {
    const row: Row = { id, domain: 'example.com', name: 'Example' };
    expect(identified('companies', row, 'https://www.Example.com/about')).toBe('domain: example.com');
    expect(identified('companies', row, 'example')).toBeNull();
  });

  test('identifies by the ID of the source system', () => {
    expect(identified('interactions', { id, primary_id: 'msg-1', secondary_id: 'thread-1' }, 'msg-1')).toBe(
      'primary_id: msg-1',
    );
    expect(
      identified('interactions', { id, primary_id: 'msg-1', secondary_id: 'thread-1' }, 'thread-1'),
    ).toBeNull();
    expect(identified('meetings', { id, external_id: 'a1@calendar' }, 'a1@calendar')).toBe(
      'external_id: a1@calendar',
    );
  });
});
