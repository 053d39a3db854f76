// Markdown of the manual as roff, with the macros of man(7).
import { shownTarget } from './links.ts';

const COLUMNS = 76;
const INDENT = 4;

// What has a name of its own in roff, since its plain form means something there or is no ASCII.
const CHARACTERS: Readonly<Record<string, string>> = {
  ...{ '\\': '\\e', '-': '\\-', "'": '\\(aq', '"': '\\(dq', '`': '\\(ga', '^': '\\(ha', '~': '\\(ti' },
  ...{ '–': '\\(en', '—': '\\(em', '…': '...', '→': '\\(->', '≤': '\\(<=', '≥': '\\(>=', '×': '\\(mu' },
  ...{ '·': '\\(pc', '•': '\\(bu', '°': '\\(de', '±': '\\(+-', '½': '\\(12', '¼': '\\(14', '⅓': '1/3' },
  // The bars of reports, whose last block can be a part of one; and the frames of screens.
  ...{ '█': '#', '▉': '#', '▊': '#', '▋': '#', '▌': '#', '▍': '', '▎': '', '▏': '' },
  ...{ '┌': '+', '┐': '+', '└': '+', '┘': '+', '─': '\\-' },
  ...{ '“': '\\(lq', '”': '\\(rq', '‘': '\\(oq', '’': '\\(cq', µ: '\\(mc', '−': '\\(mi', '\u00a0': '\\ ' },
};

// In pages a line break within a text is a space; these are the line breaks of what is made of them.
const LINE = '\u0001';
const ROW = '\u0002';
const CELL = '\u0003';
// Code keeps its line breaks and blanks.
const CODE_LINE = '\u0004';
const CODE_SPACE = '\u0005';
// Begins the line of a macro, so that a text which begins with a dot is not taken for one.
const MACRO = '\u0006';

/** Text that roff shows as it is. */
export function roffText(text: string): string {
  return text.replace(/[\\\-'"`^~]|\P{ASCII}/gu, (character) => CHARACTERS[character] ?? named(character));
}

function named(character: string): string {
  return `\\[u${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}]`;
}

/** An argument of a macro. */
export function roffArgument(text: string): string {
  return `"${roffText(text)}"`;
}

/** Text as lines of roff, filled. */
export function roffLines(text: string): string {
  return filled(roffText(text)).join('\n');
}

/** Markdown as the lines of a page, its headings of the second level as sub-sections; the first-level heading is left out. */
export function roffOf(markdown: string): string {
  const made = Bun.markdown
    .render(markdown, CALLBACKS)
    .replaceAll(/[ \n]+/g, ' ')
    .split(LINE)
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const needed = made.filter((line, index) => !isNeedless(line, made[index - 1] ?? ''));
  return `${needed.flatMap((line, index) => linesOf(line, needed[index - 1])).join('\n')}\n`;
}

const bold = (text: string): string => `\\fB${text}\\fR`;
const lines = (...parts: string[]): string => LINE + parts.join(LINE) + LINE;
const PARAGRAPH = `${MACRO}PP`;
const INDENTED = `${MACRO}RS ${INDENT}`;
const BACK = `${MACRO}RE`;
const TAGGED = `${MACRO}TP`;
const SPACE = `${MACRO}sp`;
const HEADING = `${MACRO}SS `;

const CALLBACKS: Bun.markdown.RenderCallbacks = {
  // Only code has line breaks as a part of its text.
  text: (text) => roffText(text).replaceAll('\n', CODE_LINE),
  heading: (text, { level }) => {
    if (level === 1) return '';
    // A heading is bold as a whole.
    const title = text.replace(/\\f[BIR]/g, '');
    return level === 2 ? lines(HEADING + title) : lines(PARAGRAPH, bold(title));
  },
  paragraph: (text) => lines(PARAGRAPH, text),
  code: (text) => {
    const code = text.split(CODE_LINE).map((line) => line.replaceAll(' ', CODE_SPACE) || CODE_SPACE);
    if (code.at(-1) === CODE_SPACE) code.pop();
    const example = code.map((line) => CODE_LINE + line);
    return lines(...[SPACE, INDENTED, `${MACRO}EX`], ...example, ...[`${MACRO}EE`, BACK]);
  },
  blockquote: (text) => lines(INDENTED, text, BACK),
  list: (items) => LINE + items,
  listItem: (text, { ordered, start = 1, index }) => itemOf(text, ordered ? `${start + index}.` : '\\(bu'),
  hr: () => '',
  table: (text) => tableOf(text.split(ROW).map((row) => row.split(CELL).slice(0, -1))),
  tr: (cells) => cells + ROW,
  th: (text) => text + CELL,
  td: (text) => text + CELL,
  html: () => '',
  strong: bold,
  emphasis: (text) => `\\fI${text}\\fR`,
  codespan: (text) => bold(text.replaceAll(CODE_LINE, ' ')),
  link: (text, { href }) => {
    const target = shownTarget(href);
    if (target === undefined || text.includes(roffText(target))) return text;
    return `${text} (${target.startsWith('crm ') ? bold(roffText(target)) : roffText(target)})`;
  },
};

/** Whether a paragraph or space is asked for where a heading or indent has just brought it. */
function isNeedless(line: string, before: string): boolean {
  if (line !== PARAGRAPH && line !== SPACE) return false;
  if (before === '' || before.startsWith(HEADING)) return true;
  return line === PARAGRAPH && (before === INDENTED || before === PARAGRAPH);
}

// What stands before its first macro goes beside the marker, the rest below that.
function itemOf(text: string, marker: string): string {
  const [first = '', ...rest] = text
    .split(LINE)
    .filter((line) => line !== '')
    .filter((line, index) => index > 0 || line !== PARAGRAPH);
  const below = rest.length === 0 ? [] : [INDENTED, ...rest, BACK];
  return lines(`${MACRO}IP ${marker} ${INDENT}`, first, ...below);
}

// A row is an entry: in a page of one column that is easier to read, and every formatter knows it.
function tableOf([header = [], ...rows]: string[][]): string {
  return rows
    .filter((row) => row.length > 0)
    .map(([first = '', ...cells]) => {
      const labelled = cells.length > 1;
      const told = cells.flatMap((cell, index) => {
        const label = header[index + 1] ?? '';
        return cell === '' ? [] : [labelled && label !== '' ? `${label}: ${cell}` : cell];
      });
      const beginning = first === '' ? '\\&' : first;
      return lines(
        TAGGED,
        beginning,
        ...told.flatMap((text, index) => (index === 0 ? text : [`${MACRO}br`, text])),
      );
    })
    .join('');
}

/** A rendered line as lines of roff: text is filled, except where a line must stay whole. */
function linesOf(line: string, before: string | undefined): string[] {
  if (line.startsWith(MACRO)) return [`.${line.slice(1)}`];
  const text = line.replaceAll(CODE_SPACE, ' ');
  if (text.startsWith(CODE_LINE)) return [guarded(text.slice(1))];
  return before === TAGGED ? [guarded(text)] : filled(text);
}

function filled(text: string): string[] {
  return Bun.wrapAnsi(text, COLUMNS, { hard: false }).split('\n').map(guarded);
}

// A line that begins with a dot would be a macro.
function guarded(line: string): string {
  return (line.startsWith('.') ? `\\&${line}` : line).trimEnd();
}
