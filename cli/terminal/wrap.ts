// Wraps text to the width of a terminal: between words, and commands so that you can still copy and run them.

const COMMAND = String.raw`(?:crm|bun|export|curl|psql|rm|sudo|chmod|\(umask|\S*/crm) `;
// Followed by other words, it is part of a sentence.
const NO_SENTENCE = String.raw`(?!.*(?:[,;] |\.$))`;
const IS_COMMAND = new RegExp(`^( *)(Next: )?(${NO_SENTENCE}${COMMAND}.*)$`);
const ENDS_IN_COMMAND = new RegExp(`^(.*?\\S:) (${NO_SENTENCE}${COMMAND}.*)$`);
const COMMENTED = /^( *\S.*?) {2,}(# .*|\(.*\))$/;
const TOKEN = /(?:'[^']*'|"[^"]*"|\$\([^)]*\)|\\.|[^\s'"])+/g;
const CONTINUED = ' \\';
const CONTINUED_INDENT = 2;

/** Columns of a stream if it is a terminal, else Infinity. */
export function terminalWidth({ isTTY, columns }: { isTTY?: boolean; columns?: number }): number {
  return isTTY ? columns || 80 : Number.POSITIVE_INFINITY;
}

/**
 * The lines of a text, none wider than `columns` unless a single word is.
 * @param indent where continued lines start, by default below the start of the line; text before it is not wrapped
 */
export function wrapLines(text: string, columns: number, indent?: number): string {
  if (columns === Number.POSITIVE_INFINITY) return text;
  return text
    .split('\n')
    .map((line) => wrapLine(line, columns, indent ?? beginningOf(line)))
    .join('\n');
}

/** The same for a text with line breaks within paragraphs: paragraphs that are too wide are wrapped again. */
export function wrapParagraphs(text: string, columns: number): string {
  const lines = text.split('\n');
  const whole: string[] = [];
  let isWide = false;
  for (const [index, line] of lines.entries()) {
    const isProse = /^\S/.test(line);
    if (!isProse || !/^\S/.test(lines[index - 1] ?? ''))
      isWide = isProse && isBlockWide(lines, index, columns);
    const last = whole.length - 1;
    if (isWide && /^\S/.test(lines[index - 1] ?? '')) whole[last] = `${whole[last]} ${line}`;
    else whole.push(line);
  }
  return wrapLines(whole.join('\n'), columns);
}

function isBlockWide(lines: readonly string[], from: number, columns: number): boolean {
  const end = lines.findIndex((line, index) => index >= from && !/^\S/.test(line));
  return lines.slice(from, end < 0 ? undefined : end).some((line) => Bun.stringWidth(line) > columns);
}

function wrapLine(line: string, columns: number, indent: number): string {
  if (Bun.stringWidth(line) <= columns) return line;
  const margin = ' '.repeat(indent);
  const [, start, comment] = COMMENTED.exec(line) ?? [];
  if (start !== undefined && comment !== undefined)
    return `${wrapLine(start, columns, indent)}\n${wrapLine(margin + comment, columns, indent)}`;
  const [, before, label = '', command] = IS_COMMAND.exec(line) ?? [];
  if (before !== undefined && command !== undefined) return continued(before + label, command, columns);
  const [, words, last] = ENDS_IN_COMMAND.exec(line) ?? [];
  if (words !== undefined && last !== undefined)
    return `${wrapLine(words, columns, indent)}\n${continued(margin, last, columns)}`;
  const head = line.slice(0, indent);
  const room = Math.max(1, columns - indent);
  const rest = Bun.wrapAnsi(line.slice(indent), room, { hard: false, trim: true });
  return head + rest.split('\n').join(`\n${margin}`);
}

// Over several lines with backslashes, which a shell joins.
function continued(head: string, command: string, columns: number): string {
  const margin = ' '.repeat(head.length + CONTINUED_INDENT);
  const lines: string[] = [];
  const fits = (line: string, before = margin) => Bun.stringWidth(before + line + CONTINUED) <= columns;
  for (const word of command.match(TOKEN) ?? []) {
    const line = lines.at(-1);
    const longer = `${line} ${word}`;
    if (line === undefined) lines.push(word);
    else if (fits(longer, lines.length === 1 ? head : margin)) lines[lines.length - 1] = longer;
    else {
      // A flag goes with its value.
      const [, before = '', flag = ''] = /^(.+) (--?[a-zA-Z][\w-]*)$/.exec(line) ?? [];
      const isMoved = flag !== '' && !word.startsWith('-') && fits(`${flag} ${word}`);
      if (isMoved) lines[lines.length - 1] = before;
      lines.push(isMoved ? `${flag} ${word}` : word);
    }
  }
  return head + lines.join(`${CONTINUED}\n${margin}`);
}

function beginningOf(line: string): number {
  return /^(?:Next: | *)/.exec(line)?.[0].length ?? 0;
}
