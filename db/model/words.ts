// What a word is to a search: how text is folded, and where words begin and end in the scripts of the world.

import { foldSigma } from './text.ts';

/** How a character makes words: as no part of one, as one of many, or as one of the two that a word has. */
type Kind = number;
const BORDER: Kind = 0;
const LETTER: Kind = 1;
// The kinds above are of scripts that have no borders between words.

const PART_OF_WORD = /[\p{L}\p{M}\p{N}]/u;
const UNBORDERED = [
  // The marks that lengthen and repeat belong to no one script.
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー〆〱-〵〼]/u,
  /\p{Script=Thai}/u,
  /\p{Script=Lao}/u,
  /\p{Script=Khmer}/u,
];

// Kinds of 256 characters each, found out when the first of them is met: regular expressions are twenty times slower.
const BLOCK_BITS = 8;
const BLOCK_SIZE = 2 ** BLOCK_BITS;
const blocks: Uint8Array[] = [];

function kindOf(codePoint: number): Kind {
  const block = blocks[codePoint >> BLOCK_BITS] ?? addBlock(codePoint >> BLOCK_BITS);
  return block[codePoint & (BLOCK_SIZE - 1)] as number;
}

function addBlock(number: number): Uint8Array {
  const start = number * BLOCK_SIZE;
  const block = Uint8Array.from({ length: BLOCK_SIZE }, (_, at) => {
    const character = String.fromCodePoint(start + at);
    if (!PART_OF_WORD.test(character)) return BORDER;
    return LETTER + 1 + UNBORDERED.findIndex((script) => script.test(character));
  });
  blocks[number] = block;
  return block;
}

const IS_ASCII = /^[\0-\x7f]*$/;

/**
 * Text in the form in which words are compared: compatibility forms taken apart, without nonspacing marks, in lower case.
 * Folding again changes nothing, and each character folds by itself.
 */
export function foldedText(text: string): string {
  if (IS_ASCII.test(text)) return text.toLowerCase();
  const letters = text.normalize('NFKD').replace(/\p{Mn}+/gu, '');
  return foldSigma(letters.toLowerCase());
}

/** A stretch of folded text: a word, or a run of characters of a script without borders between words. */
interface Stretch {
  text: string;
  isRun: boolean;
}

/** The stretches of folded text, in order. */
export function stretchesOf(folded: string): Stretch[] {
  const stretches: Stretch[] = [];
  let kind = BORDER;
  let start = 0;
  const end = (at: number) => {
    if (kind !== BORDER) stretches.push({ text: folded.slice(start, at), isRun: kind !== LETTER });
  };
  let at = 0;
  while (at < folded.length) {
    const codePoint = folded.codePointAt(at) as number;
    const next = kindOf(codePoint);
    if (next !== kind) {
      end(at);
      kind = next;
      start = at;
    }
    at += codePoint > 0xffff ? 2 : 1;
  }
  end(at);
  return stretches;
}

/** The words of a run: its characters in pairs, each with the next; one character alone is a word. */
export function pairsOf(run: string): string[] {
  const characters = [...run];
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, at) => `${characters[at]}${character}`);
}

/** The words of text, in order. */
export function wordsOf(text: string): string[] {
  if (IS_ASCII.test(text)) return text.toLowerCase().match(/[a-z0-9]+/g) ?? [];
  const folded = foldedText(text);
  return stretchesOf(folded).flatMap((one) => (one.isRun ? pairsOf(one.text) : one.text));
}

// Takes about a millisecond.
const PIECE_LENGTH = 16_384;
// Where no word goes on in any script, whatever follows.
const BETWEEN_WORDS = /[ \t\n。、，]/g;

/** Parts of a text that have the same words and fold to the same together as the text, each short unless nothing is between words. */
export function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  let from = 0;
  while (text.length - from > PIECE_LENGTH) {
    BETWEEN_WORDS.lastIndex = from + PIECE_LENGTH;
    const found = BETWEEN_WORDS.exec(text);
    if (found === null) break;
    pieces.push(text.slice(from, found.index));
    from = found.index;
  }
  pieces.push(text.slice(from));
  return pieces;
}

/** The digits in folded text. */
export function digitsOf(folded: string): string {
  return folded.replace(/\P{Nd}+/gu, '');
}

/** What is looked for in folded text. */
export interface Term {
  readonly word: string;
  /** Whether longer words that begin with it count as well. */
  readonly isPrefix: boolean;
}

/** Where a term occurs first in folded text; -1 if it does not. */
export function placeOf({ word, isPrefix }: Term, folded: string): number {
  let at = folded.indexOf(word);
  while (at >= 0 && !isWordAt(folded, at, word, isPrefix)) at = folded.indexOf(word, wordEnd(folded, at));
  return at;
}

// Where the next word can begin: a long word can contain the wanted one at each of its letters.
function wordEnd(folded: string, at: number): number {
  let end = at + 1;
  if (kindAt(folded, at) === LETTER) while (kindAt(folded, end) === LETTER) end++;
  return end;
}

function isWordAt(folded: string, at: number, word: string, isPrefix: boolean): boolean {
  const kind = kindOf(word.codePointAt(0) as number);
  const before = kindBefore(folded, at);
  const after = kindAt(folded, at + word.length);
  if (kind === LETTER) return before !== LETTER && (isPrefix || after !== LETTER);
  const isPair = word.length > ((word.codePointAt(0) as number) > 0xffff ? 2 : 1);
  return isPair || (isPrefix && after === kind) || (before !== kind && after !== kind);
}

function kindAt(folded: string, at: number): Kind {
  const codePoint = folded.codePointAt(at);
  return codePoint === undefined ? BORDER : kindOf(codePoint);
}

function kindBefore(folded: string, at: number): Kind {
  if (at === 0) return BORDER;
  const isLowHalf = at > 1 && (folded.charCodeAt(at - 1) & 0xfc00) === 0xdc00;
  return kindAt(folded, at - (isLowHalf ? 2 : 1));
}

const INDEXED_CHARACTERS_MAX = 64;

/** What an index keeps of a word: its beginning, as an index entry of PostgreSQL has at most about 2,700 bytes. */
export function indexedWord(word: string): string {
  if (word.length <= INDEXED_CHARACTERS_MAX) return word;
  return [...word.slice(0, 2 * INDEXED_CHARACTERS_MAX)].slice(0, INDEXED_CHARACTERS_MAX).join('');
}

/** The term that finds in an index whatever contains the given term, and perhaps more. */
export function indexedTerm({ word, isPrefix }: Term): Term {
  const indexed = indexedWord(word);
  // Of a longer word the index keeps these characters, too.
  const isCut = indexed.length < word.length || [...indexed].length === INDEXED_CHARACTERS_MAX;
  return { word: indexed, isPrefix: isPrefix && !isCut };
}
