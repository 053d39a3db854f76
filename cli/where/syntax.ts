// Reads the text of --where into a tree, before anyone asks what its fields are.
import type { CliError } from '../errors.ts';
import { didYouMean } from '../nearest.ts';
import type { Refuse } from './refusal.ts';
import { type Token, tokensOf } from './tokens.ts';

/** A value as it is written. */
export interface Value {
  text: string;
  /** Quotes make text of anything. */
  isQuoted: boolean;
  /** Whether `ahead` stands before it. */
  isAhead: boolean;
  at: number;
}

/** What a condition says of its field; `is` is `is null`, which has no value. */
export const WRITTEN_OPERATORS = [
  ...(['=', '!=', '<', '<=', '>', '>=', 'contains', 'starts_with', 'has'] as const),
  ...(['in', 'between', 'is'] as const),
] as const;
/** An operator as it is written. */
export type Written = (typeof WRITTEN_OPERATORS)[number];

/** Operators in a sentence. */
export function wordsFor(operators: readonly string[]): string {
  return operators.map((one) => (one === 'is' ? 'is null' : one)).join(', ');
}

/** A field, an operator, and as many values as the operator takes. */
export interface WrittenCondition {
  kind: 'condition';
  field: string;
  operator: Written;
  /** Whether `not` stands within it: `not in`, `is not null`. */
  isNegated: boolean;
  values: readonly Value[];
  at: number;
  operatorAt: number;
}

export type Expression =
  | WrittenCondition
  | { kind: 'and' | 'or'; parts: readonly Expression[]; at: number }
  | { kind: 'not'; part: Expression; at: number };

