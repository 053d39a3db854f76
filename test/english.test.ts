// Plain English: turns of phrase that no message, help text, page or comment uses, each with a better wording.
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript-5';

const ROOT = join(import.meta.dir, '..');
/** Where texts are checked, as pathspecs of git. */
const CHECKED = ['cli', 'server', 'db', 'test', '*.md', '.github'];
const EXCLUDED = ['test/fixtures', 'test/english.test.ts', 'CHANGELOG.md'];
const SCAN_MS_MAX = 600_000;

type Phrase = readonly [pattern: RegExp, better: string];

/** Not used anywhere, comments included. A new phrase is one line. */
const EVERYWHERE: readonly Phrase[] = [
  [/\banew\b/, 'again'],
  [/\bafresh\b/, 'again, from the start'],
  [/\b(whoever|whomever|whosoever)\b/, 'anyone who, the person who, the one that'],
  [
    /\b(hence|thence|whence|thereof|therein|thereby|thereto|wherewith|whereby|wherein|whereof)\b/,
    'so, which',
  ],
  [/\b(ere|lest|nought|aught|wherefore|nevertheless|nonetheless)\b/, 'an everyday word'],
  [/\bof (no|little) use\b/, 'cannot be used, does not help'],
  [/\b(is|are) told to\b/, 'asks … to'],
  [/\b(is|are) no (good|such|part|way)\b(?<!\bthere (is|are) no \w+)/, 'is not a …'],
  [/\bcannot be (had|meant)\b/, 'is not available, is not valid'],
  [/\bwhat there is of\b/, 'everything that …, all data'],
  [/\b(the|a) way out\b/, 'how to fix it'],
  [/\bnothing but errors\b/, 'only errors'],
  [/\bin (the|its|their|a|whose) places? of\b|\bin place of\b/, 'instead of'],
  [/\bbears? no\b/, 'does not allow, has no'],
  [/\bmend(s|ed|ing)?\b/, 'fix, correct'],
  [/\bonce more\b/, 'again'],
  [/\bjust now\b/, 'right now'],
  [/\bby nobody\b/, 'not … by anyone'],
  [/\bfor ever\b/, 'forever'],
  [/\bof a sudden\b/, 'suddenly'],
  [/\bas well as ever\b/, 'as before'],
  [/\bmay not be (taken|had|given)\b/, 'cannot be …, permission denied'],
  [/\bgo(es)? on (with|where|from)\b/, 'continue with, resume'],
  [/\bleft off\b/, 'stopped'],
  [/\bheld against\b/, 'checked against'],
  [/\b(come|comes|came|brought) in anew\b/, 'is imported again'],
  [/\bsomewhat\b|\bto wit\b|\bso as to\b/, 'leave it out'],
  [/\bin vain\b|\bthus\b|\bupon\b|\bso long as\b|\bforthwith\b|\balbeit\b/, 'an everyday word'],
  [/\bof whom\b|\bto whom\b/, 'who …'],
  [/\bsave (for|that|those|where|what)\b/, 'except'],
  [/\btold (apart|from)\b/, 'distinguished, have distinct names'],
  [/\bway of telling\b|\bno telling\b/, 'does not say'],
  [/\ball of \d/, 'all 24'],
  [/\bof any kinds\b/, 'of any kind'],
  [/\bas any other\b/, 'in the same way'],
  [/\bif need be\b/, 'if necessary'],
  [/\bof which (a|an|the|no|nothing|more|less|few|one instance)\b/, 'whose …, that …'],
  [/\bas far as the \w+ (has|have) (it|them)\b/, 'if the … has it'],
];

