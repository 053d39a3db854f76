// The quick look at a body's text: it lets through exactly what going through the text piece by piece does not refuse.
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { JsonValue } from '../../db/declare/json.ts';
import { parseJson } from '../../server/pipeline/json.ts';
import { countKeys, refuseStructure, surveyText } from '../../server/pipeline/json-structure.ts';

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
    const refusal = messageOf(() => refuseStructure(text));
    const isCountOff = countKeys(JSON.parse(text) as JsonValue) !== surveyText(text).colons;
    expect(isCountOff).toBe(refusal !== undefined);
    expect(messageOf(() => parseJson(Buffer.from(text), null))).toBe(refusal as string);
  });
  fc.assert(property, { numRuns: 2_000 });
});

test('what stands first in a text is told, whatever else is wrong with it', () => {
  const property = fc.property(
    json,
    fc.nat(),
    fc.constantFrom('{', '}', '[', '"', '\\', ',', ':', ''),
    (text, at, odd) => {
      const place = at % (text.length + 1);
      const broken = text.slice(0, place) + odd + text.slice(place + 1);
      const refusal = messageOf(() => refuseStructure(broken));
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
