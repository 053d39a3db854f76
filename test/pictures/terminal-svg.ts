// Draws a screen of a terminal as SVG.
import { COLUMNS, type Screen } from './screens.ts';
import type { Cell } from './styled-screen.ts';

const CHARACTER = { width: 8.2, height: 19, size: 13.6 };
const PADDING = 20;
const BAR = 34;
const COLORS = { ground: '#16181d', bar: '#22252c', text: '#d7dae0', prompt: '#7ee2a8', dim: '#8b919d' };
const FONT = 'ui-monospace, SFMono-Regular, Menlo, Consolas, &quot;Liberation Mono&quot;, monospace';

/** The picture of a screen. */
export function svgOf({ title, lines }: Screen): string {
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
    `<title>${title}</title>`,
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
