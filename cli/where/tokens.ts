// Splits the text of a condition into words, quoted texts and signs.
import type { Refuse } from './refusal.ts';

export type TokenKind = 'word' | 'text' | 'sign' | 'end';

export interface Token {
  kind: TokenKind;
  /** The word or sign, or what is between the quotes. */
  text: string;
  /** Where it begins and ends in the whole text. */
  at: number;
  end: number;
}

const SPACE = /\s+/y;
const SIGN = /<=|>=|!=|[=<>(),]/y;
const WORD = /[^\s=!<>(),'"]+/y;

// What other languages write, and what is written here instead.
const FOREIGN = /==|<>|&&?|\|\|?|!/y;
const INSTEAD: Readonly<Record<string, string>> = {
  ...{ '==': '=', '<>': '!=', '&': 'and', '&&': 'and', '|': 'or', '||': 'or', '!': 'not' },
};

/** The tokens of the text; the last one has the kind `end`. */
export function tokensOf(text: string, refuse: Refuse): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0];
  };
  while (at < text.length) {
    const space = take(SPACE);
    if (space !== undefined) {
      at += space.length;
      continue;
    }
    const token = quotedAt(text, at, refuse) ?? plainAt(take, at, refuse);
    tokens.push(token);
    at = token.end;
  }
  return [...tokens, { kind: 'end', text: '', at: text.length, end: text.length }];
}

function quotedAt(text: string, at: number, refuse: Refuse): Token | undefined {
  const quote = text[at];
  if (quote !== "'" && quote !== '"') return undefined;
  const close = text.indexOf(quote, at + 1);
  if (close < 0) {
    throw refuse(
      at,
      `expected another ${quote} that closes this one.`,
      `add a ${quote} where the text ends. Put a text that contains ${quote} in ${quote === '"' ? "'" : '"'}.`,
    );
  }
  return { kind: 'text', text: text.slice(at + 1, close), at, end: close + 1 };
}

function plainAt(take: (pattern: RegExp) => string | undefined, at: number, refuse: Refuse): Token {
  const sign = take(SIGN);
  const foreign = take(FOREIGN);
  const instead = INSTEAD[foreign ?? ''];
  if (instead !== undefined && (sign === undefined || (foreign?.length ?? 0) > sign.length))
    throw refuse(at, `expected "${instead}" instead of "${foreign}".`, `write "${instead}".`);
  if (sign !== undefined) return { kind: 'sign', text: sign, at, end: at + sign.length };
  const word = take(WORD) ?? '';
  return { kind: 'word', text: word, at, end: at + word.length };
}
