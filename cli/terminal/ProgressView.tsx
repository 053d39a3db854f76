// The progress bar for a terminal, fitted to its width.
import { Box, Text } from 'ink';
import type { ReactNode } from 'react';
import { formatCount } from './format.ts';
import { percentDone, progressFacts, type Snapshot, shareDone, unitOf } from './progress-text.ts';

export interface ProgressViewProps {
  snapshot: Snapshot;
  /** Width of the terminal in characters. */
  columns: number;
  hasColor: boolean;
}

const BAR_CHARACTERS_MIN = 10;
const BAR_CHARACTERS_MAX = 40;

/** Label, bar and percentage; below it rate, ETA and counts, what the work waits for, and why some of it failed. */
export function ProgressView({ snapshot, columns, hasColor }: ProgressViewProps): ReactNode {
  const { label, done, total, note, reasons = [] } = snapshot;
  const percent = percentDone(snapshot);
  const share = shareDone(snapshot);
  const amount = `${formatCount(done)}${total === null ? '' : `/${formatCount(total)}`} ${unitOf(snapshot)}`;
  const tail = percent === null ? amount : `${percent}  ${amount}`;
  const room = columns - label.length - tail.length - 5;
  const isBarShown = share !== null && room >= BAR_CHARACTERS_MIN;
  const failedColor = hasColor && snapshot.failed ? { color: 'red' } : {};
  return (
    <Box flexDirection="column" width={columns}>
      <Text wrap="truncate">
        <Text bold={hasColor}>{label}</Text>
        {'  '}
        {isBarShown && <Bar share={share} characters={room} hasColor={hasColor} />}
        {isBarShown && '  '}
        {tail}
      </Text>
      {progressFacts(snapshot).length > 0 && (
        <Text wrap="truncate" {...failedColor}>
          {progressFacts(snapshot).join(columns < 60 ? ' ' : ' · ')}
        </Text>
      )}
      {note !== undefined && (
        <Text wrap="truncate" dimColor={hasColor}>
          {note}
        </Text>
      )}
      {reasons.map((reason) => (
        <Text key={reason} wrap="truncate">
          {reason}
        </Text>
      ))}
    </Box>
  );
}

function Bar(props: { share: number; characters: number; hasColor: boolean }): ReactNode {
  const characters = Math.min(props.characters, BAR_CHARACTERS_MAX);
  const filled = Math.floor(Math.min(1, Math.max(0, props.share)) * characters);
  const text = '█'.repeat(filled) + '░'.repeat(characters - filled);
  return <Text {...(props.hasColor && { color: 'green' })}>{text}</Text>;
}
