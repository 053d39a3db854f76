// A page of the manual for a terminal: wrapped to its width, with code that can be copied unchanged.
import { shownTarget } from './links.ts';
import { layOutTable } from './terminal-table.ts';

export interface TerminalLook {
  /** Columns of the terminal. */
  columns: number;
  isColored: boolean;
}

const COLUMNS_MAX = 100;
const CODE_INDENT = '    ';
// A piece of code up to this length stays on one line.
const WHOLE_CODE_CHARACTERS_MAX = 40;

// What is known of a line before the width that is left for it is. In pages a line break within a text is a space.
const LINE = '\u0001';
const AS_IT_STANDS = '\u0002';
const TABLE = '\u0003';
const ROW = '\u0004';
const CELL = '\u0005';
const SPACE_IN_CODE = '\u00a0';

/** A page as lines for a terminal. */
export function terminalPage(markdown: string, { columns, isColored }: TerminalLook): string {
  const width = Math.min(columns, COLUMNS_MAX);
  return Bun.markdown
    .render(markdown, callbacks(stylesOf(isColored)))
    .replaceAll('\n', ' ')
    .replaceAll(new RegExp(`${LINE}(?: *${LINE}){2,}`, 'g'), LINE + LINE)
    .split(LINE)
    .map((line) => layOutLine(line, width, isColored).replaceAll(SPACE_IN_CODE, ' '))
    .join('\n')
    .replace(/^\s*\n|\s+$/g, '')
    .concat('\n');
}

interface Styles {
  title(text: string): string;
  heading(text: string): string;
  strong(text: string): string;
  emphasis(text: string): string;
  code(text: string): string;
}

const asItIs = (text: string): string => text;
const underlinedBy = (line: string) => (text: string) => text + LINE + line.repeat(Bun.stringWidth(text));
const PLAIN: Styles = {
  title: underlinedBy('='),
  heading: underlinedBy('-'),
  strong: asItIs,
  emphasis: asItIs,
  code: (text) => `\`${text}\``,
};

function stylesOf(isColored: boolean): Styles {
  if (!isColored) return PLAIN;
  const sgr = (on: string, off: number) => (text: string) => `\u001b[${on}m${text}\u001b[${off}m`;
  const bold = sgr('1', 22);
  const underlined = sgr('4', 24);
  return {
    title: (text) => bold(underlined(text)),
    heading: bold,
    strong: bold,
    emphasis: sgr('3', 23),
    code: sgr('36', 39),
  };
}

const block = (text: string): string => LINE + LINE + text + LINE + LINE;

function callbacks(style: Styles): Bun.markdown.RenderCallbacks {
  const link = (text: string, href: string): string => {
    const target = shownTarget(href);
    if (target === undefined || text.replaceAll(SPACE_IN_CODE, ' ').includes(target)) return text;
    return `${text} (${target.startsWith('crm ') ? code(target) : target})`;
  };
  const code = (text: string): string => {
    const isWhole = text.length <= WHOLE_CODE_CHARACTERS_MAX;
    return style.code(isWhole ? text.replaceAll(' ', SPACE_IN_CODE) : text);
  };
  return {
    // Only code has line breaks as a part of its text.
    text: (text) => text.replaceAll('\n', LINE),
    heading: (text, { level }) => block(headingOf(style, level)(text)),
    paragraph: block,
    code: (text) => block(codeLines(text).join(LINE)),
    blockquote: (text) => block(indented(text, '  ', '  ')),
    list: (items, { depth }) => (depth === 0 ? block(items) : LINE + items),
    listItem: (text, { ordered, start = 1, index }) => {
      const marker = ordered ? `${start + index}. ` : '• ';
      const item = indented(text, marker, ' '.repeat(marker.length));
      // An item of paragraphs stands apart from the next.
      return text.startsWith(LINE) ? block(item) : LINE + item;
    },
    hr: () => block(''),
    table: (rows) => block(TABLE + rows),
    tr: (cells) => cells + ROW,
    th: (text) => text + CELL,
    td: (text) => text + CELL,
    html: () => '',
    strong: style.strong,
    emphasis: style.emphasis,
    codespan: (text) => code(text.replaceAll(LINE, ' ')),
    link: (text, { href }) => link(text, href),
    image: (text) => text,
  };
}

function headingOf({ title, heading, strong }: Styles, level: number) {
  return level === 1 ? title : level === 2 ? heading : strong;
}

function codeLines(text: string): string[] {
  const lines = text.split(LINE);
  if (lines.at(-1) === '') lines.pop();
  return lines.map((line) => CODE_INDENT + AS_IT_STANDS + line);
}

function indented(text: string, first: string, further: string): string {
  const lines = text.split(LINE);
  const from = lines.findIndex((line) => line !== '');
  return lines
    .slice(Math.max(0, from))
    .map((line, index) => (index === 0 ? first + line : line === '' ? '' : further + line))
    .join(LINE)
    .replace(new RegExp(`(?:${LINE})+$`), '');
}

const LINE_PARTS = new RegExp(`^( *(?:(?:•|\\d+\\.) +)?)([${AS_IT_STANDS}${TABLE}]?)(.*)$`, 's');

function layOutLine(line: string, width: number, isColored: boolean): string {
  const [, before = '', kind, text = ''] = LINE_PARTS.exec(line) ?? [];
  if (kind === AS_IT_STANDS) return (before + text).trimEnd();
  const margin = ' '.repeat(before.length);
  const room = Math.max(1, width - before.length);
  const lines =
    kind === TABLE
      ? layOutTable(cellsOf(text), room, isColored)
      : Bun.wrapAnsi(text, room, { hard: false, trim: true }).split('\n');
  return (before + lines.join(`\n${margin}`)).replace(/ +$/gm, '');
}

function cellsOf(text: string): string[][] {
  return text
    .split(ROW)
    .slice(0, -1)
    .map((row) =>
      row
        .split(CELL)
        .slice(0, -1)
        .map((cell) => cell.replaceAll(SPACE_IN_CODE, ' ')),
    );
}
