// Given and family names of many cultures, for the people of the demo data.
import names from './names.json' with { type: 'json' };

/** Given and family names by culture. */
export const CULTURES = names;

export type CultureName = keyof typeof CULTURES;

const LETTERS: Record<string, string> = { ß: 'ss', ø: 'o', ł: 'l', ı: 'i', æ: 'ae', đ: 'd' };

/** Plain lower-case ASCII words of a text, for emails and domains: `['joao', 'conceicao']`. */
export function asciiWords(text: string): string[] {
  const plain = text
    .toLowerCase()
    .replace(/[ßøłıæđ]/g, (letter) => LETTERS[letter] ?? '')
    .normalize('NFD')
    .replace(/[\u0300-\u036f'’]/g, '');
  return plain.split(/[^a-z0-9]+/).filter((word) => word !== '');
}
