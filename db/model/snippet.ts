// The part of a text that shows why a search found it.

import { foldedText } from './words.ts';

const CHARACTERS_MAX = 160;
// So many of them come before the hit, if there is more text on both sides.
const LEAD = 40;
// UTF-16 units of the most characters that a snippet can have.
const UNITS_MAX = 2 * CHARACTERS_MAX;

/**
 * The part of a text around a place in its folded form: at most 160 characters, cut between words where there is a space.
 */
export function snippetAt(text: string, foldedPlace: number): string {
  if (text.length <= CHARACTERS_MAX) return text.trim();
  const place = text.length === foldedText(text).length ? foldedPlace : unfoldedPlace(text, foldedPlace);
  const before = [...text.slice(Math.max(0, place - UNITS_MAX), place)];
  const after = [...text.slice(place, place + UNITS_MAX)];
  const right = Math.min(after.length, CHARACTERS_MAX - Math.min(before.length, LEAD));
  const left = Math.min(before.length, CHARACTERS_MAX - right);
  const start = startOf(before, before.length - left);
  return [...before.slice(start), ...after.slice(0, endOf(after, right))].join('').trim();
}

function isSpace(character: string | undefined): boolean {
  return character !== undefined && character.trim() === '';
}

// The first word that is whole, if a word is cut.
function startOf(characters: readonly string[], cut: number): number {
  if (cut === 0 || isSpace(characters[cut - 1])) return cut;
  const space = characters.findIndex((character, at) => at >= cut && isSpace(character));
  return space < 0 ? cut : space;
}

function endOf(characters: readonly string[], cut: number): number {
  if (cut === characters.length || isSpace(characters[cut])) return cut;
  const space = characters.findLastIndex((character, at) => at > 0 && at < cut && isSpace(character));
  return space < 0 ? cut : space;
}

// Each character folds by itself, so a text folds in pieces.
const PIECE = 512;

// The place of the character whose folded form has the given place.
function unfoldedPlace(text: string, foldedPlace: number): number {
  let folded = 0;
  let at = 0;
  while (at + PIECE < text.length) {
    const end = at + PIECE + (isCutPair(text, at + PIECE) ? 1 : 0);
    const length = foldedText(text.slice(at, end)).length;
    if (folded + length > foldedPlace) break;
    folded += length;
    at = end;
  }
  for (const character of text.slice(at, at + PIECE + 1)) {
    folded += foldedText(character).length;
    if (folded > foldedPlace) break;
    at += character.length;
  }
  return at;
}

function isCutPair(text: string, at: number): boolean {
  return (text.charCodeAt(at) & 0xfc00) === 0xdc00;
}
