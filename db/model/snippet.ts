// The part of a text that shows why a search found it.

import { foldedText } from './words.ts';

/** How much of a text is shown. */
export interface SnippetSize {
  charactersMax: number;
  /** How many of them come before the hit, if there is more text on both sides. */
  lead: number;
}

/** What a response shows. */
const SHOWN: SnippetSize = { charactersMax: 160, lead: 40 };

/** The part of a text around a place in its folded form, cut between words where there is a space. */
export function snippetAt(text: string, foldedPlace: number, size = SHOWN): string {
  const { charactersMax, lead } = size;
  if (text.length <= charactersMax) return text.trim();
  const place = unfoldedPlace(text, foldedPlace);
  // A character has at most two UTF-16 units.
  const before = [...text.slice(Math.max(0, place - 2 * charactersMax), place)];
  const after = [...text.slice(place, place + 2 * charactersMax)];
  const right = Math.min(after.length, charactersMax - Math.min(before.length, lead));
  const left = Math.min(before.length, charactersMax - right);
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
const PIECE = 64;

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
