// Clients that send much: past their limits, with keys that are none, over many connections, malformed in every way.
import fc from 'fast-check';
import { brokenRequests } from '../fuzz/broken.ts';
import type { Attack } from './attack.ts';
import type { Client } from './clients.ts';
import { Raw } from './raw.ts';

const HALT_MS = 2_000;
const IDLE_MS = 20_000;

const domain = `${'a'.repeat(60)}.`.repeat(240);
const deep = `{"title":"T","content":${'['.repeat(20_000)}${']'.repeat(20_000)}}`;

const malformed: [request: string, body: string][] = [
  [`GET /api/v2/companies?domain=${'.'.repeat(15_000)}`, ''],
  [`GET /api/v2/companies?domain=${domain}`, ''],
  [`GET /api/v2/contacts?email=${'a@'.repeat(7_000)}`, ''],
  [`GET /api/v2/contacts?cursor=${'A'.repeat(15_000)}`, ''],
  ['POST /api/v2/notes', deep],
  ['POST /api/v2/companies', JSON.stringify({ domain: `${'.'.repeat(900_000)}a` })],
  ['POST /api/v2/contacts', JSON.stringify({ email: `${'a'.repeat(900_000)}@` })],
  ['POST /api/v2/contacts', `{${'"a":1,'.repeat(150_000)}"b":2}`],
  ['POST /api/v2/contacts', `{"first_name":"${'\\u0000'.repeat(150_000)}"}`],
  ['POST /api/v2/deals', `{"name":"D","estimated_value":${'9'.repeat(900_000)}}`],
];

let next = 0;

/** Bytes that are no HTTP, or two kinds of it at once. */
async function broken(attack: Attack): Promise<'closed'> {
  const [one] = fc.sample(brokenRequests(attack.key(9)), 1);
  const raw = await Raw.open(attack.port);
  try {
    if (one !== undefined) raw.write(one.bytes);
    await raw.outcome(HALT_MS);
    return 'closed';
  } finally {
    raw.close();
  }
}

export const FLOOD: readonly Client[] = [
  {
    name: 'a flood of lists',
    count: 4,
    pauseMs: 5,
    expected: [200, 429],
    once: (attack) => attack.ask('GET /api/v2/contacts?limit=1', { key: attack.key(7) }),
  },
  {
    name: 'a flood of exports, each with a run of its own',
    count: 2,
    pauseMs: 1_000,
    expected: [200, 429],
    once: (attack) =>
      attack.ask('GET /api/v2/contacts?limit=1', {
        key: attack.key(8),
        fields: { 'User-Agent': `crm/0.2.0 (export; ${crypto.randomUUID()})` },
      }),
  },
  {
    name: 'keys that are none',
    count: 2,
    pauseMs: 10,
    expected: [401, 429],
    once: (attack) => attack.ask('GET /api/v2/contacts', { key: `service_live_${crypto.randomUUID()}` }),
  },
  {
    name: 'what is malformed',
    count: 2,
    pauseMs: 500,
    expected: [200, 404, 413, 414, 422, 429, 431, 'closed'],
    once: (attack) => {
      const [request, body] = malformed[next++ % malformed.length] ?? ['GET /', ''];
      return attack.ask(request, { key: attack.key(9), body });
    },
  },
  { name: 'what is no HTTP', count: 2, pauseMs: 100, expected: ['closed'], once: broken },
  {
    name: 'connections that are just there',
    count: 200,
    expected: ['closed'],
    once: async (attack) => {
      const raw = await Raw.open(attack.port);
      await attack.sleep(IDLE_MS * (0.5 + Math.random()));
      raw.close();
      return 'closed';
    },
  },
];
