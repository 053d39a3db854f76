// WebVTT: converts the cues of a transcript to segments, with the speaker from voice spans.
import { NAME_CHARACTERS_MAX } from '../../db/model/fields.ts';
import type { Data } from '../../db/model/json.ts';
import { CliError } from '../errors.ts';
import { type FaultList, type Findings, quoted } from './entries.ts';
import { decodeLine, linesOf, NOT_UTF8 } from './text-lines.ts';

export interface CueTranscript {
  segments: Segment[];
  /** From the header; null if missing. */
  language: string | null;
}

export interface Segment extends Data {
  speaker: { name: string | null; email: null };
  /** Seconds from the start of the recording, as `end_time`. */
  start_time: number;
  end_time: number;
  speech: string;
}

interface Block {
  line: number;
  lines: VttLine[];
}

interface VttLine {
  text: string;
  isUtf8: boolean;
}

const ARROW = '-->';
// Settings may follow directly, and only the arrow between the times is reliable.
const TIMESTAMP = String.raw`((?:\d+:)?[0-5]\d:[0-5]\d\.\d{3})(?!\d)`;
const TIMING = new RegExp(String.raw`^\s*${TIMESTAMP}\s*${ARROW}\s*${TIMESTAMP}`);
// A map, because an object would also know names such as `constructor`.
const ENTITIES: ReadonlyMap<string, string> = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', ' '],
  ['lrm', ''],
  ['rlm', ''],
]);

/**
 * Reads a WebVTT file; an invalid cue is a fault and skipped.
 * @throws CliError if the file is not WebVTT at all
 */
export async function readWebVtt(
  chunks: AsyncIterable<Uint8Array>,
  name: string,
  { faults }: Findings,
): Promise<CueTranscript> {
  const lines = await vttLines(chunks, name);
  if (!/^WEBVTT(?:[ \t]|$)/.test(lines[0]?.text ?? '')) {
    throw new CliError(`${name} is not WebVTT: its first line must start with WEBVTT.`, {
      nextSteps: ['export the transcript as WebVTT (.vtt), or use JSON with --format json.'],
    });
  }
  const [header, ...blocks] = blocksOf(lines);
  const segments = blocks.flatMap((block) => cueSegments(block, faults));
  const language =
    header?.lines.map(({ text }) => /^Language:\s*(\S+)/i.exec(text)?.[1]).find(Boolean) ?? null;
  return { segments: namedByPrefix(segments), language };
}

// A carriage return alone also ends a line, and NUL becomes the replacement character.
async function vttLines(chunks: AsyncIterable<Uint8Array>, name: string): Promise<VttLine[]> {
  const lossy = new TextDecoder('utf-8', { ignoreBOM: true });
  const raws = await Array.fromAsync(linesOf(chunks, name));
  return raws.flat().flatMap((raw) => {
    const text = decodeLine(raw.bytes);
    const lines = (text ?? lossy.decode(raw.bytes)).replaceAll('\0', '\ufffd').split('\r');
    return lines.map((line) => ({ text: line, isUtf8: text !== null }));
  });
}

// A blank line ends a block. So does a line with an arrow, which starts the next cue, unless it is the timing line of this
// cue: its first line, or its second after an identifier.
function blocksOf(lines: readonly VttLine[]): Block[] {
  const blocks: Block[] = [];
  let open: Block | null = null;
  lines.forEach((line, index) => {
    if (line.text.trim() === '') {
      open = null;
      return;
    }
    const isTiming = line.text.includes(ARROW);
    const isIdentified =
      open !== blocks[0] && open?.lines.length === 1 && !open.lines[0]?.text.includes(ARROW);
    if (open === null || (isTiming && !isIdentified)) {
      open = { line: index + 1, lines: [] };
      blocks.push(open);
    }
    open.lines.push(line);
  });
  return blocks;
}

function cueSegments({ line, lines }: Block, faults: FaultList): Segment[] {
  const bad = lines.findIndex(({ isUtf8 }) => !isUtf8);
  const [first = '', ...more] = lines.map(({ text }) => text);
  const at = first.includes(ARROW) ? 0 : more[0]?.includes(ARROW) ? 1 : -1;
  if (at === -1 && /^(?:NOTE|STYLE|REGION)(?:[ \t]|$)/.test(first)) return [];
  const [timing = '', ...payload] = at === 0 ? [first, ...more] : more;
  const match = TIMING.exec(timing);
  const start = secondsOf(match?.[1]);
  const end = secondsOf(match?.[2]);
  if (bad !== -1) faults.add(line + bad, NOT_UTF8);
  else if (at === -1)
    faults.add(line, 'the cue does not have a timing line like 00:00:01.000 --> 00:00:02.000');
  else if (match === null) faults.add(line + at, `the cue's timing is not valid: ${quoted(timing)}`);
  else if (end < start) faults.add(line + at, 'the cue ends before it starts');
  else return voicesIn(payload.join(' '), { line: line + at, start, end }, faults);
  return [];
}

function secondsOf(text = ''): number {
  const seconds = text
    .split(':')
    .map(Number)
    .reduce((sum, part) => sum * 60 + part, 0);
  return Math.round(seconds * 1_000) / 1_000;
}

// A cue may contain several voices; text before the first, or after the end of one, has no speaker.
function voicesIn(
  text: string,
  { line, start: start_time, end: end_time }: { line: number; start: number; end: number },
  faults: FaultList,
): Segment[] {
  // Tags are not nested: otherwise a cue full of opening signs would take quadratic time.
  const parts = text.split(/<\/v>|<v(?:\.[^\s<>]*)?(?:\s([^<>]*))?>/);
  const segments: Segment[] = [];
  for (let index = 0; index < parts.length; index += 2) {
    const speech = plain(parts[index] ?? '');
    const voice = index === 0 ? '' : plain(parts[index - 1] ?? '');
    const name = faults.clipped(line, 'the name of a voice', voice, NAME_CHARACTERS_MAX) || null;
    if (speech !== '') segments.push({ speaker: { name, email: null }, start_time, end_time, speech });
  }
  return segments;
}

function plain(text: string): string {
  return text
    .replace(/<[^<>]*>/g, '')
    .replace(/&(#x[0-9a-f]+|#\d+|[a-z]+);/gi, decodeEntity)
    .replace(/\s+/g, ' ')
    .trim();
}

function decodeEntity(whole: string, name: string): string {
  if (!name.startsWith('#')) return ENTITIES.get(name.toLowerCase()) ?? whole;
  const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
  const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return isCharacter ? String.fromCodePoint(code) : whole;
}

const PREFIX = /^([^:<>]{1,80}):\s+(.+)$/;

// Zoom and others write "Name: speech" instead of voice spans; used if no cue has a voice and most cues have this.
function namedByPrefix(segments: Segment[]): Segment[] {
  const prefixed = segments.filter(({ speech }) => PREFIX.test(speech));
  const hasVoices = segments.some(({ speaker }) => speaker.name !== null);
  if (hasVoices || prefixed.length * 2 <= segments.length) return segments;
  return segments.map((segment) => {
    const [, name = null, speech = segment.speech] = PREFIX.exec(segment.speech) ?? [];
    return { ...segment, speaker: { name, email: null }, speech };
  });
}
