// The pictures of the manual's tour: two screens of crm, as a terminal shows them with the tour's own file.
import { join } from 'node:path';
import { fencesOf, MANUAL, ROOT, readDocument } from '../manual/documents.ts';
import type { Sandbox } from '../support/command.ts';
import { type Cell, StyledScreen } from './styled-screen.ts';

export const TOUR = readDocument(`${MANUAL}/tour.md`);
export const COLUMNS = 72;
/** Where the screens are kept as SVG, in their order. */
export const PICTURES = [`${MANUAL}/tour-import.svg`, `${MANUAL}/tour-browse.svg`] as const;

// Where a screen ends and the terminal shows again what it showed before.
export const LEFT = '\u001b[?1049l';

export interface Screen {
  title: string;
  lines: readonly (readonly Cell[])[];
}

/** Both screens, in the order of the page, taken on a server without records, which has the deals of the tour afterwards. */
export async function tourScreens(sandbox: Sandbox): Promise<Screen[]> {
  await sandbox.write('deals.csv', tourFile());
  const words = ['import', 'deals', 'deals.csv'];
  const importing = await screenOf(sandbox, words, { rows: 12, when: 'not exist (c' });
  await sandbox.ok([...words, '--custom', '--create-missing', '--create-stages']);
  const browsing = await screenOf(sandbox, ['browse', 'deals'], { rows: 8, when: 'Difference' });
  return [
    { title: 'crm import deals deals.csv', lines: importing },
    { title: 'crm browse deals', lines: browsing },
  ];
}

/** A screen as text in a frame. */
export function framed({ title, lines }: Screen): string {
  const top = `┌─ ${title} ${'─'.repeat(COLUMNS - title.length - 1)}┐`;
  const middle = lines.map((cells) => `│ ${textOf(cells).padEnd(COLUMNS)} │`);
  return [top, ...middle, `└${'─'.repeat(COLUMNS + 2)}┘`, ''].join('\n');
}

/** A line without its colours. */
export function textOf(cells: readonly Cell[]): string {
  return cells.map(({ character }) => character).join('');
}

/** The frames on the page, in order. */
export function tourFrames(): string[] {
  return fencesOf(TOUR).flatMap(({ language, text }) => (language === 'text' ? [text] : []));
}

/** The deals of the tour, as CSV. */
export function tourFile(): string {
  const [, csv] = /cat > deals\.csv <<'END'\n(.*?)END\n/s.exec(TOUR.text) ?? [];
  if (csv === undefined) throw new Error('the tour does not write deals.csv');
  return csv;
}

async function screenOf(
  sandbox: Sandbox,
  words: readonly string[],
  { rows, when }: { rows: number; when: string },
): Promise<Cell[][]> {
  const { output } = await sandbox.onTerminal(words, { columns: COLUMNS, rows, when, answer: 'q' });
  const end = output.indexOf(LEFT);
  if (end < 0) throw new Error(`"crm ${words.join(' ')}" showed no screen:\n${output}`);
  return new StyledScreen().write(output.slice(0, end)).lines();
}

/** Puts the screens into the page. */
export async function renewTour(screens: readonly Screen[]): Promise<void> {
  const frames = tourFrames();
  const text = screens.reduce(
    (page, screen, at) =>
      page.replace(`\`\`\`text\n${frames[at] ?? ''}\`\`\``, () => `\`\`\`text\n${framed(screen)}\`\`\``),
    TOUR.text,
  );
  await Bun.write(join(ROOT, TOUR.path), text);
}
