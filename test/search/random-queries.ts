// Random queries, most of which find something: parts of the texts of a record, or what identifies it.
import { type PlainRecord, plainTexts } from './plain-search.ts';
import { plainWords } from './plain-words.ts';
import { pick, type RandomTexts, whole } from './random-texts.ts';

/** A query about one of these records; it has a word, and not too many. */
export function randomQuery(texts: RandomTexts, records: readonly PlainRecord[]): string {
  const { random } = texts;
  for (;;) {
    const q = pick(random, QUERIES)(texts, pick(random, records));
    const words = plainWords(q).length;
    if (words > 0 && words <= 10 && [...q.trim()].length <= 256) return q;
  }
}

type MakeQuery = (texts: RandomTexts, about: PlainRecord) => string;

const ofWords: MakeQuery = ({ random }, about) => {
  const words = plainTexts(about).text.flatMap(({ text }) => text.split(/[\s,@/.-]+/));
  const chosen = Array.from({ length: whole(random, 1, 3) }, () => pick(random, words));
  const last = [...(chosen.pop() ?? '')];
  const kept = random() < 0.5 ? last.length : whole(random, 1, Math.max(1, last.length));
  return [...chosen, last.slice(0, kept).join('')].join(pick(random, [' ', ' ', ', ', ' - ']));
};

// A part of a text as it is written.
const ofPart: MakeQuery = ({ random }, about) => {
  const characters = [...(pick(random, plainTexts(about).text)?.text ?? '')];
  const from = whole(random, 0, characters.length);
  return characters.slice(from, from + whole(random, 1, 12)).join('');
};

const ofIdentifier: MakeQuery = ({ random }, { type, record, externalIds }) => {
  const [given] = externalIds;
  const known = [record.id, record.primary_id, record.external_id, record.domain, record.email];
  const all = [...known, ...(record.alt_emails ?? []), record.phone, record.whatsapp];
  all.push(
    given?.id,
    given && `${given.source}:${given.id}`,
    record.domain && `https://www.${record.domain}/x`,
  );
  all.push(record.phone?.replaceAll(/\D/g, ''), record.phone?.replaceAll(/\D/g, '').slice(-7), type);
  const value = pick(
    random,
    all.filter((one) => typeof one === 'string' && one !== ''),
  );
  return random() < 0.2 ? ` ${value} ` : value;
};

const QUERIES: readonly MakeQuery[] = [
  ...[ofWords, ofWords, ofWords, ofPart, ofPart, ofIdentifier],
  (texts) => texts.word(),
  (texts) => texts.text(1, 2),
  (texts) => `${texts.label()} ${texts.label().slice(0, 2)}`,
  (texts) => texts.digits(whole(texts.random, 1, 4)),
];
