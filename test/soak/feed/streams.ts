// Streams of changes while many writes arrive and the server is killed: none of them misses a change or gets one twice.
import type { Json } from '../../support/json.ts';
import { until } from '../../support/until.ts';
import { NO_LIMITS, Node, runOnce } from '../service.ts';
import { StreamReader } from './stream-reader.ts';

const ITEMS = 20;
const CLIENTS = 10;
const SLOW_MS = 5;
const EVENTS_PER_STREAM = 500;
const PERIOD_MS = (writesPerSecond: number) => (1_000 * ITEMS * CLIENTS) / writesPerSecond;

export interface StreamsExtent {
  streams: number;
  /** Creates, in batches. */
  writesPerSecond: number;
  seconds: number;
  /** How often the server is killed meanwhile. */
  kills: number;
  flags?: readonly string[];
}

export interface StreamsFigures {
  /** Changes while the streams were open, and how many a second that was. */
  changes: number;
  perSecond: number;
  /** Events of all streams, and how often these were opened. */
  events: number;
  opened: number;
  /** Milliseconds from a write to its event, of the streams that neither were slow nor came back. */
  p50: number;
  p99: number;
  faults: string[];
}

/** Opens streams of an empty database, of which one in four is slow and one in four comes back again and again, and writes. */
export async function streamThroughWrites(db: string, extent: StreamsExtent): Promise<StreamsFigures> {
  const { streams, writesPerSecond, seconds, kills, flags = [] } = extent;
  const key = await runOnce(['init', '--org', 'Streams', '--db', db]);
  const node = await Node.start(db, [...NO_LIMITS, ...flags]);
  try {
    const { end_cursor: cursor, head: sequence } = await placeOf(node.url, key);
    const readers = Array.from({ length: streams }, (_, index) => {
      const kinds = [{}, {}, { pauseMs: SLOW_MS }, { eventsPerStream: EVENTS_PER_STREAM }];
      return new StreamReader({ url: node.url, key, cursor, sequence, ...kinds[index % kinds.length] });
    });
    // One that was never open before the server is killed would not come back.
    await until(() => readers.every((reader) => reader.streams > 0));
    const begun = performance.now();
    let isOver = false;
    const clients = Array.from({ length: CLIENTS }, async () => {
      for (let next = performance.now(); !isOver; next += PERIOD_MS(writesPerSecond)) {
        await Bun.sleep(Math.max(0, next - performance.now()));
        await create(node.url, key).catch(() => undefined);
      }
    });
    for (let kill = 0; kill <= kills; kill++) {
      await Bun.sleep((seconds * 1_000) / (kills + 1));
      if (kill === kills) break;
      await node.kill();
      await node.start();
    }
    isOver = true;
    await Promise.all(clients);
    const elapsed = (performance.now() - begun) / 1_000;
    const { head } = await placeOf(node.url, key);
    await Promise.all(readers.map((reader) => reader.finish(head)));
    const delays = readers.filter((_, index) => index % 4 < 2).flatMap((reader) => reader.delays);
    const sorted = delays.toSorted((one, other) => one - other);
    const sum = (of: (reader: StreamReader) => number) => readers.reduce((total, one) => total + of(one), 0);
    return {
      ...{ changes: head - sequence, perSecond: (head - sequence) / elapsed },
      ...{ events: sum((one) => one.sequence - sequence), opened: sum((one) => one.streams) },
      p50: sorted[Math.floor(sorted.length / 2)] ?? 0,
      p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
      faults: readers.flatMap(({ faults }, index) => faults.map((fault) => `stream ${index}: ${fault}`)),
    };
  } finally {
    await node.kill();
  }
}

async function placeOf(url: string, key: string): Promise<{ end_cursor: string; head: number }> {
  const response = await fetch(`${url}/api/v2/changes?start=now`, { headers: { 'X-Service-Api-Key': key } });
  const { page_info }: Json = await response.json();
  return page_info;
}

async function create(url: string, key: string): Promise<void> {
  const body = Array.from({ length: ITEMS }, (_, index) => ({ first_name: 'Streamed', custom: { index } }));
  const headers = { 'X-Service-Api-Key': key };
  await fetch(`${url}/api/v2/contacts/batch`, { method: 'POST', headers, body: JSON.stringify(body) });
}
