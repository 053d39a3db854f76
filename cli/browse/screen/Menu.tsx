// The list of resources.
import { Text } from 'ink';
import type { ReactNode } from 'react';
import { useKeys } from '../../terminal/keys.tsx';
import { RowList } from '../../terminal/RowList.tsx';
import { cut, movedBy } from '../../terminal/screen-text.ts';
import type { Browser, View } from './browser.ts';

/** Opens the list of a resource. */
export function Menu({ browser, view }: { browser: Browser; view: View & { kind: 'menu' } }): ReactNode {
  const { source, height, hasColor, columns } = browser;
  const { resources } = source;
  useKeys((input, key) => {
    const chosen = resources[view.selected];
    const moved = movedBy(key, view.selected, { count: resources.length, height });
    if (moved !== undefined) {
      view.selected = moved;
      browser.redraw();
    } else if (key.return && chosen !== undefined) browser.openList(chosen);
    else if (input === 'q' || key.escape) browser.quit();
  });
  return (
    <>
      <RowList
        {...{ height: height + 1, hasColor, columns, selected: view.selected }}
        lines={resources.map(({ name }) => name)}
      />
      <Text dimColor={hasColor} wrap="truncate">
        {cut('↑↓ move · Enter open · q quit', columns)}
      </Text>
    </>
  );
}
