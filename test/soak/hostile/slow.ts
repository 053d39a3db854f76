// Clients that take their time: bodies that trickle or come to a halt, heads without an end, answers that nobody reads.

import { patienceMs } from '../patience.ts';
import type { Attack } from './attack.ts';
import type { Client } from './clients.ts';
import { headOf, type Outcome, Raw } from './raw.ts';

// What the service gives them, and as long again on a busy machine.
const HALT_MS_MAX = patienceMs(40_000);
const BODY_MS_MAX = patienceMs(100_000);
const BATCH_MS_MAX = patienceMs(200_000);
const HEAD_MS_MAX = patienceMs(150_000);
const UNREAD_MS = 25_000;
const MIB = 2 ** 20;

/** Sends what `send` does on a connection of its own, and says what came of it; @throws where nothing did in time */
async function on(
  attack: Attack,
  msMax: number,
  send: (raw: Raw) => Promise<void> | void,
): Promise<Outcome | null> {
  const raw = await Raw.open(attack.port);
  try {
    const begunAt = performance.now();
    await send(raw);
    while (!attack.isOver) {
      const outcome = await raw.outcome(250);
      if (outcome !== 'silent') return outcome;
      if (performance.now() - begunAt > msMax)
        throw new Error(`neither answered nor closed after ${Math.round(msMax / 1_000)} s`);
    }
    return null;
  } finally {
    raw.close();
  }
}

interface Trickle {
  bytes: number;
  /** How many of them at a time, and milliseconds between two times. */
  piece: number;
  pauseMs: number;
}

/** Writes white space in pieces, for as long as that is of use. */
async function trickle(attack: Attack, raw: Raw, { bytes, piece, pauseMs }: Trickle): Promise<void> {
  for (let sent = 0; sent < bytes && !raw.isHeard && !attack.isOver; sent += piece) {
    raw.write(' '.repeat(Math.min(piece, bytes - sent)));
    await attack.sleep(pauseMs);
  }
}

const post = (attack: Attack, path: string, key: number, fields: Record<string, string | number>) =>
  headOf(`POST /api/v2/${path}`, attack.key(key), fields);

export const SLOW: readonly Client[] = [
  {
    name: 'batches of 32 MiB at 43 KB/s',
    count: 2,
    expected: [200, 408, 422, 429, 'closed'],
    once: (attack) =>
      on(attack, BATCH_MS_MAX, (raw) => {
        raw.write(post(attack, 'contacts/batch', 0, { 'Content-Length': 32 * MIB }));
        return trickle(attack, raw, { bytes: 32 * MIB, piece: 4_300, pauseMs: 100 });
      }),
  },
  {
    name: 'bodies of a byte every 5 s',
    count: 10,
    expected: [408, 429, 'closed'],
    once: (attack) =>
      on(attack, BODY_MS_MAX, (raw) => {
        raw.write(post(attack, 'contacts', 3, { 'Content-Length': 300_000 }));
        return trickle(attack, raw, { bytes: 300_000, piece: 1, pauseMs: 5_000 });
      }),
  },
  {
    name: 'bodies that come to a halt',
    count: 12,
    expected: [408, 429, 'closed'],
    once: (attack) =>
      on(attack, HALT_MS_MAX, (raw) => {
        raw.write(post(attack, 'contacts', 3, { 'Transfer-Encoding': 'chunked' }));
        raw.write(`10000\r\n${' '.repeat(30_000)}`);
      }),
  },
  {
    name: 'heads without an end',
    count: 20,
    expected: [400, 408, 'closed'],
    once: (attack) =>
      on(attack, HEAD_MS_MAX, (raw) => {
        raw.write('GET /api/v2/contacts HTTP/1.1\r\nHost: crm.test\r\nX-Filler: ');
      }),
  },
  {
    name: 'answers of 4 MiB that nobody reads',
    count: 25,
    pauseMs: 1_000,
    expected: [200, 429, 'closed'],
    once: async (attack) => {
      const raw = await Raw.open(attack.port);
      try {
        raw.read(false);
        raw.write(headOf('GET /api/v2/contacts?limit=200', attack.key(4)));
        await attack.sleep(UNREAD_MS);
        raw.read(true);
        // What the system holds for it is there to be read, however long ago the service gave it up.
        if (attack.isOver) return null;
        if (!(await raw.ends(HALT_MS_MAX))) throw new Error('neither whole nor given up');
        return raw.isWhole ? await raw.outcome(0) : 'closed';
      } finally {
        raw.close();
      }
    },
  },
];
