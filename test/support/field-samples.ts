// For each kind of field: values that it takes, and values that it must refuse with which code.
import type { Field, FieldKind } from '../../db/model/fields.ts';
import { lengthMaxOf } from './contract.ts';
import type { Json } from './harness.ts';
import { type Client, uniqueEmail } from './v2.ts';

export interface Refusal {
  value: Json;
  code: string;
  /** Where the fault is, below the field; the field itself unless given. */
  below?: string;
}

const WRONG = 'VALIDATION_FAILED';
const FORMAT = 'VALIDATION_INVALID_FORMAT';
const RANGE = 'VALIDATION_OUT_OF_RANGE';
const ASTRAL = '😀';

const wrong = (...values: Json[]): Refusal[] => values.map((value) => ({ value, code: WRONG }));
const malformed = (...values: Json[]): Refusal[] => values.map((value) => ({ value, code: FORMAT }));
const outside = (...values: Json[]): Refusal[] => values.map((value) => ({ value, code: RANGE }));
const notText = wrong(5, true, {}, []);
const badText = wrong('a\0b', '\ud800', 'x\udfff');

/** Text of so many code points, each of two UTF-16 units. */
export function textOf(codePoints: number): string {
  return ASTRAL.repeat(codePoints);
}

/** Values of a field, of its kind or not, that a body must not have; null is left to the caller. */
export function refusedValues(name: string, field: Field): Refusal[] {
  const longest = lengthMaxOf(name);
  const byKind: Partial<Record<FieldKind, Refusal[]>> = {
    text: [...notText, ...badText, ...outside(textOf(longest + 1), 'e\u0301'.repeat(longest / 2 + 1))],
    email: [...notText, ...malformed('x', 'a@', '@b.example', 'a b@c.example', '', textOf(600))],
    emails: [
      ...wrong('a@b.example', 5, {}),
      { value: [5], code: WRONG, below: '0' },
      { value: ['a@b.example', 'x'], code: FORMAT, below: '1' },
      { value: [null], code: WRONG, below: '0' },
    ],
    domain: [
      ...notText,
      ...badText,
      ...outside('', textOf(1_001)),
      ...malformed('https://', '/', ' ', '...'),
    ],
    boolean: wrong(0, 1, 'true', '', [], {}, null),
    integer: [...wrong('5', 1.5, true, []), ...outside(-1, 2 ** 53)],
    number: [...wrong('5', true, [], {}), ...outside(2 ** 53, -(2 ** 53))],
    instant: [...wrong('5', 1.5, true, '2026-01-01T00:00:00Z'), ...outside(2 ** 53, -(2 ** 53))],
    date: [
      ...wrong(5, true, 20260101),
      ...malformed('', '2026-02-30', '2025-02-29', '2026-13-01', '2026-1-1', '26-01-01', '01/02/2026'),
      ...malformed('2026-01-01T00:00:00Z', ' 2026-01-01', '2026-01-01 '),
    ],
    enum: wrong('', 'nonsense', 'Contact', 5, true, []),
    reference: [...notText, ...badText, ...wrong('absent', '', '019b76da-a800-7000-8000-000000000001')],
    references: [
      ...wrong('x', 5, {}),
      { value: [5], code: WRONG, below: '0' },
      { value: [null], code: WRONG, below: '0' },
      { value: ['019b76da-a800-7000-8000-000000000001'], code: WRONG, below: '0' },
      ...outside(Array(101).fill('x')),
    ],
    custom: [
      ...wrong('x', 5, true, []),
      { value: { deep: { a: 1 } }, code: WRONG, below: 'deep' },
      { value: { list: [1] }, code: WRONG, below: 'list' },
      { value: { long: textOf(1_001) }, code: RANGE, below: 'long' },
      { value: { big: 2 ** 53 }, code: RANGE, below: 'big' },
      { value: { ['k'.repeat(101)]: 1 }, code: RANGE, below: 'k'.repeat(101) },
      { value: keysOf(101), code: RANGE },
    ],
  };
  return byKind[field.kind] ?? [];
}

/** A flat object of so many keys. */
export function keysOf(count: number): Json {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`key-${index}`, index]));
}

/** Ids that the reference fields of a body can name: resource (or `users`, `stages`) → id. */
export type Targets = Record<string, string>;

/** Makes one record of everything that can be referred to. */
export async function makeTargets(api: Client, userId: string): Promise<Targets> {
  const targets: Targets = { users: userId };
  for (const name of ['contacts', 'companies', 'deals', 'notes']) targets[name] = (await api.create(name)).id;
  const [pipeline] = await api.list('/pipelines?sort_direction=asc&limit=1');
  targets.pipelines = pipeline.id;
  targets.stages = pipeline.stages[1].id;
  return targets;
}

let domains = 0;

/** Values that the field takes and shows as they are; the last is the longest or furthest. */
export function acceptedValues(name: string, field: Field, targets: Targets): Json[] {
  domains += 1;
  const byKind: Partial<Record<FieldKind, Json[]>> = {
    text: ['x', ' padded ', "O'Brien; DROP TABLE", textOf(lengthMaxOf(name))],
    email: [uniqueEmail(), uniqueEmail().toUpperCase()],
    emails: [[], [uniqueEmail()], [uniqueEmail(), uniqueEmail()]],
    domain: [`site-${domains}.example`],
    boolean: [true, false],
    integer: [0, 1, 2 ** 53 - 1],
    number: [0, -1.5, 0.1, 2 ** 53 - 1],
    instant: [0, 1_767_225_600_000, -1],
    date: ['2026-12-31', '2028-02-29', '1999-01-01'],
    enum: [field.example],
    reference: [targets[field.references ?? '']],
    references: [[targets[field.references ?? '']]],
    custom: [{}, { a: 'x', b: 1.5, c: true }, keysOf(100)],
  };
  // The currency is text, but of a list.
  return name === 'currency' ? ['EUR', 'JPY'] : (byKind[field.kind] ?? []);
}
