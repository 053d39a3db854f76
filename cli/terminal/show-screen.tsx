// Shows a screen that is used with keys, instead of everything else; only ever loaded on a terminal.
import { render, useInput, useWindowSize } from 'ink';
import type { ReactNode } from 'react';
import { KeyInput } from './keys.tsx';
import { stderr } from './streams.ts';

export interface ScreenSize {
  columns: number;
  rows: number;
}

export interface ScreenProps<T> {
  size: ScreenSize;
  hasColor: boolean;
  /** Ends the screen. */
  leave(result: T): void;
}

/** Resolves with what the screen was left with, once the terminal is as it was before; Ctrl-C interrupts the command. */
export async function showScreen<T>(Screen: (props: ScreenProps<T>) => ReactNode): Promise<T> {
  const left = Promise.withResolvers<T | null>();
  const hasColor = !process.env.NO_COLOR;
  function Whole(): ReactNode {
    const size = useWindowSize();
    useInput((input, key) => {
      if (key.ctrl && input === 'c') left.resolve(null);
    });
    return (
      <KeyInput>
        <Screen size={size} hasColor={hasColor} leave={left.resolve} />
      </KeyInput>
    );
  }
  const app = render(<Whole />, {
    stdout: stderr.stream,
    exitOnCtrlC: false,
    patchConsole: false,
    interactive: true,
    alternateScreen: true,
  });
  // What fails within the screen must end it too.
  const failed = app.waitUntilExit().then(() => left.resolve(null), left.reject);
  try {
    const result = await left.promise;
    if (result !== null) return result;
  } finally {
    app.unmount();
    await failed;
  }
  process.kill(process.pid, 'SIGINT');
  return new Promise(() => {});
}
