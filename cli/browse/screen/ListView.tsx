// A list of records that is read while a person scrolls.
import { Text } from 'ink';
import { type ReactNode, useEffect } from 'react';
import { querySorts } from '../../../db/model/query/sorts.ts';
import { useKeys } from '../../terminal/keys.tsx';
import { MARK_COLUMNS, RowList } from '../../terminal/RowList.tsx';
import { cut, fit, movedBy } from '../../terminal/screen-text.ts';
import { TextLine } from '../../terminal/TextLine.tsx';
import { useLatest } from '../../terminal/use-latest.ts';
import { listLines } from '../lines.ts';
import type { Browser, View } from './browser.ts';

/** Moves, opens, filters and sorts. */
export function ListView({ browser, view }: { browser: Browser; view: View & { kind: 'list' } }): ReactNode {
  const { height, hasColor, columns } = browser;
  const { listing, query, resource, selected } = view;
  const mode = useLatest<'list' | 'filter' | 'sort'>('list');
  const isNearEnd = selected + height >= listing.records.length && !listing.isWhole;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a page is read when the end comes near, not at each drawing
  useEffect(() => {
    if (isNearEnd) browser.run(() => listing.more());
  }, [listing, isNearEnd, listing.records.length]);
  useKeys(
    (input, key) => {
      if (mode.current !== 'list') return;
      const record = listing.records[view.selected];
      const moved = movedBy(key, view.selected, { count: listing.records.length, height });
      if (moved !== undefined) {
        view.selected = moved;
        browser.redraw();
      } else if (key.return && record !== undefined) browser.openCard(resource, String(record.id));
      else if (input === '/') mode.set('filter');
      else if (input === 's') mode.set('sort');
      else if (input === 'r') browser.openList(resource, query);
      else if (key.escape) browser.back();
      else if (input === 'q') browser.quit();
    },
    { isActive: mode.current === 'list' },
  );
  const done = (changes: Partial<typeof query> | null): void => {
    mode.set('list');
    if (changes !== null) browser.openList(resource, { ...query, ...changes });
  };
  if (mode.current === 'sort') return <SortList {...{ browser, view, done }} />;
  const { header, lines } = listLines(resource, listing, columns - MARK_COLUMNS);
  const isEmpty = listing.isWhole && lines.length === 0;
  return (
    <>
      <Text dimColor={hasColor} wrap="truncate">
        {isEmpty ? `No ${resource.name}.` : fit('', MARK_COLUMNS) + header}
      </Text>
      <RowList {...{ height, hasColor, columns, selected, lines }} />
      {mode.current === 'filter' ? (
        <TextLine
          label="Filter (status = open, or words): "
          initial={query.text}
          onDone={(text) => done({ text: text.trim() })}
          onCancel={() => done(null)}
        />
      ) : (
        <Text dimColor={hasColor} wrap="truncate">
          {cut(`${place(view)} · Enter open · / filter · s sort · r reload · Esc back · q quit`, columns)}
        </Text>
      )}
    </>
  );
}

function place({ listing: { records, isWhole }, selected }: View & { kind: 'list' }): string {
  const count = `${records.length}${isWhole ? '' : '+'}`;
  return records.length === 0 ? count : `${selected + 1}/${count}`;
}

/** Chooses an order; the one that is there already is turned around. */
function SortList(props: {
  browser: Browser;
  view: View & { kind: 'list' };
  done: (changes: { sortBy: string; direction: 'asc' | 'desc' } | null) => void;
}): ReactNode {
  const { browser, view, done } = props;
  const { height, hasColor, columns } = browser;
  const sorts = querySorts(view.resource);
  const selected = useLatest(Math.max(0, sorts.indexOf(view.query.sortBy ?? 'created_at')));
  useKeys((_input, key) => {
    const moved = movedBy(key, selected.current, { count: sorts.length, height });
    const sortBy = sorts[selected.current];
    if (moved !== undefined) selected.set(moved);
    else if (key.escape) done(null);
    else if (key.return && sortBy !== undefined) {
      const isSame = sortBy === (view.query.sortBy ?? 'created_at');
      const turned = view.query.direction === 'asc' ? 'desc' : 'asc';
      done({ sortBy, direction: isSame ? turned : /_at$|value|revenue/.test(sortBy) ? 'desc' : 'asc' });
    }
  });
  return (
    <>
      <Text dimColor={hasColor}>Sort by</Text>
      <RowList {...{ height, hasColor, columns, selected: selected.current, lines: sorts }} />
      <Text dimColor={hasColor} wrap="truncate">
        {cut('↑↓ move · Enter choose; the same again reverses the order · Esc back', columns)}
      </Text>
    </>
  );
}
