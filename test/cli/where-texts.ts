// Random filters with the texts of --where that mean them: the texts are printed here, knowing nothing of the parser.
import fc from 'fast-check';

/** A filter and its text, in which `or` joins, `and` joins, or neither. */
interface Written {
  text: string;
  filter: unknown;
  binds: 'or' | 'and' | 'all';
  /** Levels of and, or, not. */
  levels: number;
  conditions: number;
}

const ID = fc.uuid({ version: 7 });
const NUMBER = fc.oneof(
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e15, max: 1e15 }),
);
const SPAN = fc.tuple(
  fc.constantFrom('ago', 'ahead'),
  fc.integer({ min: 1, max: 999 }),
  fc.constantFrom('h', 'd', 'w'),
);
const DATE = fc.date({
  min: new Date('0001-01-01T00:00:00Z'),
  max: new Date('9999-12-30T00:00:00Z'),
  noInvalidDate: true,
});
const BARE = /^[^\s=!<>(),'"&|‘’‚“”„«»`][^\s=!<>(),'"]*$/;
const WORDS = /^(and|or|not|null|in|is|between|contains|starts_with|has|ahead)$/i;

/** A value as it is written, and as filters have it. */
type Value = fc.Arbitrary<{ text: string; json: unknown }>;

const quoted = (text: string): string => (text.includes("'") ? `"${text}"` : `'${text}'`);
const textValue: Value = fc
  .tuple(fc.oneof(fc.string({ maxLength: 12 }), fc.string({ unit: 'grapheme', maxLength: 8 })), fc.boolean())
  .filter(([text]) => !(text.includes("'") && text.includes('"')))
  .map(([text, isBare]) => ({
    text: isBare && BARE.test(text) && !WORDS.test(text) ? text : quoted(text),
    json: text,
  }));
const idValue: Value = ID.map((id) => ({ text: id, json: id }));
const numberValue: Value = NUMBER.map((one) => ({ text: String(one), json: Number(String(one)) }));
const booleanValue: Value = fc.boolean().map((one) => ({ text: String(one), json: one }));
const spanValue: Value = SPAN.map(([way, count, unit]) => ({
  text: `${way === 'ahead' ? 'ahead ' : ''}${count}${unit}`,
  json: { [way]: `${count}${unit}` },
}));
const instantValue: Value = fc.oneof(
  spanValue,
  DATE.map((date) => ({ text: date.toISOString(), json: date.toISOString() })),
);
const dayValue: Value = fc.oneof(
  spanValue,
  DATE.map((date) => ({ text: date.toISOString().slice(0, 10), json: date.toISOString().slice(0, 10) })),
);
const choiceValue = (...choices: string[]): Value =>
  fc.constantFrom(...choices).map((one) => ({ text: one, json: one }));

const EQUALITY = { '=': 'eq', '!=': 'ne' } as const;
const ORDER = { ...EQUALITY, '<': 'lt', '<=': 'lte', '>': 'gt', '>=': 'gte' } as const;
const TEXT = { ...EQUALITY, contains: 'contains', starts_with: 'starts_with' } as const;

interface FieldKind {
  value: Value;
  operators: Readonly<Record<string, string>>;
  /** What `in` means. */
  list: string;
  isRange?: boolean;
}

const text: FieldKind = { value: textValue, operators: TEXT, list: 'in' };
const id: FieldKind = { value: idValue, operators: EQUALITY, list: 'in' };
const number: FieldKind = { value: numberValue, operators: ORDER, list: 'in', isRange: true };
const boolean: FieldKind = { value: booleanValue, operators: EQUALITY, list: 'in' };
const instant: FieldKind = { value: instantValue, operators: ORDER, list: 'in', isRange: true };
const day: FieldKind = { value: dayValue, operators: ORDER, list: 'in', isRange: true };
const link: FieldKind = { value: idValue, operators: { has: 'has' }, list: 'any_of' };
const emails: FieldKind = { value: textValue, operators: { has: 'has' }, list: 'any_of' };
const numbers: FieldKind = {
  value: numberValue,
  operators: { '<': 'lt', '>=': 'gte' },
  list: 'in',
  isRange: true,
};

const FIELDS: Readonly<Record<string, Readonly<Record<string, FieldKind>>>> = {
  deals: {
    ...{ id, name: text, currency: text, company_id: id, owner_id: id, estimated_value: number },
    status: { value: choiceValue('open', 'won', 'lost'), operators: EQUALITY, list: 'in' },
    ...{
      estimated_close_date: day,
      created_at: instant,
      closed_at: instant,
      contacts: link,
      companies: link,
    },
    'custom.seats': numbers,
  },
  contacts: {
    ...{ email: text, first_name: text, remarks: text, keep_in_touch: boolean, alt_emails: emails },
    ...{ last_interaction_at: instant, deals: link, segments: link, companies: link, company_id: id },
  },
  tasks: { name: text, done: boolean, due_date: instant, person_id: id, done_at: instant },
};

function condition(resource: string): fc.Arbitrary<Written> {
  const kinds = Object.entries(FIELDS[resource] ?? {});
  return fc.constantFrom(...kinds).chain(([name, { value, operators, list, isRange = false }]) => {
    const made = (words: fc.Arbitrary<{ text: string; json: unknown }>) =>
      words.map(({ text, json }) => ({
        ...{
          text: `${name} ${text}`,
          filter: { [name]: json },
          binds: 'all' as const,
          levels: 0,
          conditions: 1,
        },
      }));
    const one = fc.tuple(fc.constantFrom(...Object.entries(operators)), value);
    const some = fc.array(value, { minLength: 1, maxLength: 4 });
    const among = some.map((values) => ({
      text: `in (${values.map((each) => each.text).join(', ')})`,
      json: { [list]: values.map((each) => each.json) },
    }));
    const range = fc.tuple(value, value).map(([from, to]) => ({
      text: `between ${from.text} and ${to.text}`,
      json: { between: [from.json, to.json] },
    }));
    const none = fc.boolean().map((is) => ({ text: is ? 'is null' : 'is not null', json: { is_null: is } }));
    return fc.oneof(
      {
        weight: 4,
        arbitrary: made(
          one.map(([[sign, op], { text, json }]) => ({ text: `${sign} ${text}`, json: { [op]: json } })),
        ),
      },
      made(among),
      ...(isRange ? [made(range)] : []),
      made(none),
    );
  });
}

const inParentheses = (one: Written, isWanted: boolean): string => (isWanted ? `(${one.text})` : one.text);

function joined(word: 'and' | 'or', parts: readonly Written[], extra: readonly boolean[]): Written {
  const texts = parts.map((part, index) => {
    const isNeeded = word === 'and' && part.binds === 'or';
    return inParentheses(part, isNeeded || (extra[index] ?? false));
  });
  // What the same word joins within is no level of its own.
  const filters = parts.flatMap((part) => {
    const inner = (part.filter as Record<string, unknown>)[word];
    return part.binds === word && Array.isArray(inner) ? inner : [part.filter];
  });
  const levels = parts.map((part) => (part.binds === word ? part.levels - 1 : part.levels));
  return {
    text: texts.join(` ${word} `),
    filter: { [word]: filters },
    binds: word,
    levels: Math.max(...levels) + 1,
    conditions: parts.reduce((sum, part) => sum + part.conditions, 0),
  };
}

function negated(part: Written, extra: boolean): Written {
  return {
    ...part,
    text: `not ${inParentheses(part, part.binds !== 'all' || extra)}`,
    filter: { not: part.filter },
    binds: 'all',
    levels: part.levels + 1,
  };
}

/** A filter of a resource, and a text that means it. */
export function written(): fc.Arbitrary<{ resource: string; text: string; filter: unknown }> {
  return fc.constantFrom(...Object.keys(FIELDS)).chain((resource) => {
    const { filter } = fc.letrec<{ filter: Written }>((tie) => {
      const parts = fc.array(tie('filter'), { minLength: 2, maxLength: 4 });
      const extra = fc.array(fc.boolean(), { minLength: 4, maxLength: 4 });
      return {
        filter: fc.oneof(
          { depthSize: 'small', withCrossShrink: true },
          condition(resource),
          fc
            .tuple(fc.constantFrom('and' as const, 'or' as const), parts, extra)
            .map((given) => joined(...given)),
          fc.tuple(tie('filter'), fc.boolean()).map((given) => negated(...given)),
        ),
      };
    });
    return filter
      .filter(({ levels, conditions }) => levels <= 4 && conditions <= 25)
      .map((one) => ({ resource, text: one.text, filter: one.filter }));
  });
}
