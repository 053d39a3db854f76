// WebVTT: the cues of a transcript become segments, with the speaker that a voice span names.
import { NAME_CHARACTERS_MAX } from '../../db/declare/fields.ts';
import type { Data } from '../../db/declare/json.ts';
import { CliError } from '../errors.ts';
import { FaultList, type LineFault } from './entries.ts';
import { clip } from './people.ts';
import { NOT_UTF8, textLines } from './text-lines.ts';

export interface CueTranscript {
  segments: Segment[];
  /** As the header names it; null where it does not. */
  language: string | null;
  faults: LineFault[];
}

export interface Segment extends Data {
  speaker: { name: string | null; email: null };
  /** Seconds from the start of the recording, as `end_time`. */
  start_time: number;
  end_time: number;
  speech: string;
}

interface CueBlock {
  line: number;
  lines: string[];
}

const TIMESTAMP = String.raw`((?:\d{2,}:)?[0-5]\d:[0-5]\d\.\d{3})`;
const TIMING = new RegExp(String.raw`^\s*${TIMESTAMP}\s+-->\s+${TIMESTAMP}(?:\s.*)?$`);
const ENTITIES: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  lrm: '',
  rlm: '',
};

/**
 * Reads a WebVTT file; a malformed cue is a fault and left out.
 * @throws CliError if the file is not WebVTT at all
 */
export function parseWebVtt(bytes: Uint8Array, name: string): CueTranscript {
  const { lines, badLines } = textLines(bytes, name);
  if (!/^WEBVTT(?:[ \t]|$)/.test(lines[0] ?? '')) {
    throw new CliError(`${name} is not WebVTT: its first line must begin with WEBVTT.`, {
      nextSteps: ['export the transcript as WebVTT (.vtt), or give JSON with --format json.'],
    });
  }
  const faults = new FaultList();
  const [header, ...blocks] = blocksOf(lines);
  const segments: Segment[] = [];
  for (const block of blocks) {
    const bad = badLines.filter((line) => line >= block.line && line < block.line + block.lines.length);
    for (const line of bad) faults.add(line, NOT_UTF8);
    if (bad.length === 0) segments.push(...cueSegments(block, faults));
  }
  const language = header?.lines.map((line) => /^Language:\s*(\S+)/i.exec(line)?.[1]).find(Boolean) ?? null;
  return { segments: namedByPrefix(segments), language, faults: faults.faults };
}

function blocksOf(lines: readonly string[]): CueBlock[] {
  const blocks: CueBlock[] = [];
  let isOpen = false;
  lines.forEach((text, index) => {
    if (text.trim() === '') isOpen = false;
    else if (isOpen) blocks.at(-1)?.lines.push(text);
    else {
      blocks.push({ line: index + 1, lines: [text] });
      isOpen = true;
    }
  });
  return blocks;
}

function cueSegments({ line, lines }: CueBlock, faults: FaultList): Segment[] {
  const [first = '', second = ''] = lines;
  if (/^(?:NOTE|STYLE|REGION)(?:[ \t]|$)/.test(first) && !first.includes('-->')) return [];
  const at = first.includes('-->') ? 0 : second.includes('-->') ? 1 : -1;
  if (at === -1) {
    faults.add(line, 'the cue has no timing line, 00:00:01.000 --> 00:00:02.000');
    return [];
  }
  const match = TIMING.exec(lines[at] ?? '');
  const start = secondsOf(match?.[1]);
  const end = secondsOf(match?.[2]);
  if (match === null)
    faults.add(line + at, `the cue's timing cannot be read: ${JSON.stringify(clip(lines[at] ?? '', 60))}`);
  else if (end <= start) faults.add(line + at, 'the cue ends before it starts');
  else return voicesIn(lines.slice(at + 1).join(' '), start, end);
  return [];
}

function secondsOf(text = ''): number {
  const seconds = text
    .split(':')
    .map(Number)
    .reduce((sum, part) => sum * 60 + part, 0);
  return Math.round(seconds * 1_000) / 1_000;
}

// A cue may hold several voices; what stands before the first is nobody's.
function voicesIn(text: string, start_time: number, end_time: number): Segment[] {
  const parts = text.split(/<v(?:\.[^\s>]*)?(?:\s+([^>]*))?>/);
  const segments: Segment[] = [];
  for (let index = 0; index < parts.length; index += 2) {
    const speech = plain(parts[index] ?? '');
    const name = index === 0 ? null : clip(plain(parts[index - 1] ?? ''), NAME_CHARACTERS_MAX) || null;
    if (speech !== '') segments.push({ speaker: { name, email: null }, start_time, end_time, speech });
  }
  return segments;
}

function plain(text: string): string {
  return text
    .replace(/<[^>]*>/g, '')
    .replace(/&(#x[0-9a-f]+|#\d+|[a-z]+);/gi, decodeEntity)
    .replace(/\s+/g, ' ')
    .trim();
}

function decodeEntity(whole: string, name: string): string {
  if (!name.startsWith('#')) return ENTITIES[name.toLowerCase()] ?? whole;
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return isCharacter ? String.fromCodePoint(code) : whole;
}

const PREFIX = /^([^:<>]{1,80}):\s+(.+)$/;

// Zoom and others write "Name: speech" in place of voice spans; taken so where no cue has a voice and most have this.
function namedByPrefix(segments: Segment[]): Segment[] {
  const prefixed = segments.filter(({ speech }) => PREFIX.test(speech));
  const hasVoices = segments.some(({ speaker }) => speaker.name !== null);
  if (hasVoices || prefixed.length * 2 <= segments.length) return segments;
  return segments.map((segment) => {
    const [, name = null, speech = segment.speech] = PREFIX.exec(segment.speech) ?? [];
    return { ...segment, speaker: { name, email: null }, speech };
  });
}
