// The mapping of an import with its first rows, before anything is sent: keys change it.
import { Box, Text } from 'ink';
import { type ReactNode, useEffect } from 'react';
import { counted } from '../../terminal/format.ts';
import { useKeys } from '../../terminal/keys.tsx';
import { MARK_COLUMNS, RowList } from '../../terminal/RowList.tsx';
import { cut, fit, movedBy } from '../../terminal/screen-text.ts';
import type { ScreenProps } from '../../terminal/show-screen.tsx';
import { useLatest } from '../../terminal/use-latest.ts';
import { wrapLines } from '../../terminal/wrap.ts';
import type { ImportRequest } from '../request.ts';
import { missingLine } from '../session/missing-in-words.ts';
import type { MissingNames } from '../session/missing-names.ts';
import {
  creatingKey,
  type Draft,
  draftOf,
  type ImportView,
  switchesOf,
  withMeaning,
  withSwitched,
} from './draft.ts';
import { MeaningList } from './MeaningList.tsx';

const NAME_COLUMNS_MAX = 28;
const MEANING_COLUMNS_MAX = 44;
const PROBLEM_LINES_MAX = 4;

/** Left with the request to carry out, or with `cancelled`. */
export function ImportScreen(
  props: ScreenProps<ImportRequest | 'cancelled'> & { subject: ImportView; initial: ImportRequest },
): ReactNode {
  const { subject, initial, size, hasColor, leave } = props;
  const state = useLatest({ request: initial, selected: 0, isChoosing: false });
  const { request, selected, isChoosing } = state.current;
  const draft = draftOf(subject, request);
  const problems = problemLines(draft, size.columns);
  const facts = [...(subject.estimate?.split('\n') ?? []).map((line) => cut(line, size.columns))];
  const missing = useMissingNames(subject, draft, request);
  const warnings = missing.map((one) => cut(missingLine(one, request, creatingKey(one)), size.columns));
  const height = Math.max(1, size.rows - facts.length - problems.length - warnings.length - 4);
  const current = draft.columns[selected];
  useKeys(
    (input, key) => {
      const now = state.current;
      if (now.isChoosing) return;
      const moved = movedBy(key, now.selected, { count: draft.columns.length, height });
      const turned = switchesOf(subject.resource).find((one) => one.key === input);
      if (moved !== undefined) state.set({ ...now, selected: moved });
      else if (key.return && draft.columns.length > 0) state.set({ ...now, isChoosing: true });
      else if (turned !== undefined) state.set({ ...now, request: withSwitched(now.request, turned.name) });
      else if (input === 'i' && draftOf(subject, now.request).problems.length === 0) leave(now.request);
      else if (input === 'q' || key.escape) leave('cancelled');
    },
    { isActive: !isChoosing },
  );
  const choose = (meaning: string | null): void => {
    const isChanged = meaning !== null && current !== undefined;
    const changed = isChanged ? withMeaning(state.current.request, current.header, meaning) : request;
    state.set({ ...state.current, request: changed, isChoosing: false });
  };
  const { name } = subject.resource;
  const count = subject.rowCount === null ? '' : `, ${counted(subject.rowCount, 'row')}`;
  return (
    <Box flexDirection="column" width={size.columns} height={size.rows}>
      <Text bold={hasColor} wrap="truncate">
        {cut(
          `${request.isDryRun ? 'Check' : 'Import'} ${name} from ${subject.survey.name}${count}`,
          size.columns,
        )}
      </Text>
      {facts.map((line) => (
        <Text key={line} wrap="truncate">
          {line}
        </Text>
      ))}
      {isChoosing && current !== undefined ? (
        <MeaningList
          {...{ resource: subject.resource, column: current, hasColor, choose }}
          size={{ columns: size.columns, rows: size.rows - facts.length - 1 }}
        />
      ) : (
        <>
          <Text dimColor={hasColor} wrap="truncate">
            {fit('', MARK_COLUMNS) +
              columnsLine('COLUMN', 'BECOMES', ['FIRST ROWS'], widthsOf(draft, size.columns))}
          </Text>
          <RowList
            {...{ selected, height, hasColor, columns: size.columns }}
            lines={draft.columns.map(({ header, goesTo, values }) =>
              columnsLine(header, goesTo ?? '? unknown', values, widthsOf(draft, size.columns)),
            )}
          />
          {warnings.map((line) => (
            <Text key={line} wrap="truncate" {...(hasColor && { color: 'yellow' })}>
              {line}
            </Text>
          ))}
          {problems.map((line) => (
            <Text key={line} wrap="truncate" {...(hasColor && { color: 'red' })}>
              {line}
            </Text>
          ))}
          <Text wrap="truncate">{cut(switchLine(subject, request), size.columns)}</Text>
          <Text dimColor={hasColor} wrap="truncate">
            {cut(keysLine(draft, request), size.columns)}
          </Text>
        </>
      )}
    </Box>
  );
}

/** What does not exist, once the server has said so; asked again when the mapping changes. */
function useMissingNames(
  { missingNames }: ImportView,
  { plan }: Draft,
  { map }: ImportRequest,
): readonly MissingNames[] {
  const known = useLatest<{ map: readonly string[]; names: readonly MissingNames[] } | null>(null);
  useEffect(() => {
    if (plan === null || known.current?.map === map) return;
    known.set({ map, names: known.current?.names ?? [] });
    const take = (names: readonly MissingNames[]): void => {
      if (known.current?.map === map) known.set({ map, names });
    };
    // A server that cannot be asked says so again when the import begins.
    missingNames(plan).then(take, () => take([]));
  });
  return known.current?.names ?? [];
}

interface Widths {
  name: number;
  meaning: number;
  values: number;
}

function widthsOf({ columns }: Draft, width: number): Widths {
  const longest = (texts: readonly string[], max: number): number =>
    Math.min(max, Math.max(0, ...texts.map((text) => Bun.stringWidth(text))));
  const name = longest(
    ['COLUMN', ...columns.map(({ header }) => header)],
    Math.min(NAME_COLUMNS_MAX, width / 3),
  );
  const meanings = columns.map(({ goesTo }) => goesTo ?? '? unknown');
  const meaning = longest(meanings, Math.min(MEANING_COLUMNS_MAX, Math.floor(width / 2.2)));
  return { name: Math.floor(name), meaning, values: Math.max(0, width - name - meaning - MARK_COLUMNS - 5) };
}

function columnsLine(name: string, meaning: string, values: readonly string[], widths: Widths): string {
  const shown = values.filter((value) => value !== '').join(' · ');
  return `${fit(name, widths.name)} → ${fit(meaning, widths.meaning)}  ${cut(shown, widths.values)}`;
}

function problemLines({ problems }: Draft, columns: number): string[] {
  const lines = problems.flatMap((problem) => wrapLines(problem, columns).split('\n'));
  const hidden = lines.length - PROBLEM_LINES_MAX;
  return hidden <= 0 ? lines : [...lines.slice(0, PROBLEM_LINES_MAX - 1), '…'];
}

function switchLine({ resource }: ImportView, request: ImportRequest): string {
  return switchesOf(resource)
    .map(({ key, name, label }) => `[${request[name] ? 'x' : ' '}] ${key} ${label}`)
    .join('  ');
}

function keysLine({ problems }: Draft, { isDryRun }: ImportRequest): string {
  const go = problems.length === 0 ? [`i ${isDryRun ? 'check' : 'import'}`] : [];
  return ['↑↓ move', 'Enter change', ...go, 'q cancel'].join(' · ');
}
