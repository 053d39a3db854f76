// What a column can become: a list that typing narrows.
import { Box, Text } from 'ink';
import { type ReactNode, useRef, useState } from 'react';
import type { Resource } from '../../../db/model/resource.ts';
import { RowList } from '../../terminal/RowList.tsx';
import { cut, movedBy } from '../../terminal/screen-text.ts';
import type { ScreenSize } from '../../terminal/show-screen.tsx';
import { useKeys } from '../../terminal/use-keys.ts';
import { choicesFor, type DraftColumn } from './draft.ts';

/** Chooses a meaning, or null to leave the column as it is. */
export function MeaningList(props: {
  resource: Resource;
  column: DraftColumn;
  size: ScreenSize;
  hasColor: boolean;
  choose: (meaning: string | null) => void;
}): ReactNode {
  const { resource, column, size, hasColor, choose } = props;
  // Keys that arrive together need each other's text.
  const typed = useRef('');
  const [{ selected }, setState] = useState({ typed: '', selected: 0 });
  const matching = (): string[] => {
    const text = typed.current.toLowerCase();
    return choicesFor(resource, column.header).filter((name) => name.toLowerCase().includes(text));
  };
  const height = Math.max(1, size.rows - 4);
  const narrow = (text: string): void => {
    typed.current = text;
    setState({ typed: text, selected: 0 });
  };
  useKeys((input, key) => {
    const choices = matching();
    const moved = movedBy(key, selected, { count: choices.length, height });
    const choice = choices[selected];
    if (moved !== undefined) setState({ typed: typed.current, selected: moved });
    else if (key.escape) choose(null);
    else if (key.return && choice !== undefined) choose(choice);
    else if (key.backspace || key.delete) narrow(typed.current.slice(0, -1));
    else if (!key.ctrl && !key.meta && /^\P{Cc}+$/u.test(input)) narrow(typed.current + input);
  });
  const values = column.values.filter((value) => value !== '').join(' · ');
  return (
    <Box flexDirection="column">
      <Text wrap="truncate">{cut(`"${column.header}" becomes: ${typed.current}`, size.columns)}</Text>
      <Text dimColor={hasColor} wrap="truncate">
        {cut(values, size.columns)}
      </Text>
      <RowList
        {...{ selected, height, hasColor, columns: size.columns }}
        lines={matching().map((name) => (name === '-' ? '-  (leave out)' : name))}
      />
      <Text dimColor={hasColor} wrap="truncate">
        {cut('type to narrow · ↑↓ move · Enter choose · Esc back', size.columns)}
      </Text>
    </Box>
  );
}
