// JSON files for ingest: an array, NDJSON or one object, taken apart so that one bad entry harms no other.
import type { Data } from '../../../db/declare/json.ts';
import { CliError } from '../../errors.ts';
import { JsonArrayScanner, LineScanner, parseObject } from '../../input/json-pieces.ts';
import type { FaultList } from '../entries.ts';
import { NOT_UTF8, textLines } from '../text-lines.ts';

export interface JsonItem {
  line: number;
  value: Data;
}

/**
 * The objects in a JSON file; what is no object, or not whole, is a fault.
 * @throws CliError if the file holds no JSON at all
 */
export function readJsonItems(bytes: Uint8Array, name: string, faults: FaultList): JsonItem[] {
  const { lines, badLines } = textLines(bytes, name);
  const text = lines.join('\n');
  if (text.trim() === '') throw notJson(name, 'it is empty');
  const pieces = /^\s*\[/.test(text)
    ? arrayPieces(text, lines.length, name, faults)
    : objectPieces(text, name);
  const items: JsonItem[] = [];
  for (const piece of pieces) {
    const lastLine = piece.line + piece.text.split('\n').length - 1;
    const bad = badLines.filter((line) => line >= piece.line && line <= lastLine);
    for (const line of bad) faults.add(line, NOT_UTF8);
    if (bad.length > 0) continue;
    const value = parseObject(piece.text);
    if (typeof value === 'string') faults.add(piece.line, `the entry ${value}`);
    else items.push({ line: piece.line, value });
  }
  return items;
}

interface Piece {
  line: number;
  text: string;
}

function arrayPieces(text: string, lastLine: number, name: string, faults: FaultList): Piece[] {
  const scanner = new JsonArrayScanner(name);
  const pieces: Piece[] = [];
  try {
    // Line by line, so that the elements before a fault are kept.
    for (const line of text.split(/(?<=\n)/)) pieces.push(...scanner.push(line));
    scanner.end();
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const line = /\bline (\d+)/.exec(error.message)?.[1];
    faults.add(line === undefined ? lastLine : Number(line), error.message);
  }
  return pieces;
}

// One object over several lines, or one in each.
function objectPieces(text: string, name: string): Piece[] {
  const scanner = new LineScanner(name);
  const pieces = [...scanner.push(text), ...scanner.end()];
  const [first] = pieces;
  if (first === undefined || !first.text.startsWith('{'))
    throw notJson(name, 'it begins with neither [ nor {');
  return pieces.length > 1 && isJson(text) ? [{ line: first.line, text: text.trim() }] : pieces;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function notJson(name: string, reason: string): CliError {
  return new CliError(`${name} is no JSON: ${reason}.`, {
    nextSteps: ['give an array [{…}, {…}], or one object a line.'],
  });
}
