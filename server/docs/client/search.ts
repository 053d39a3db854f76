// Searches operations and chapters: every word must match, and where it matches decides the order of the results.
import { nearest } from '../../../db/model/nearest.ts';
import { find, findAll, make } from './elements.ts';

interface Place {
  id: string;
  /** What the result line shows. */
  heading: Element;
  /** In lower case: title, path and name; names of fields and parameters; text of a chapter; all other text. */
  texts: readonly string[];
  isOld: boolean;
}

/** As `words-by-operation.ts` makes them. */
interface Words {
  told: Record<string, string>;
  operations: Record<string, [names: string, told: string]>;
}

const NO_WORDS: Words = { told: {}, operations: {} };

const MENTIONED = 3;
const WORD = /[a-z][a-z_]{2,}/g;

/** Enables the search field of the contents; `address` is that of the words of operations. */
export function offerSearch(address: string): void {
  const field = find('#search-field', HTMLInputElement);
  const results = find('#results', HTMLOListElement);
  const status = find('#found', HTMLElement);
  const contents = find('.contents', HTMLElement);
  let places: Place[] | undefined;
  const show = () => {
    places ??= readPlaces(NO_WORDS);
    const words = wordsOf(field.value);
    const isSearching = words.length > 0;
    const { found, corrected } = isSearching ? search(places, words) : { found: [], corrected: '' };
    results.replaceChildren(...found.map(resultOf));
    results.hidden = !isSearching;
    contents.hidden = isSearching;
    status.textContent = isSearching ? countOf(found.length) + corrected : '';
  };
  const load = async () => {
    places = readPlaces(await wordsAt(address));
    if (field.value !== '') show();
  };
  field.addEventListener('focus', load, { once: true });
  // Until the words are there, it searches titles, paths and the guide.
  field.addEventListener('input', show);
  offerKeys(field, results);
}

// The arrows move through the results, Enter opens the first one, and / leads to the field.
function offerKeys(field: HTMLInputElement, results: HTMLElement): void {
  field.addEventListener('keydown', ({ key }) => {
    if (key === 'Enter') results.querySelector('a')?.click();
  });
  find('#contents', HTMLElement).addEventListener('keydown', (event) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    const stops: HTMLElement[] = [field, ...findAll('a', HTMLElement, results)];
    const at = event.target instanceof HTMLElement ? stops.indexOf(event.target) : -1;
    if (step === 0 || at === -1 || results.hidden) return;
    event.preventDefault();
    stops[at + step]?.focus();
  });
  addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof Element && event.target.matches('input, textarea, select');
    if (event.key !== '/' || isTyping || !field.checkVisibility()) return;
    event.preventDefault();
    field.focus();
  });
}

function countOf(count: number): string {
  if (count === 0) return 'No results';
  return count === 1 ? '1 result' : `${count} results`;
}

async function wordsAt(address: string): Promise<Words> {
  const response = await fetch(address).catch(() => undefined);
  return response?.ok ? response.json() : NO_WORDS;
}

function readPlaces({ told, operations }: Words): Place[] {
  return findAll('.operation, .chapter', HTMLElement).flatMap((details) => {
    const heading = details.querySelector('summary > *');
    const place = details.querySelector('.opened');
    if (heading === null || place === null) return [];
    const group = details.closest('section')?.querySelector('h2, h3')?.textContent ?? '';
    const [names, own] = operations[place.id] ?? ['', ''];
    const all = [own, ...names.split(' ').map((name) => told[name] ?? '')].join(' ');
    const prose = details.matches('.chapter') ? place.textContent.toLowerCase() : '';
    const title = `${heading.textContent} ${place.id} ${group}`.toLowerCase();
    const isOld = heading.querySelector('.old') !== null;
    return [{ id: place.id, heading, texts: [title, names, prose, all], isOld }];
  });
}

// Drops plural endings, so that a search finds both singular and plural.
function wordsOf(text: string): string[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return words.map((word) => (word.length > 3 ? word.replace(/(?:ies|s)$/, '') : word));
}

// A word that is nowhere stands for the nearest one that is somewhere and has the same first letter.
function search(places: readonly Place[], given: readonly string[]): { found: Place[]; corrected: string } {
  const isSomewhere = (word: string) => places.some(({ texts }) => texts.some((text) => text.includes(word)));
  const words = given.map((word) =>
    isSomewhere(word) ? word : (nearest(word, vocabularyOf(places, word.slice(0, 1))) ?? word),
  );
  const isCorrected = words.some((word, index) => word !== given[index]);
  const found = matching(places, words);
  return { found, corrected: isCorrected && found.length > 0 ? ` for “${words.join(' ')}”` : '' };
}

function vocabularyOf(places: readonly Place[], letter: string): string[] {
  const words = new Set<string>();
  // In the order of ranks, because of equally near words the first is taken.
  for (const rank of [0, 1, 2, MENTIONED])
    for (const { texts } of places)
      for (const [word] of (texts[rank] ?? '').matchAll(WORD)) if (word.startsWith(letter)) words.add(word);
  return [...words];
}

// Best results first, deprecated ones last; results that only mention a word count only if no name contains it.
function matching(places: readonly Place[], words: readonly string[]): Place[] {
  const found = places.flatMap((place) => {
    const ranks = words.map((word) => place.texts.findIndex((text) => text.includes(word)));
    return ranks.includes(-1) ? [] : [{ place, rank: Math.max(...ranks) }];
  });
  const best = Math.min(...found.map(({ place, rank }) => (place.isOld ? MENTIONED : rank)));
  const shown = found.filter(({ rank }) => rank < MENTIONED || best === MENTIONED);
  const weight = ({ place, rank }: (typeof found)[number]) => rank + (place.isOld ? MENTIONED + 1 : 0);
  return shown.toSorted((a, b) => weight(a) - weight(b)).map(({ place }) => place);
}

function resultOf({ id, heading }: Place): HTMLLIElement {
  const parts = [...heading.childNodes].map((node) => node.cloneNode(true));
  return make('li', {}, make('a', { href: `#${id}` }, ...parts));
}
