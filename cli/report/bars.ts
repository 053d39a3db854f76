// Tables of reports: names to the left, numbers to the right, and a bar in what is left of the line.
import { stdout } from '../terminal/streams.ts';
import { neutralizeLine } from '../terminal/text.ts';
import { terminalWidth } from '../terminal/wrap.ts';

/** A line of a report. */
export interface ReportLine {
  cells: readonly string[];
  /** The part of the longest bar, from 0 to 1; null for none. */
  part: number | null;
}

const GAP = '  ';
const BAR_CHARACTERS_MAX = 40;
const BAR_CHARACTERS_MIN = 5;
const NAME_CHARACTERS_MAX = 30;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/**
 * The text of a table; columns without any value are left out.
 * @param names how many of the columns are names
 */
export function reportTable(
  header: readonly string[],
  names: number,
  lines: readonly ReportLine[],
  columns = terminalWidth(stdout),
): string {
  const filled = header.map((_, index) => lines.some(({ cells }) => cells[index] !== ''));
  const rows = [header, ...lines.map(({ cells }) => cells.map(neutralizeLine))].map((cells) =>
    cells.map((cell, index) => (index < names ? cut(cell) : cell)).filter((_, index) => filled[index]),
  );
  const left = filled.slice(0, names).filter(Boolean).length;
  const widths = (rows[0] ?? []).map((_, index) =>
    Math.max(...rows.map((cells) => Bun.stringWidth(cells[index] ?? ''))),
  );
  const used = widths.reduce((sum, width) => sum + width + GAP.length, 0);
  const room = Math.min(BAR_CHARACTERS_MAX, columns - used);
  return rows
    .map((cells, row) => {
      const text = cells.map((cell, index) => padded(cell, widths[index] ?? 0, index < left)).join(GAP);
      const part = lines[row - 1]?.part ?? null;
      const bar = part === null || room < BAR_CHARACTERS_MIN ? '' : barOf(part, room);
      return `${`${text}${GAP}${bar}`.trimEnd()}\n`;
    })
    .join('');
}

/** A bar of up to `room` characters, exact to an eighth of one. */
export function barOf(part: number, room: number): string {
  if (!(part > 0)) return '';
  const eighths = Math.max(1, Math.round(Math.min(1, part) * room * 8));
  return '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
}

function cut(cell: string): string {
  if (Bun.stringWidth(cell) <= NAME_CHARACTERS_MAX) return cell;
  return `${[...cell].slice(0, NAME_CHARACTERS_MAX - 1).join('')}…`;
}

function padded(cell: string, width: number, isName: boolean): string {
  const space = ' '.repeat(Math.max(0, width - Bun.stringWidth(cell)));
  return isName ? cell + space : space + cell;
}
