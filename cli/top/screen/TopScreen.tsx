// What a server does now, drawn again with each sample.
import { Box, Text } from 'ink';
import { type ReactNode, useEffect, useState } from 'react';
import { messageOf } from '../../errors.ts';
import { useKeys } from '../../terminal/keys.tsx';
import { cut } from '../../terminal/screen-text.ts';
import type { ScreenProps } from '../../terminal/show-screen.tsx';
import { figuresBetween } from '../figures.ts';
import { headLine, ORDERS, routeLines, serverLines } from '../lines.ts';
import type { MetricsSample } from '../sample.ts';

/** Where samples come from. */
export interface MetricsFeed {
  url: string;
  first: MetricsSample;
  read(): Promise<MetricsSample>;
}

const INTERVAL_MS = 2_000;

/** Reads a sample every two seconds; one that cannot be read is said, and tried again. */
export function TopScreen(
  props: ScreenProps<'quit'> & { feed: MetricsFeed; intervalMs?: number },
): ReactNode {
  const { feed, size, hasColor, leave, intervalMs = INTERVAL_MS } = props;
  const [samples, setSamples] = useState<{ before: MetricsSample | null; now: MetricsSample }>({
    before: null,
    now: feed.first,
  });
  const [order, setOrder] = useState(0);
  const [fault, setFault] = useState('');
  useEffect(() => {
    const timer = setInterval(() => {
      feed.read().then(
        (sample) => {
          setFault('');
          setSamples(({ now }) => ({ before: now, now: sample }));
        },
        (error: unknown) => setFault(messageOf(error)),
      );
    }, intervalMs);
    return () => clearInterval(timer);
  }, [feed, intervalMs]);
  useKeys((input, key) => {
    if (input === 's') setOrder((at) => (at + 1) % ORDERS.length);
    else if (input === 'q' || key.escape) leave('quit');
  });
  const { before, now } = samples;
  const figures = before === null ? null : figuresBetween(before, now);
  const summary = serverLines(now, figures);
  const sortedBy = ORDERS[order] ?? 'rate';
  const { header, lines } = routeLines(figures?.routes ?? [], sortedBy, size.columns);
  const room = Math.max(0, size.rows - summary.length - 4);
  return (
    <Box flexDirection="column" width={size.columns} height={size.rows}>
      <Text bold={hasColor} wrap="truncate">
        {cut(headLine(now, feed.url), size.columns)}
      </Text>
      {summary.map((line) => (
        <Text key={line.slice(0, line.indexOf(' '))} wrap="truncate">
          {cut(line, size.columns)}
        </Text>
      ))}
      <Text dimColor={hasColor} wrap="truncate">
        {cut(header, size.columns)}
      </Text>
      <Box flexDirection="column" height={room}>
        {lines.slice(0, room).map((line) => (
          <Text key={line} wrap="truncate">
            {cut(line, size.columns)}
          </Text>
        ))}
      </Box>
      <Text wrap="truncate" {...(hasColor && { color: 'red' })}>
        {cut(fault, size.columns)}
      </Text>
      <Text dimColor={hasColor} wrap="truncate">
        {cut(`s sort (by ${sortedBy}) · q quit`, size.columns)}
      </Text>
    </Box>
  );
}
