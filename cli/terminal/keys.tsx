// The keys of a screen, one at a time, so that none is lost where several arrive together: typed ahead, pasted, over a slow line.
import { type Key, useInput } from 'ink';
import { createContext, type ReactNode, useContext, useLayoutEffect, useRef } from 'react';

type KeyHandler = (input: string, key: Key) => void;

const Handlers = createContext<Set<KeyHandler>>(new Set());

/** Passes keys to what is on the screen, each once the one before it is drawn. */
export function KeyInput({ children }: { children: ReactNode }): ReactNode {
  const handlers = useRef(new Set<KeyHandler>());
  const waiting = useRef<Parameters<KeyHandler>[]>([]);
  const pass = async (): Promise<void> => {
    for (let next = waiting.current[0]; next !== undefined; next = waiting.current[0]) {
      for (const handler of [...handlers.current]) handler(...next);
      await new Promise(setImmediate);
      waiting.current.shift();
    }
  };
  useInput((input, key) => {
    const isPassing = waiting.current.length > 0;
    waiting.current.push(...keysIn(input, key));
    if (!isPassing) void pass();
  });
  return <Handlers value={handlers.current}>{children}</Handlers>;
}

/** Calls the handler for each key while it is active. */
export function useKeys(handler: KeyHandler, { isActive = true }: { isActive?: boolean } = {}): void {
  const handlers = useContext(Handlers);
  // Before the next key, which an ordinary effect could miss.
  useLayoutEffect(() => {
    if (!isActive) return;
    handlers.add(handler);
    return () => {
      handlers.delete(handler);
    };
  });
}

const CONTROL_CHARACTERS = 0x20;
const DELETE = '\u007f';

function keysIn(input: string, key: Key): Parameters<KeyHandler>[] {
  if (input.length <= 1 || key.ctrl || key.meta) return [[input, key]];
  return [...input].map((one): Parameters<KeyHandler> => {
    if (one === '\r' || one === '\n') return ['', { ...key, return: true }];
    if (one === DELETE || one === '\b') return ['', { ...key, backspace: true }];
    const code = one.charCodeAt(0);
    // Ctrl-A is the first control character.
    if (code > 0 && code < CONTROL_CHARACTERS)
      return [String.fromCharCode(code + 'a'.charCodeAt(0) - 1), { ...key, ctrl: true }];
    return [one, key];
  });
}
