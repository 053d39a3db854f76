// A line of text that is typed on a screen.
import { Text } from 'ink';
import type { ReactNode } from 'react';
import { useKeys } from './keys.tsx';
import { useLatest } from './use-latest.ts';

/** A label and the text so far; Enter takes it, Esc leaves it. */
export function TextLine(props: {
  label: string;
  initial?: string;
  onDone: (text: string) => void;
  onCancel: () => void;
}): ReactNode {
  const { label, initial = '', onDone, onCancel } = props;
  const typed = useLatest({ before: initial, after: '' });
  const set = (before: string, after: string): void => typed.set({ before, after });
  useKeys((input, key) => {
    const { before, after } = typed.current;
    if (key.return) onDone(before + after);
    else if (key.escape) onCancel();
    else if (key.backspace || key.delete) set(before.slice(0, -1), after);
    else if (key.leftArrow) set(before.slice(0, -1), before.slice(-1) + after);
    else if (key.rightArrow) set(before + after.slice(0, 1), after.slice(1));
    else if (key.home) set('', before + after);
    else if (key.end) set(before + after, '');
    else if (key.ctrl && input === 'u') set('', after);
    else if (!key.ctrl && !key.meta && !/\p{Cc}/u.test(input)) set(before + input, after);
  });
  const { before, after } = typed.current;
  return (
    <Text wrap="truncate-start">
      {label}
      {before}
      <Text inverse>{after.slice(0, 1) || ' '}</Text>
      {after.slice(1)}
    </Text>
  );
}
