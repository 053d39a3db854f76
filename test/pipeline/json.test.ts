// The quick look at a body's text: it lets through exactly what going through the text piece by piece does not refuse.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { JsonValue } from '../../db/model/json.ts';
import { parseJson } from '../../server/json/json-reader.ts';
import { JsonScan } from '../../server/json/json-scan.ts';
import { countKeys, findSyntaxFault } from '../../server/json/json-syntax.ts';
import { readLargeBatch } from '../../server/pipeline/large-batch.ts';

const key = fc.constantFrom('a', 'b', '', 'x:y', '{', '"', '\\', '__proto__', 'constructor', '\u0000', 'é');
const word = fc.oneof(key, fc.constantFrom('1e400', '12345678901234567890', '\ud800', ',:"'));
const scalar = fc.oneof(word, fc.constantFrom<JsonValue>(0, -1.5, 1e21, 2 ** 53, null, true, false));

const quoted = fc.tuple(key, fc.boolean()).map(([name, isEscaped]) => {
  const text = JSON.stringify(name);
  return isEscaped ? text.replace(/[ab_]/, (char) => `\\u00${char.charCodeAt(0).toString(16)}`) : text;
});

// Written by hand: JSON.stringify gives no key twice.
const { json } = fc.letrec<{ json: string }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    scalar.map((value) => JSON.stringify(value)),
    fc.array(tie('json'), { maxLength: 4 }).map((items) => `[${items.join(' ,')}]`),
    fc.array(fc.tuple(quoted, tie('json')), { maxLength: 4 }).map((pairs) => {
      return `{${pairs.map((pair) => pair.join(': ')).join(',')}}`;
    }),
  ),
}));

function messageOf(run: () => unknown): string | undefined {
  try {
    run();
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}

test('a repeated or forbidden key is found by counting', () => {
  const property = fc.property(json, (text) => {
    const refusal = messageOf(() => findSyntaxFault(text));
    const isCountOff =
      countKeys(JSON.parse(text) as JsonValue) !== new JsonScan(Buffer.from(text)).advance().colons;
    expect(isCountOff).toBe(refusal !== undefined);
    expect(messageOf(() => parseJson(Buffer.from(text), null))).toBe(refusal as string);
  });
  fc.assert(property, { numRuns: 2_000 });
});

test('what stands first in a text is reported, whatever else is wrong with it', () => {
  const property = fc.property(
    json,
    fc.nat(),
    fc.constantFrom('{', '}', '[', '"', '\\', ',', ':', ''),
    (text, at, odd) => {
      const place = at % (text.length + 1);
      const broken = text.slice(0, place) + odd + text.slice(place + 1);
      const refusal = messageOf(() => findSyntaxFault(broken));
      const told = messageOf(() => parseJson(Buffer.from(broken), null));
      if (refusal !== undefined) expect(told).toBe(refusal);
      else if (told !== undefined) expect(messageOf(() => JSON.parse(broken))).toBeDefined();
    },
  );
  fc.assert(property, { numRuns: 2_000 });
});

test('a value that no record can hold is suspected', () => {
  const suspects = [
    '"\\u0000"',
    '1e16',
    '1E400',
    '[9007199254740992]',
    '{"a":-12345678901234567}',
    '{"\\ud800":1}',
  ];
  for (const text of suspects) expect(parseJson(Buffer.from(text), null).isSuspect).toBe(true);
  const others = ['"9007199254740992 1e9 u0000"', '[999999999999999,true,false]', '{"1e9":"\\n"}', '"\\\\"'];
  for (const text of others) expect(parseJson(Buffer.from(text), null).isSuspect).toBe(false);
});

const outcomeOf = async (read: () => Promise<JsonValue> | JsonValue): Promise<JsonValue> => {
  try {
    return { value: await read() };
  } catch (error) {
    return { refused: (error as Error).message };
  }
};
const whole = (text: string) =>
  outcomeOf(() => {
    const { value } = parseJson(Buffer.from(text), null);
    if (!Array.isArray(value)) throw new Error('The body must be an array of items.');
    return value;
  });
const inElements = (text: string) =>
  outcomeOf(async () =>
    (await readLargeBatch(Buffer.from(text), null, () => undefined)).map(({ value }) => value),
  );

test('a batch read element by element is what it is as a whole', async () => {
  const property = fc.asyncProperty(fc.array(json, { maxLength: 5 }), async (items) => {
    const text = ` [${items.join(' ,\n')} ]\n`;
    expect(await inElements(text)).toEqual(await whole(text));
  });
  await fc.assert(property, { numRuns: 2_000 });
});

test('and is refused where it would be as a whole', async () => {
  const odd = fc.constantFrom('{', '}', '[', ']', '"', '\\', ',', ':', '', 'x', '[]', '\n', 'é', '\ufeff');
  const property = fc.asyncProperty(
    fc.array(json, { maxLength: 5 }),
    fc.nat(),
    odd,
    async (items, at, inserted) => {
      const text = `[${items.join(',')}]`;
      const place = at % (text.length + 1);
      const broken = text.slice(0, place) + inserted + text.slice(place + 1);
      const [one, other] = [await whole(broken), await inElements(broken)];
      expect(Object.keys(other as object)).toEqual(Object.keys(one as object));
      if ('value' in (one as object)) expect(other).toEqual(one);
    },
  );
  await fc.assert(property, { numRuns: 2_000 });
});

test.each([
  '',
  ' \r\n ',
  'x',
  '\n\n  é',
  '{}',
  '"[]"',
  '[',
  '[1',
  '[1,',
  '[1,]',
  '[,1]',
  '[1,,2]',
  '[ ]',
  '[1}',
  '[1 2]',
  '[{"a":1]',
  '[1]x',
  '[1]\r\n\r\n\t]',
  '["é😀",\n "a\nb"]',
  '["\\x"]',
  '["\\u12g4"]',
  '[{"a":1,}]',
  '[1,{"a":1,"a":2}]',
  '[[{"b":{"__proto__":1}}]]',
  '\ufeff[1,\n x]',
  '\ufeff\ufeff[1]',
  '[tru]',
  '[1]]',
])('a fault is reported in the same words and with the same place: %j', async (text) => {
  expect(await inElements(text)).toEqual(await whole(text));
});

test('an item larger than any record is refused by itself, whatever is in it', async () => {
  const large = `{"first_name":"${'x'.repeat(4 * 1024 * 1024)}"}`;
  const items = await readLargeBatch(Buffer.from(`[1,${large},2]`), null, () => undefined);
  expect(items.map(({ value, fault }) => fault?.code ?? value)).toEqual([1, 'VALIDATION_OUT_OF_RANGE', 2]);
});