// More would not pass the check of what is sent either, and each is a call on the stack.
const NESTING_MAX = 50;
const KEYWORDS: readonly string[] = ['and', 'or', 'not', 'null', ...WRITTEN_OPERATORS];
// After `not`; before the others it would read like nothing that anyone says.
const NEGATABLE: readonly string[] = ['in', 'between', 'contains', 'starts_with', 'has'];
const HINT_CHARACTERS_MAX = 60;
// Of times: the first letter is what is written here.
const UNIT = /^([hdw])(ours?|ays?|eeks?)?$/i;
const CURLY_QUOTES = /^[‘’‚“”„«»`]/;

/** The tree of a text: `not` binds more strongly than `and`, and `and` more strongly than `or`. */
export function expressionOf(text: string, refuse: Refuse): Expression {
  const reader = new Reader(tokensOf(text, refuse), refuse);
  const expression = reader.alternatives();
  reader.finish();
  return expression;
}

class Reader {
  readonly #tokens: readonly Token[];
  readonly #refuse: Refuse;
  #at = 0;
  #nesting = 0;

  constructor(tokens: readonly Token[], refuse: Refuse) {
    this.#tokens = tokens;
    this.#refuse = refuse;
  }

  /** Conditions with `or` between them. */
  alternatives(): Expression {
    return this.#joined('or', () => this.#joined('and', () => this.#single()));
  }

  /** Throws unless everything is read. */
  finish(): void {
    const { kind, text, at } = this.#token();
    if (kind === 'end') return;
    if (kind === 'sign' && text === ')') throw this.#refuse(at, 'expected no ")", because no "(" is open.');
    throw this.#unexpected('"and", "or" or the end', this.#wordsHint());
  }

  // `name = Acme Inc`, `created_at > 7 days`, and, within a list, `status in (open won)`.
  #wordsHint({ isList = false } = {}): string[] {
    const [before, here] = [this.#tokens[this.#at - 1], this.#token()];
    const areWords = before?.kind === 'word' && before.text !== 'null' && here.kind === 'word';
    if (!areWords) return [];
    const [, unit] = (/^\d+$/.test(before.text) && UNIT.exec(here.text)) || [];
    if (unit !== undefined) return [`write ${before.text}${unit.toLowerCase()}.`];
    const [text, list] = [`'${before.text} ${here.text}'`, `(${before.text}, ${here.text})`];
    const shown = (example: string) => (text.length > HINT_CHARACTERS_MAX ? '.' : `: ${example}`);
    const quoted = `put text with spaces in quotes${shown(text)}`;
    return isList ? [`separate values with commas${shown(list)}`, `or ${quoted}`] : [quoted];
  }

  #joined(word: 'and' | 'or', read: () => Expression): Expression {
    const { at } = this.#token();
    const first = read();
    const parts = [first];
    while (this.#takes(word)) parts.push(read());
    return parts.length === 1 ? first : { kind: word, parts, at };
  }

  #single(): Expression {
    const { at } = this.#token();
    if (this.#takes('not')) return { kind: 'not', part: this.#nested(at, () => this.#single()), at };
    if (!this.#takes('(')) return this.#condition();
    const inner = this.#nested(at, () => this.alternatives());
    if (this.#takes(')')) return inner;
    throw this.#unexpected('"and", "or" or ")"', this.#wordsHint());
  }

  #nested(at: number, read: () => Expression): Expression {
    this.#nesting += 1;
    if (this.#nesting > NESTING_MAX)
      throw this.#refuse(at, `expected at most ${NESTING_MAX} levels of "(" and "not".`);
    const inner = read();
    this.#nesting -= 1;
    return inner;
  }

  #condition(): WrittenCondition {
    const { at, kind, text: field } = this.#token();
    // Quoted, it may have spaces: 'custom.lead score' = 7
    if (kind !== 'text' && (kind !== 'word' || KEYWORDS.includes(field) || isMiscased(field)))
      throw this.#unexpected('a field');
    this.#at += 1;
    const isNot = this.#takes('not');
    const operatorAt = this.#token().at;
    const operator = this.#operator(isNot);
    const start = { kind: 'condition' as const, field, at, operator, operatorAt };
    if (operator !== 'is') return { ...start, isNegated: isNot, values: this.#values(operator) };
    const isNegated = this.#takes('not');
    if (!this.#takes('null')) throw this.#unexpected(isNegated ? '"null"' : '"null" or "not null"');
    return { ...start, isNegated, values: [] };
  }

  #operator(isNot: boolean): Written {
    const { kind, text } = this.#token();
    const known = isNot ? NEGATABLE : WRITTEN_OPERATORS;
    const operator = WRITTEN_OPERATORS.find((one) => kind !== 'text' && one === text && known.includes(one));
    if (operator === undefined) throw this.#unknownOperator(known, isNot);
    this.#at += 1;
    return operator;
  }

  #unknownOperator(known: readonly string[], isNot: boolean): CliError {
    const { kind, text } = this.#token();
    const meant = kind === 'word' ? didYouMean(text, known) : '';
    return this.#unexpected(
      `an operator${isNot ? ' after "not"' : ''}`,
      [`use one of: ${wordsFor(known)}.`],
      meant,
    );
  }

  #values(operator: Written): Value[] {
    if (operator === 'in') return this.#list();
    const first = this.#value();
    if (operator !== 'between') return [first];
    if (!this.#takes('and')) throw this.#unexpected('"and" between the two ends of the range');
    return [first, this.#value()];
  }

  #list(): Value[] {
    if (!this.#takes('(')) throw this.#unexpected('values in parentheses, such as (open, won)');
    const values = [this.#value()];
    while (this.#takes(',')) values.push(this.#value());
    if (this.#takes(')')) return values;
    throw this.#unexpected('"," or ")"', this.#wordsHint({ isList: true }));
  }

  #value(): Value {
    const first = this.#token();
    const isAhead = isWord(first, /^ahead$/) && isWord(this.#token(1), /^\d/);
    if (isAhead) this.#at += 1;
    const { kind, text, at } = this.#token();
    if (kind === 'sign' || kind === 'end') throw this.#unexpected('a value');
    if (kind === 'word') this.#checkBare(text, at);
    this.#at += 1;
    return { text, at: isAhead ? first.at : at, isAhead, isQuoted: kind === 'text' };
  }

  #checkBare(word: string, at: number): void {
    if (/^null$/i.test(word)) {
      const steps = ['write "is null" or "is not null".', `write '${word}' for this text.`];
      throw this.#refuse(at, 'expected a value, and null is not one.', ...steps);
    }
    if (KEYWORDS.includes(word))
      throw this.#refuse(at, 'expected a value.', `write '${word}' for this text.`);
    if (CURLY_QUOTES.test(word)) throw this.#refuse(at, 'expected straight quotes.', 'use \' or ".');
  }

  #token(ahead = 0): Token {
    const token = this.#tokens[this.#at + ahead] ?? this.#tokens.at(-1);
    if (token === undefined) throw new Error('a text without tokens, not even its end');
    return token;
  }

  #takes(text: string): boolean {
    const token = this.#token();
    if (token.kind === 'text' || token.kind === 'end' || token.text !== text) return false;
    this.#at += 1;
    return true;
  }

  #unexpected(expected: string, nextSteps: readonly string[] = [], meant = ''): CliError {
    const { kind, text, at } = this.#token();
    if (kind === 'word' && isMiscased(text))
      return this.#refuse(at, `expected "${text}" in lower case.`, `write "${text.toLowerCase()}".`);
    const ending = kind === 'end' && !expected.endsWith('the end') ? ', but the text ends here' : '';
    return this.#refuse(at, `expected ${expected}${ending}.${meant}`, ...nextSteps);
  }
}

function isWord({ kind, text }: Token, pattern: RegExp): boolean {
  return kind === 'word' && pattern.test(text);
}

function isMiscased(word: string): boolean {
  return !KEYWORDS.includes(word) && KEYWORDS.includes(word.toLowerCase());
}
