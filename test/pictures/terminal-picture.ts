// A picture of a terminal in which crm imports a file and lists what came in: real output, drawn as SVG.
import { shellWord } from '../../cli/terminal/text.ts';
import { BINARY, Sandbox } from '../support/command.ts';
import { type Cell, StyledScreen } from './styled-screen.ts';

const COLUMNS = 92;
const PEOPLE = [
  'First Name,Last Name,E-mail Address,Job Title,Company Domain,Favourite Colour',
  'Ada,Lovelace,ada@example.com,Analyst,example.com,blue',
  'Charles,Babbage,charles@example.com,Engineer,example.com,green',
  'Mary,Somerville,mary@,Astronomer,,red',
];
const COMMANDS = [
  ['import', 'contacts', 'people.csv', '--custom', '--create-missing'],
  ['list', 'contacts', '--fields', 'email,first_name,last_name,title,created_at'],
  ['list', 'contacts', '--filter', 'emial=ada@example.com'],
];

const CHARACTER = { width: 8.2, height: 19, size: 13.6 };
const PADDING = 20;
const BAR = 34;
const COLORS = { ground: '#16181d', bar: '#22252c', text: '#d7dae0', prompt: '#7ee2a8', dim: '#8b919d' };
const FONT = 'ui-monospace, SFMono-Regular, Menlo, Consolas, &quot;Liberation Mono&quot;, monospace';

/** Runs the commands on a terminal and draws what it shows in the end. */
export async function terminalPicture(): Promise<string> {
  using sandbox = new Sandbox([BINARY]);
  const server = await sandbox.serveOrganization('Acme Inc');
  await sandbox.write('people.csv', `${PEOPLE.join('\n')}\n`);
  const lines: Cell[][] = [];
  for (const words of COMMANDS) {
    const screen = new StyledScreen();
    screen.write(`\u001b[32m$\u001b[39m \u001b[1m${['crm', ...words].map(shellWord).join(' ')}\u001b[22m\n`);
    const { output } = await sandbox.onTerminal(words, { columns: COLUMNS });
    lines.push(...screen.write(output).lines(), []);
  }
  await server.stop();
  return svgOf(lines.slice(0, -1));
}

function svgOf(lines: readonly (readonly Cell[])[]): string {
  const width = Math.ceil(COLUMNS * CHARACTER.width + 2 * PADDING);
  const height = BAR + lines.length * CHARACTER.height + PADDING * 2;
  const dots = ['#ec6a5e', '#f4bf4f', '#61c554'].map(
    (fill, index) => `<circle cx="${PADDING + index * 20}" cy="${BAR / 2}" r="6" fill="${fill}"/>`,
  );
  const texts = lines.flatMap((cells, index) => {
    const y = BAR + PADDING + index * CHARACTER.height + CHARACTER.size;
    return cells.length === 0 ? [] : [`<text x="${PADDING}" y="${y.toFixed(1)}">${spansOf(cells)}</text>`];
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">`,
    '<title>crm imports a CSV file, lists the contacts, and names the nearest filter that exists</title>',
    `<rect width="${width}" height="${height}" rx="10" fill="${COLORS.ground}"/>`,
    `<path d="M0 ${BAR}V10A10 10 0 0 1 10 0H${width - 10}A10 10 0 0 1 ${width} 10V${BAR}Z" fill="${COLORS.bar}"/>`,
    ...dots,
    `<g font-family="${FONT}" font-size="${CHARACTER.size}" fill="${COLORS.text}">`,
    ...texts,
    '</g>',
    '</svg>',
    '',
  ].join('\n');
}

/** Cells of one style become one span; its width is given, so that columns align in any font. */
function spansOf(cells: readonly Cell[]): string {
  const spans: { text: string; style: string; at: number }[] = [];
  for (const [at, { character, isBold, color }] of cells.entries()) {
    const style = `${isBold ? ' font-weight="600"' : ''}${color === null ? '' : ` fill="${color}"`}`;
    const last = spans.at(-1);
    if (last?.style === style) last.text += character;
    else spans.push({ text: character, style, at });
  }
  return spans
    .map(({ text, style, at }) => {
      const x = (PADDING + at * CHARACTER.width).toFixed(1);
      const length = (text.length * CHARACTER.width).toFixed(1);
      return `<tspan x="${x}" textLength="${length}" lengthAdjust="spacingAndGlyphs"${style}>${escaped(text)}</tspan>`;
    })
    .join('');
}

// Spaces that no reader of SVG takes for one, nor leaves out at the beginning.
function escaped(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(' ', '\u00a0');
}
