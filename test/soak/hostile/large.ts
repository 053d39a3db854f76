// Clients that send what is large or costly: whole batches, text that is hard to read, answers that are kept.

import { type Attack, largeCustom } from './attack.ts';
import { type Client, large } from './clients.ts';

const MIB = 2 ** 20;
const BATCH_BYTES = 32 * MIB - 64;

const filled = (start: string, filling: string, end: string) => {
  const bytes = Buffer.alloc(BATCH_BYTES, filling);
  bytes.write(start, 0);
  bytes.write(end, bytes.length - end.length);
  return bytes;
};

/** A batch of a hundred contacts in 32 MiB, which is what a batch may have. */
function wholeBatch(): Buffer {
  const item = { first_name: 'Whole', custom: largeCustom() };
  const text = JSON.stringify(
    Array.from({ length: 100 }, (_, index) => ({ ...item, last_name: `${index}` })),
  );
  return Buffer.from(text + ' '.repeat(Math.max(0, BATCH_BYTES - text.length)));
}

/** A batch of one interaction, a hundred times. */
function repeatedInteractions(): string {
  const main_contact_email = 'small1@example.com';
  const one = { type: 'EMAIL', direction: 'INBOUND', title: 'T'.repeat(1_000), main_contact_email };
  return JSON.stringify(Array(100).fill({ ...one, primary_id: 'again', summary: 'S'.repeat(9_000) }));
}

// Made once each, when they are first sent.
const bodies = {
  whole: large(wholeBatch),
  newlines: large(() => filled('', '\n', 'x')),
  escapes: large(() => filled('["', '\\"', 'x')),
  brackets: large(() => filled('', '[', '')),
  numbers: large(() => filled('[', '1', 'x')),
  keys: large(() => filled('[{', '"a":1,', '}')),
  repeated: large(repeatedInteractions),
};

const batchOf = (body: () => string | Uint8Array, key: number) => (attack: Attack) =>
  attack.ask('POST /api/v2/contacts/batch', { key: attack.key(key), body: body() });

const HARD_TO_READ = ['newlines', 'escapes', 'brackets', 'numbers', 'keys'] as const;

export const LARGE: readonly Client[] = [
  { name: 'batches of 32 MiB', count: 2, expected: [200, 429], once: batchOf(bodies.whole, 1) },
  ...HARD_TO_READ.map(
    (name): Client => ({
      name: `32 MiB of ${name}`,
      count: 1,
      pauseMs: 2_000,
      expected: [422, 429],
      once: batchOf(bodies[name], 2),
    }),
  ),
  {
    name: 'keyed updates of a large contact',
    count: 2,
    expected: [200, 429],
    once: (attack, { largeId }) =>
      attack.ask(`PATCH /api/v2/contacts/${largeId}`, {
        key: attack.key(5),
        fields: { 'Idempotency-Key': crypto.randomUUID() },
        body: '{}',
      }),
  },
  {
    name: 'a hundred times one interaction, keyed',
    count: 1,
    expected: [200, 429],
    once: (attack) =>
      attack.ask('POST /api/v2/interactions/batch', {
        key: attack.key(6),
        fields: { 'Idempotency-Key': crypto.randomUUID() },
        body: bodies.repeated(),
      }),
  },
  {
    name: 'more and more large contacts',
    count: 1,
    pauseMs: 500,
    expected: [201, 403, 429],
    once: (attack) =>
      attack.ask('POST /api/v2/contacts', {
        key: attack.key(9),
        body: JSON.stringify({ first_name: 'More', custom: largeCustom() }),
      }),
  },
];
