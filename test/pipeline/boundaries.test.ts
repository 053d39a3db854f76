// Every length and limit at its boundary: the last that is taken, and the first that is not.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { creatorOf } from '../support/creates.ts';
import { expectRefusal, versionOf } from '../support/envelope.ts';
import { type Harness, type Json, startHarness } from '../support/harness.ts';
import { uniqueEmail } from '../support/v2.ts';

let harness: Harness;
let create: Awaited<ReturnType<typeof creatorOf>>;
beforeAll(async () => {
  harness = await startHarness();
  create = await creatorOf(harness);
});
afterAll(() => harness.close());

const RANGE = 'VALIDATION_OUT_OF_RANGE';

const fields = (text: string, max: number): [string, number][] =>
  text.split(' ').map((name): [string, number] => [name, max]);

const SOCIAL = 'linkedin twitter facebook instagram';
const TEXTS: Record<string, [field: string, max: number][]> = {
  '/api/v2/contacts': [
    ...fields(`first_name last_name title phone personal_phone ${SOCIAL} whatsapp`, 1_000),
    ['remarks', 10_000],
  ],
  '/api/v2/companies': fields(`name ${SOCIAL} crunchbase industry city state country`, 1_000),
  '/api/v2/deals': [['name', 1_000]],
  '/api/v2/pipelines': [['name', 1_000]],
  '/api/v2/tasks': [
    ['name', 1_000],
    ['description', 10_000],
  ],
  '/api/v2/notes': [
    ['title', 1_000],
    ['content', 50_000],
  ],
  '/api/v2/segments': [
    ['name', 1_000],
    ['description', 10_000],
  ],
  '/api/v2/interactions': [...fields('title primary_id secondary_id', 1_000), ['summary', 10_000]],
  '/api/v1/people': fields('firstName lastName title', 1_000),
  '/api/v1/companies': fields(`name ${SOCIAL} crunchbase anything`, 1_000),
  '/api/v1/interactions': [...fields('title primaryId secondaryId', 1_000), ['summary', 10_000]],
};

describe('texts have a length in code points', () => {
  for (const [path, texts] of Object.entries(TEXTS)) {
    for (const [field, max] of texts) {
      test(`${path} ${field}: ${max}`, async () => {
        // Two UTF-16 units, one code point; and a mark, which is a code point of its own.
        for (const unit of ['x', '😀', '\u0301']) {
          const kept = await create(path, { [field]: unit.repeat(max) });
          expect([kept.status, kept.body.error?.details]).toEqual([201, undefined]);
          const reply = await create(path, { [field]: unit.repeat(max + 1) });
          const { details } = expectRefusal(reply, 422, RANGE, [[field, RANGE]], versionOf(path));
          expect(details[0].message).toContain(String(max));
        }
      });
    }
  }
});

const keysOf = (total: number) => Object.fromEntries(Array.from({ length: total }, (_, i) => [`k${i}`, i]));
const email = (length: number) => `${'a'.repeat(length - '@mail.test'.length)}@mail.test`;
const stages = (total: number) => Array.from({ length: total }, (_, i) => ({ name: `S${i}` }));
const emails = (total: number) => Array.from({ length: total }, () => uniqueEmail());

// What is the last to be taken, and the first that is not.
const BOUNDARIES: [path: string, field: string, last: () => Json, first: () => Json, at?: string][] = [
  ['/api/v2/contacts', 'email', () => email(1_000), () => email(1_001)],
  ['/api/v2/contacts', 'alt_emails', () => emails(100), () => emails(101)],
  ['/api/v2/contacts', 'custom', () => keysOf(100), () => keysOf(101)],
  [
    '/api/v2/contacts',
    'custom',
    () => ({ k: '😀'.repeat(1_000) }),
    () => ({ k: 'x'.repeat(1_001) }),
    'custom.k',
  ],
  ['/api/v2/companies', 'domain', () => 'd'.repeat(1_000), () => 'd'.repeat(1_001)],
  ['/api/v2/companies', 'employee_count', () => 0, () => -1],
  ['/api/v2/companies', 'estimated_revenue', () => 2 ** 53 - 1, () => 2 ** 53],
  ['/api/v2/companies', 'estimated_revenue', () => -(2 ** 53 - 1), () => -(2 ** 53)],
  ['/api/v2/deals', 'estimated_value', () => 0.01, () => 1e300],
  ['/api/v2/pipelines', 'stages', () => stages(50), () => stages(51)],
  ['/api/v2/pipelines', 'stages', () => stages(1), () => []],
  [
    '/api/v2/pipelines',
    'stages',
    () => [{ name: 'a', probability: 1 }],
    () => [{ name: 'a', probability: 1.01 }],
    'stages.0.probability',
  ],
  [
    '/api/v2/pipelines',
    'stages',
    () => [{ name: 'a', probability: 0 }],
    () => [{ name: 'a', probability: -0.01 }],
    'stages.0.probability',
  ],
  ['/api/v2/interactions', 'interaction_date', () => 253_402_300_799_999, () => 253_402_300_800_000],
  ['/api/v1/interactions', 'interactionDate', () => -62_167_219_200_000, () => -62_167_219_200_001],
  ['/api/v1/people', 'identifier', () => email(999), () => email(1_002)],
  ['/api/v1/companies', 'domain', () => 'e'.repeat(1_000), () => ''],
];

describe('limits', () => {
  for (const [path, field, last, first, at = field] of BOUNDARIES) {
    test(`${path} ${at}: ${JSON.stringify(first()).slice(0, 40)}`, async () => {
      const kept = await create(path, { [field]: last() });
      expect([kept.status, kept.body.error]).toEqual([201, undefined]);
      expectRefusal(await create(path, { [field]: first() }), 422, RANGE, [[at, RANGE]], versionOf(path));
    });
  }

  test('keys of custom fields have at most 100 characters', async () => {
    const [longest, tooLong] = ['😀'.repeat(100), 'k'.repeat(101)];
    for (const [path, wrap, at] of [
      ['/api/v2/contacts', (key: string) => ({ custom: { [key]: 1 } }), `custom.${tooLong}`],
      ['/api/v1/companies', (key: string) => ({ [key]: 1 }), tooLong],
    ] as const) {
      expect((await create(path, wrap(longest))).status).toBe(201);
      expectRefusal(await create(path, wrap(tooLong)), 422, RANGE, [[at, RANGE]], versionOf(path));
    }
  });

  test('additional properties of a v1 company are at most 100, those already there included', async () => {
    const full = await create('/api/v1/companies', keysOf(100));
    expect(full.status).toBe(201);
    expectRefusal(await create('/api/v1/companies', keysOf(101)), 422, RANGE, [['', RANGE]], '1');
    const at = `/api/v1/companies/${full.body.data.id}`;
    expectRefusal(await harness.send('PATCH', at, { body: { more: 1 } }), 422, RANGE, [['', RANGE]], '1');
    expect((await harness.send('PATCH', at, { body: { more: 1, k0: null } })).status).toBe(200);
  });

  test('a batch has at most 100 items', async () => {
    const send = (total: number) =>
      harness.send('POST', '/api/v2/tasks/batch', { body: Array(total).fill({ name: 'T' }) });
    expect((await send(100)).body.data.summary).toEqual({ total: 100, succeeded: 100, failed: 0 });
    expectRefusal(await send(101), 422, RANGE, [['', RANGE]]);
    expect((await send(0)).body.data).toEqual({ items: [], summary: { total: 0, succeeded: 0, failed: 0 } });
  });
});
