// The browser: a list of resources, lists of records and single records, one over the other.
import { Box, Text } from 'ink';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { Resource } from '../../../db/model/resource.ts';
import { messageOf } from '../../errors.ts';
import { cut } from '../../terminal/screen-text.ts';
import type { ScreenProps } from '../../terminal/show-screen.tsx';
import { type BrowserSource, isSearch, type ShownQuery } from '../source.ts';
import type { Browser, View } from './browser.ts';
import { CardView } from './CardView.tsx';
import { ListView } from './ListView.tsx';
import { Menu } from './Menu.tsx';

const ALL: ShownQuery = { text: '', sortBy: null, direction: 'desc' };
// Title, header, status and keys.
const FRAME_LINES = 4;

/** The view on top, its title, what went wrong last, and its keys. */
export function BrowseScreen(
  props: ScreenProps<'quit'> & {
    source: BrowserSource;
    resource: Resource | null;
    hear: (listener: (text: string) => void) => void;
  },
): ReactNode {
  const { source, resource, hear, size, hasColor, leave } = props;
  const views = useRef<View[]>([]);
  const [status, setStatus] = useState('');
  const [, setDrawn] = useState(0);
  const redraw = (): void => setDrawn((count) => count + 1);
  useEffect(() => hear(setStatus), [hear]);
  const run: Browser['run'] = (work) => {
    setStatus('');
    void (async () => {
      try {
        await work();
      } catch (error) {
        setStatus(
          messageOf(error)
            .replace(/^--where: /, '')
            .split('\n')[0] ?? '',
        );
      }
      redraw();
    })();
  };
  const browser: Browser = {
    ...{ source, hasColor, run, redraw, columns: size.columns },
    height: Math.max(1, size.rows - FRAME_LINES),
    openList: (of, query = ALL) =>
      run(() => {
        const listing = source.list(of, query);
        const isSame = views.current.at(-1)?.kind === 'list';
        if (isSame) views.current.pop();
        views.current.push({ kind: 'list', resource: of, query, listing, selected: 0 });
      }),
    openCard: (of, id) => {
      setStatus('');
      views.current.push({ kind: 'card', resource: of, id, card: null, selected: 0 });
      redraw();
    },
    back: () => {
      setStatus('');
      if (views.current.length > 1) views.current.pop();
      redraw();
    },
    quit: () => leave('quit'),
  };
  if (views.current.length === 0) {
    views.current.push({ kind: 'menu', selected: 0 });
    if (resource !== null) {
      const listing = source.list(resource, ALL);
      views.current.push({ kind: 'list', resource, query: ALL, listing, selected: 0 });
    }
  }
  const view = views.current.at(-1);
  return (
    <Box flexDirection="column" width={size.columns} height={size.rows}>
      <Text bold={hasColor} wrap="truncate">
        {cut(views.current.map(titleOf).join(' › '), size.columns)}
      </Text>
      {view?.kind === 'menu' && <Menu {...{ browser, view }} />}
      {view?.kind === 'list' && <ListView {...{ browser, view }} />}
      {view?.kind === 'card' && <CardView key={`${view.resource.name}/${view.id}`} {...{ browser, view }} />}
      <Text wrap="truncate" {...(hasColor && { color: 'yellow' })}>
        {cut(status, size.columns)}
      </Text>
    </Box>
  );
}

function titleOf(view: View): string {
  if (view.kind === 'menu') return 'crm';
  if (view.kind === 'card') return view.resource.singular;
  const { text, sortBy, direction } = view.query;
  const isSorted = sortBy !== null && !isSearch(view.resource, text);
  const sorted = !isSorted ? '' : ` by ${sortBy} ${direction === 'asc' ? '↑' : '↓'}`;
  return `${view.resource.name}${text === '' ? '' : ` (${text})`}${sorted}`;
}
