// Lines of a screen that is used with keys: text cut to a width, the part of a list that is seen, and where keys move to.
import { neutralizeLine } from './text.ts';

/** Text in exactly so many columns: cut, or filled with spaces. */
export function fit(text: string, columns: number): string {
  const line = cut(text, columns);
  return line + ' '.repeat(Math.max(0, columns - Bun.stringWidth(line)));
}

/** Text in at most so many columns, on one line and without control characters. */
export function cut(text: string, columns: number): string {
  const line = neutralizeLine(text);
  if (Bun.stringWidth(line) <= columns) return line;
  let kept = '';
  for (const { segment } of new Intl.Segmenter().segment(line)) {
    if (Bun.stringWidth(kept + segment) > columns - 1) break;
    kept += segment;
  }
  return columns > 0 ? `${kept}…` : '';
}

/** The index of the first line that is seen, so that the selected one is. */
export function firstSeen(selected: number, count: number, height: number): number {
  return Math.max(0, Math.min(selected - Math.floor(height / 2), count - height));
}

/** The keys that move in a list. */
export type MoveKey = Record<'upArrow' | 'downArrow' | 'pageUp' | 'pageDown' | 'home' | 'end', boolean>;

/** The index that a key moves to; undefined if it does not move. */
export function movedBy(
  key: MoveKey,
  selected: number,
  { count, height }: { count: number; height: number },
): number | undefined {
  const page = Math.max(1, height - 1);
  const steps: [isPressed: boolean, by: number][] = [
    [key.upArrow, -1],
    [key.downArrow, 1],
    [key.pageUp, -page],
    [key.pageDown, page],
    [key.home, -count],
    [key.end, count],
  ];
  const [, by] = steps.find(([isPressed]) => isPressed) ?? [false, undefined];
  return by === undefined ? undefined : Math.max(0, Math.min(count - 1, selected + by));
}
