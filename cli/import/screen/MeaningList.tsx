// What a column can become: a list that typing narrows.
import { Box, Text } from 'ink';
import type { ReactNode } from 'react';
import type { Resource } from '../../../db/model/resource.ts';
import { useKeys } from '../../terminal/keys.tsx';
import { RowList } from '../../terminal/RowList.tsx';
import { cut, movedBy } from '../../terminal/screen-text.ts';
import type { ScreenSize } from '../../terminal/show-screen.tsx';
import { useLatest } from '../../terminal/use-latest.ts';
import { choicesFor, type DraftColumn } from './draft.ts';

const NOTHING_MATCHES = 'No field has these letters. Backspace removes the last one.';

/** Chooses a meaning, or null to leave the column as it is. */
export function MeaningList(props: {
  resource: Resource;
  column: DraftColumn;
  size: ScreenSize;
  hasColor: boolean;
  choose: (meaning: string | null) => void;
}): ReactNode {
  const { resource, column, size, hasColor, choose } = props;
  const state = useLatest({ typed: '', selected: 0 });
  const matching = (): string[] => {
    const text = state.current.typed.toLowerCase();
    return choicesFor(resource, column.header).filter((name) => labelOf(name).toLowerCase().includes(text));
  };
  const height = Math.max(1, size.rows - 4);
  useKeys((input, key) => {
    const { typed, selected } = state.current;
    const choices = matching();
    const moved = movedBy(key, selected, { count: choices.length, height });
    const choice = choices[selected];
    if (moved !== undefined) state.set({ typed, selected: moved });
    else if (key.escape) choose(null);
    else if (key.return && choice !== undefined) choose(choice);
    else if (key.backspace || key.delete) state.set({ typed: typed.slice(0, -1), selected: 0 });
    else if (!key.ctrl && !key.meta && /^\P{Cc}$/u.test(input))
      state.set({ typed: typed + input, selected: 0 });
  });
  const { typed, selected } = state.current;
  const lines = matching().map(labelOf);
  const values = column.values.filter((value) => value !== '').join(' · ');
  return (
    <Box flexDirection="column">
      <Text wrap="truncate">{cut(`"${column.header}" becomes: ${typed}`, size.columns)}</Text>
      <Text dimColor={hasColor} wrap="truncate">
        {cut(values, size.columns)}
      </Text>
      {lines.length === 0 ? (
        <Text>{cut(NOTHING_MATCHES, size.columns)}</Text>
      ) : (
        <RowList {...{ lines, selected, height, hasColor, columns: size.columns }} />
      )}
      <Text dimColor={hasColor} wrap="truncate">
        {cut('type to narrow · ↑↓ move · Enter choose · Esc back', size.columns)}
      </Text>
    </Box>
  );
}

function labelOf(name: string): string {
  return name === '-' ? '-  (leave out)' : name;
}
