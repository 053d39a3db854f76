// A record with what it is linked to: opens links, edits fields.
import { Text } from 'ink';
import { type ReactNode, useEffect } from 'react';
import { nameOf } from '../../api/record-name.ts';
import { useKeys } from '../../terminal/keys.tsx';
import { RowList } from '../../terminal/RowList.tsx';
import { cut, fit, movedBy } from '../../terminal/screen-text.ts';
import { TextLine } from '../../terminal/TextLine.tsx';
import { useLatest } from '../../terminal/use-latest.ts';
import { type CardLine, cardLines } from '../lines.ts';
import type { Browser, View } from './browser.ts';

const LABEL_COLUMNS_MAX = 24;

/** Reads the record when it is opened, and again after each change. */
export function CardView({ browser, view }: { browser: Browser; view: View & { kind: 'card' } }): ReactNode {
  const { source, height, hasColor, columns } = browser;
  const { card, resource, id } = view;
  const edited = useLatest<CardLine['edit']>(null);
  const read = async (): Promise<void> => {
    view.card = await source.card(resource, id);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: a record is read once, not at each drawing
  useEffect(() => {
    if (card === null) browser.run(read);
  }, []);
  const lines = card === null ? [] : cardLines(card, source.canUpdate(resource));
  const current = lines[view.selected];
  useKeys(
    (input, key) => {
      if (edited.current !== null) return;
      const moved = movedBy(key, view.selected, { count: lines.length, height });
      const line = lines[view.selected];
      if (moved !== undefined) {
        view.selected = moved;
        browser.redraw();
      } else if (key.return && line?.open) browser.openCard(line.open.resource, line.open.id);
      else if ((input === 'e' || key.return) && line?.edit) edited.set(line.edit);
      else if (input === 'r') browser.run(read);
      else if (key.escape) browser.back();
      else if (input === 'q') browser.quit();
    },
    { isActive: edited.current === null },
  );
  const save = (text: string): void => {
    const field = edited.current?.field;
    edited.set(null);
    if (card === null || field === undefined) return;
    browser.run(async () => {
      await source.update(card, field, text);
      await read();
    });
  };
  const width = Math.min(LABEL_COLUMNS_MAX, Math.max(0, ...lines.map(({ label }) => label.length)));
  const keys = [
    ...(current?.open ? ['Enter open'] : []),
    ...(current?.edit ? [`e edit ${current.edit.field}`] : []),
    'r reload · Esc back · q quit',
  ];
  return (
    <>
      <Text bold={hasColor} wrap="truncate">
        {card === null ? '' : cut(nameOf(card.record) ?? id, columns)}
      </Text>
      <RowList
        {...{ height, hasColor, columns, selected: view.selected }}
        lines={lines.map(
          ({ label, text, open }) => `${fit(label, width)}  ${text}${open === null ? '' : ' →'}`,
        )}
      />
      {edited.current === null ? (
        <Text dimColor={hasColor} wrap="truncate">
          {cut(keys.join(' · '), columns)}
        </Text>
      ) : (
        <TextLine
          label={`${edited.current.field}: `}
          initial={edited.current.text}
          onDone={save}
          onCancel={() => edited.set(null)}
        />
      )}
    </>
  );
}
