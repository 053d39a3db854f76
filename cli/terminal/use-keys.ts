// The keys of a screen, one at a time.
import { type Key, useInput } from 'ink';

/** Calls the handler for each key, also for those that arrive together: from a paste, or over a slow line. */
export function useKeys(
  handler: (input: string, key: Key) => void,
  options: { isActive?: boolean } = {},
): void {
  useInput((input, key) => {
    if (input.length <= 1 || key.ctrl || key.meta) return handler(input, key);
    for (const one of input) {
      const isReturn = one === '\r' || one === '\n';
      handler(isReturn ? '' : one, { ...key, return: isReturn });
    }
  }, options);
}
