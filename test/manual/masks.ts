// What differs from run to run in what a command prints, so that a page can be compared with what comes.
import { hostname, userInfo } from 'node:os';

const HERE = `${userInfo().username}@${hostname()}`;

// In this order: what is part of another stands after it.
const MASKS: readonly [pattern: RegExp, mask: string][] = [
  // How far long work was, every few seconds: a page has its last line. An export has none by then.
  [/^(\w+ing\b[^:\n]*: )\d.*\n(?=\1\d)|^Exporting \w+: \d.*\n/gm, ''],
  [/\bservice_(live|api|pk)_[\w-]{20,}/g, 'service_$1_KEY'],
  [/\breq_[\w-]{12,}/g, 'REQUEST'],
  [/"(end_cursor|next_cursor|cursor)":"[^"]+"/g, '"$1":"CURSOR"'],
  [/^id: [\w-]{16,}$/gm, 'id: CURSOR'],
  [/--cursor [\w.=-]{16,}/g, '--cursor CURSOR'],
  [/\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/g, 'ID'],
  [/\b[\da-f]{32,64}\b/g, 'DIGEST'],
  [/\b\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?Z?|\b\d{8}T\d{6}Z/g, 'TIME'],
  [/\b\d{4}-\d{2}-\d{2}\b/g, 'DATE'],
  // With its date if that was yesterday.
  [/^(?:TIME|\d{2}:\d{2}:\d{2}) {2}key …[\da-f]{6}/gm, 'CLOCK  key …KEY'],
  [/^│ ([•○]) \d{2}:\d{2}/gm, '│ $1 CLOCK'],
  [/\b1[5-9]\d{11}\b/g, 'MILLISECONDS'],
  [/\(commit [\w-]+/g, '(commit COMMIT'],
  [/"commit":( ?)"[\w-]+"/g, '"commit":$1"COMMIT"'],
  [/(?<![\d.])\d+\.\d+\.\d+(?![\d.]*\d)/g, 'VERSION'],
  [/\bPostgreSQL \d+(\.\d+)?/g, 'PostgreSQL VERSION'],
  [/\b(process|pid|"pid":) ?\d+/gi, '$1 PROCESS'],
  [/(?<=(127\.0\.0\.1|localhost|\[::1\]):)\d+/g, 'PORT'],
  [/[\d,]+(\.\d+)? (\w+)\/s\b/g, 'RATE $2/s'],
  [/\b\d+ h \d+ min\b|\b\d+ min( \d+ s)?\b|\b[\d,]+(\.\d+)? (ms|µs|s)\b/g, 'DURATION'],
  [/"ms":[\d.]+/g, '"ms":DURATION'],
  // Each migration can add to these.
  [/[\d.]+ [kMGT]B(?= free|, all pages|\) in DURATION)/g, 'SIZE'],
  [/\ball \d+ tables match/g, 'all TABLES match'],
  // Those of the search index among them, which is brought up to date when there is time.
  [/\bCopied [\d,]+ rows(?= from)/g, 'Copied ROWS'],
  // The test sets these where a reader has them from elsewhere.
  [/\b((?:url|output)\b.*) \((?:default|from CRM_\w+)\)/g, '$1 (SOURCE)'],
  [/\bon (linux|darwin|win32) (x64|arm64)\b/g, 'on SYSTEM'],
  // Before a domain with a dot it is an email address.
  [/\b[\w-]+@[\w-]+\b(?![.\w-])/g, 'USER@HOST'],
];

/** The lines of a text with all that masked; how wide the columns of a table are depends on it too. */
export function masked(text: string): string[] {
  let shown = text.replaceAll(HERE, 'user@host');
  for (const [pattern, mask] of MASKS) shown = shown.replace(pattern, mask);
  const lines = shown.split('\n').map((line) => line.replace(/ {2,}/g, '  ').trimEnd());
  while (lines.at(-1) === '') lines.pop();
  return lines;
}

export const ANY_LINES = '…';

/**
 * What a page says a block prints, against what it printed: null if they agree, else what to tell of the first
 * difference. A line `…` stands for any number of lines.
 */
export function difference(said: string, printed: string): string | null {
  const expected = masked(said);
  const actual = masked(printed);
  if (fits(expected, actual)) return null;
  const at = expected.findIndex((line, index) => line === ANY_LINES || line !== actual[index]);
  const told = (lines: readonly string[]) => (lines[Math.max(0, at)] ?? '(nothing)').trim();
  return `the page says    ${told(expected)}\nthe command says ${told(actual)}\n\nwhole:\n${printed}`;
}

function fits(expected: readonly string[], actual: readonly string[]): boolean {
  const [first, ...rest] = expected;
  if (first === undefined) return actual.length === 0;
  if (first !== ANY_LINES) return first === actual[0] && fits(rest, actual.slice(1));
  return actual.some((_, index) => fits(rest, actual.slice(index))) || fits(rest, []);
}

/** What was printed, with the lines of before where they differ in nothing but what is masked. */
export function renewed(said: string, printed: string): string {
  const before = Map.groupBy(said.split('\n'), (line) => masked(line).join());
  const lines = printed.trimEnd().split('\n');
  return lines.map((line) => `${before.get(masked(line).join())?.shift() ?? line}\n`).join('');
}
