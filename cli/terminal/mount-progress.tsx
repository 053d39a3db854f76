// Mounts the progress bar on stderr; only ever loaded on a terminal.
import { render, Text, useStdout } from 'ink';
import { useLayoutEffect } from 'react';
import { ProgressView } from './ProgressView.tsx';
import type { Snapshot } from './progress-text.ts';
import { notesBy, stderr, writeForPeople } from './streams.ts';

const FRAME_INTERVAL_MS = 150;
// While a bar is drawn, Bun by itself collects so late that an import of 300,000 rows took 1.4 times the memory of 30,000.
const FRAMES_PER_COLLECTION = 20;
const COLUMNS_DEFAULT = 80;
const CURSOR_UP = '\u001B[1A';

type Write = (text: string) => void;

// Ink writes this above the bar; other writers would break the bar.
function Above({ onWrite }: { onWrite: (write: Write) => void }): null {
  const { write } = useStdout();
  useLayoutEffect(() => onWrite(write), [write, onWrite]);
  return null;
}

/** Draws the snapshot several times per second; the returned function replaces it with the final line. */
export function mountProgress(snapshot: () => Snapshot): (finalLine?: string) => Promise<void> {
  const hasColor = !process.env.NO_COLOR;
  const held: string[] = [];
  const hold: Write = (text) => void held.push(text);
  let write = hold;
  const onWrite = (above: Write): void => {
    write = above;
  };
  const release = notesBy((text) => write(text));
  const frame = () => (
    <>
      <Above onWrite={onWrite} />
      <ProgressView snapshot={snapshot()} columns={stderr.columns || COLUMNS_DEFAULT} hasColor={hasColor} />
    </>
  );
  const app = render(frame(), {
    stdout: stderr.stream,
    exitOnCtrlC: false,
    patchConsole: false,
    interactive: true,
  });
  let frames = 0;
  const timer = setInterval(() => {
    app.rerender(frame());
    frames += 1;
    if (frames % FRAMES_PER_COLLECTION === 0) Bun.gc(true);
  }, FRAME_INTERVAL_MS);
  return async (finalLine) => {
    clearInterval(timer);
    // Notes written while Ink removes the bar appear afterwards.
    write = hold;
    app.rerender(finalLine === undefined ? null : <Text>{finalLine}</Text>);
    app.unmount();
    await app.waitUntilExit();
    // Ink ends with a line feed even if nothing is left to show.
    if (finalLine === undefined) writeForPeople(CURSOR_UP);
    release();
    for (const text of held) writeForPeople(text);
  };
}