/** Not used in texts that users read: string literals, templates and pages. */
const IN_TEXTS: readonly Phrase[] = [
  [/(?<!\bthere |\bthat )\b(is|are|was|were) no (?!longer\b|more\b|fewer\b|less\b|doubt\b)/i, 'is not a …'],
  [
    /(?<!\bthere )\b(has|have|takes?|gives?|needs?|makes?|knows?|tells?|holds?|writes?) none\b/,
    'does not have any …',
  ],
  [/\bis none\b(?<!\bthere is none)/, 'is not one'],
  [/\bbeside\b/, 'next to; while the server runs'],
  [/\bno \w+ of (its|their|one's) own\b/, 'not a separate …'],
  [/\b(unless|where|if) (said|told|given)( otherwise)?\b/, 'by default'],
  [/\b(one|requests|rows|records) an? (line|day|minute|second|core|resource)\b/, '… per …'],
  [/\b(is|are|was|were|be) told\b/, 'is printed, is reported'],
  [/\b(does|do|did) not tell\b/, 'is ambiguous, does not report'],
  [/\b(is|are|was) (there|here) already\b/, 'already exists'],
  [/\bthere already\b/, 'already'],
  [/\b(will|would) (not )?be doubled\b|\bnever doubles?\b/, 'no duplicates are created'],
  [/\bthrow-away\b/, 'temporary'],
  [/\bmake room\b/, 'free up space'],
  [/\b(look|see) (yourself|whether)\b/, 'check'],
  [/\b(stands?|stood|lies?) (in|on|before|behind|beside|there|where)\b/, 'is in …'],
  [/\bby (the )?name of\b/, 'named'],
  [/\balike\b/, 'both'],
  [/\bthe former one\b/, 'the previous …'],
  [/\bperhaps\b/, 'maybe, may'],
  [/\bunder way\b/, 'in flight, running'],
  [/\banswer(s|ed)? with (a )?\d/, 'responds with …'],
  [/\bgive (exactly )?(one|both|either|such)\b/i, 'use …, set …'],
  [/\bsay --/, 'add --…, use --…'],
  [/\bname (one|some) of\b/i, 'use one of …'],
  [/\bsomebody\b/, 'someone, a contact, a user'],
  [/\b(know|knows|hear|hears) of\b/, 'knows'],
  [/\bcomes? (in )?again\b/, 'tries again, returns'],
  [/\bleave [^.,;]{1,40} out, or\b/i, 'remove …'],
  [
    /(?<!Favourite )\b(colour|behaviour|honour|favour|licence|synchronis|recognis|organis)\w*/i,
    'American spelling',
  ],
  [/\btime-outs?\b/i, 'timeout'],
  [/\b(do|does|did|is|are|was|were|has|have|could)n't\b/i, 'does not, is not'],
  [/\b(every|any)body\b/i, 'everyone, anyone'],
  [/\bmeanwhile\b/i, 'in the meantime'],
  [/\bnothing but\b/i, 'only'],
  [/\b(MB|MiB|ms|s) (was|were) seen\b/, 'in our trials'],
  [/, (or )?else (?!custom\b)\w/, 'otherwise'],
];

interface Matcher {
  pattern: RegExp;
  better: string;
}

interface Phrases {
  /** Whether a text has one of them: most have none. */
  any: RegExp;
  each: readonly Matcher[];
}

/** Words of a phrase can be on two lines. */
const sourceOf = ([pattern]: Phrase) => pattern.source.replaceAll(' ', '\\s+');

function phrasesOf(phrases: readonly Phrase[]): Phrases {
  return {
    any: new RegExp(phrases.map((one) => `(?:${sourceOf(one)})`).join('|'), 'i'),
    each: phrases.map((one) => ({ pattern: new RegExp(sourceOf(one), 'gi'), better: one[1] })),
  };
}

const NOT_ANYWHERE = phrasesOf(EVERYWHERE);
const NOT_IN_TEXTS = phrasesOf([...EVERYWHERE, ...IN_TEXTS]);

interface Finding {
  line: number;
  found: string;
  better: string;
}

interface Piece {
  line: number;
  text: string;
  isComment: boolean;
}

function findingsIn(pieces: readonly Piece[], isTest = false): Finding[] {
  return pieces.flatMap(({ line, text, isComment }) => {
    const { any, each } = isComment || isTest ? NOT_ANYWHERE : NOT_IN_TEXTS;
    if (!any.test(text)) return [];
    return each.flatMap(({ pattern, better }) =>
      [...text.matchAll(pattern)].map(({ 0: found, index }) => ({
        line: line + linesBefore(text, index),
        found: found.replaceAll('\n', ' ').trim(),
        better,
      })),
    );
  });
}

function linesBefore(text: string, index: number): number {
  return text.slice(0, index).split('\n').length - 1;
}

/** String literals, templates (an expression as `…`), JSX texts and comments of a TypeScript file. */
function piecesOfCode(path: string, text: string): Piece[] {
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
  const pieces: Piece[] = [];
  const add = (start: number, content: string, isComment: boolean): void => {
    const line = file.getLineAndCharacterOfPosition(start).line + 1;
    if (/\S\s+\S/.test(content)) pieces.push({ line, text: content, isComment });
  };
  const comments = new Map<number, ts.CommentRange>();
  const visit = (node: ts.Node): void => {
    for (const range of ts.getLeadingCommentRanges(text, node.pos) ?? []) comments.set(range.pos, range);
    for (const range of ts.getTrailingCommentRanges(text, node.end) ?? []) comments.set(range.pos, range);
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node) || ts.isJsxText(node))
      add(node.getStart(file), node.text, false);
    if (ts.isTemplateExpression(node)) {
      const rest = node.templateSpans.map(({ literal }) => `…${literal.text}`);
      add(node.getStart(file), node.head.text + rest.join(''), false);
    }
    for (const child of node.getChildren(file)) visit(child);
  };
  visit(file);
  for (const { pos, end } of comments.values()) add(pos, joined(text.slice(pos, end)), true);
  return pieces;
}

/** A comment with each line break and its `*` or `//` as one character, so that phrases across lines are found. */
function joined(comment: string): string {
  return comment.replace(/\n\s*(?:\*|\/\/)? ?/g, '\n');
}

/** The prose of a Markdown page: without fences and inline code. */
function proseOf(text: string): Piece[] {
  const blank = (part: string): string => part.replace(/[^\n]/g, '');
  const prose = text.replace(/^(`{3,}|~{3,})[\s\S]*?^\1/gm, blank).replace(/`[^`\n]+`/g, '`…`');
  return [{ line: 1, text: prose, isComment: false }];
}

function linesOf(path: string, text: string): Piece[] {
  // A comparison in Python, not English.
  const words = path.endsWith('.py.txt') ? text.replaceAll(/\bis None\b/g, '') : text;
  return words.split('\n').map((content, index) => ({ line: index + 1, text: content, isComment: false }));
}

function findingsOf(path: string): string[] {
  const text = readFileSync(join(ROOT, path), 'utf8');
  const pieces = /\.tsx?$/.test(path)
    ? piecesOfCode(path, text)
    : path.endsWith('.md')
      ? proseOf(text)
      : linesOf(path, text);
  // No user reads the texts of a test.
  const isTest = /^test\/.*\.tsx?$/.test(path);
  return findingsIn(pieces, isTest).map(
    ({ line, found, better }) => `${path}:${line}: "${found}" → ${better}`,
  );
}

const files = Bun.spawnSync(['git', 'ls-files', ...CHECKED], { cwd: ROOT })
  .stdout.toString()
  .split('\n')
  .filter((path) => /\.(?:tsx?|md|txt|ya?ml|service|logrotate|sql|cfg|sh)$|Containerfile$/.test(path))
  .filter((path) => !EXCLUDED.some((excluded) => path.startsWith(excluded)));

test('the scan sees texts, templates, comments and pages', () => {
  const hole = ['$', '{a}'].join('');
  const code = [
    '// Read it anew.',
    "const a = 'begin anew';",
    `const b = \`say it ${hole} anew\`;`,
    '/**',
    ' * Mends it, once',
    ' * more.',
    ' */',
    `const c = \`"${hole}" is no email\`; // is no email`,
  ].join('\n');
  const said = (pieces: readonly Piece[]) => findingsIn(pieces).map(({ line, found }) => `${line} ${found}`);
  expect(said(piecesOfCode('x.ts', code))).toEqual([
    '2 anew',
    '3 anew',
    '8 is no',
    '1 anew',
    '5 Mends',
    '5 once more',
  ]);
  expect(said(proseOf('# A\n\n```sh\nanew\n```\n\nIt `anew` stays\nanew.\n'))).toEqual(['8 anew']);
  expect(files.length).toBeGreaterThan(500);
});

test.each(['cli', 'server', 'db', 'test', ''])(
  '%s/ is in plain English',
  (root) => {
    const inRoot = files.filter((path) =>
      root === '' ? !/^(?:cli|server|db|test)\//.test(path) : path.startsWith(`${root}/`),
    );
    expect(inRoot.flatMap(findingsOf)).toEqual([]);
  },
  SCAN_MS_MAX,
);
