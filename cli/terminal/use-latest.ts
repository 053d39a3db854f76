// State that keys change: several can arrive before a screen is drawn again, and each needs what those before it changed.
import { useRef, useState } from 'react';

export interface Latest<T> {
  readonly current: T;
  /** Changes the value at once, and draws again. */
  set(value: T): void;
}

/** The latest value, whether drawn or not. */
export function useLatest<T>(initial: T): Latest<T> {
  const value = useRef(initial);
  const [, setDrawn] = useState(0);
  const [latest] = useState<Latest<T>>(() => ({
    get current() {
      return value.current;
    },
    set(changed) {
      value.current = changed;
      setDrawn((count) => count + 1);
    },
  }));
  return latest;
}
