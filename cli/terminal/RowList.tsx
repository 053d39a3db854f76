// A list on a screen: the lines around the selected one.
import { Box, Text } from 'ink';
import type { ReactNode } from 'react';
import { firstSeen, fit } from './screen-text.ts';

const MARK = '› ';

/** How many columns of a line are taken by the mark of the selected one. */
export const MARK_COLUMNS = MARK.length;

/** Those lines that fit into the height. */
export function RowList(props: {
  lines: readonly string[];
  selected: number;
  height: number;
  columns: number;
  hasColor: boolean;
}): ReactNode {
  const { lines, selected, height, columns, hasColor } = props;
  const first = firstSeen(selected, lines.length, height);
  const seen = lines.slice(first, first + Math.max(0, height));
  return (
    <Box flexDirection="column" height={Math.max(0, height)}>
      {seen.map((line, at) => {
        const index = first + at;
        const isSelected = index === selected;
        return (
          <Text key={index} wrap="truncate" inverse={isSelected && hasColor}>
            {fit(`${isSelected ? MARK : ' '.repeat(MARK_COLUMNS)}${line}`, columns)}
          </Text>
        );
      })}
    </Box>
  );
}
