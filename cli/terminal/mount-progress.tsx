// Mounts the progress bar on stderr; only ever loaded on a terminal.
import { render, Text } from 'ink';
import { ProgressView } from './ProgressView.tsx';
import type { Snapshot } from './snapshot.ts';

const FRAME_INTERVAL_MS = 150;
const COLUMNS_DEFAULT = 80;
const CURSOR_UP = '\u001B[1A';

/** Draws the snapshot several times a second; the function it returns puts the final line in its place. */
export function mountProgress(snapshot: () => Snapshot): (finalLine?: string) => Promise<void> {
  const hasColor = !process.env.NO_COLOR;
  const frame = () => (
    <ProgressView
      snapshot={snapshot()}
      columns={process.stderr.columns || COLUMNS_DEFAULT}
      hasColor={hasColor}
    />
  );
  const app = render(frame(), {
    stdout: process.stderr,
    exitOnCtrlC: false,
    patchConsole: false,
    interactive: true,
  });
  const timer = setInterval(() => app.rerender(frame()), FRAME_INTERVAL_MS);
  return async (finalLine) => {
    clearInterval(timer);
    app.rerender(finalLine === undefined ? null : <Text>{finalLine}</Text>);
    app.unmount();
    await app.waitUntilExit();
    // Ink ends with a line feed even where nothing is left to show.
    if (finalLine === undefined) process.stderr.write(CURSOR_UP);
  };
}
