// Searches operations and chapters: every word must match, and where it matches decides the order of the results.
import { find, findAll, make } from './elements.ts';

interface Place {
  id: string;
  /** What the result line shows. */
  heading: Element;
  /** In lower case: title, path and name; names of fields and parameters; text of a chapter; all other text. */
  texts: readonly string[];
  isOld: boolean;
}

/** Enables the search field of the contents. */
export function offerSearch(): void {
  const field = find('#find', HTMLInputElement);
  const results = find('#results', HTMLOListElement);
  const status = find('#found', HTMLElement);
  const contents = find('.contents', HTMLElement);
  let places: Place[] | undefined;
  field.addEventListener('input', () => {
    const words = wordsOf(field.value);
    const isSearching = words.length > 0;
    places ??= readPlaces();
    const found = isSearching ? search(places, words) : [];
    results.replaceChildren(...found.map(resultOf));
    results.hidden = !isSearching;
    contents.hidden = isSearching;
    status.textContent = isSearching ? countOf(found.length) : '';
  });
  field.addEventListener('keydown', ({ key }) => {
    if (key === 'Enter') results.querySelector('a')?.click();
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

function readPlaces(): Place[] {
  return findAll('details.operation, details.chapter', HTMLElement).flatMap((details) => {
    const heading = details.querySelector('summary > *');
    const id = details.querySelector('.opened')?.id;
    if (heading === null || id === undefined) return [];
    const group = details.closest('section')?.querySelector('h2, h3')?.textContent ?? '';
    // Leaves out the errors and examples, which are nearly the same for all operations; a chapter describes the errors.
    const told = textOf(details, '.told > :not(.error)');
    const texts = [
      `${heading.textContent} ${id} ${group}`,
      textOf(details, 'dt code'),
      textOf(details, '.prose'),
      told,
    ];
    const isOld = heading.querySelector('.old') !== null;
    return [{ id, heading, texts: texts.map((text) => text.toLowerCase()), isOld }];
  });
}

function textOf(within: Element, selector: string): string {
  return [...within.querySelectorAll(selector)].map((one) => one.textContent).join(' ');
}

// Drops plural endings, so that a search finds both singular and plural.
function wordsOf(text: string): string[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return words.map((word) => (word.length > 3 ? word.replace(/(?:ies|s)$/, '') : word));
}

// Best results first, deprecated ones last; results that only mention a word count only if no name contains it.
function search(places: readonly Place[], words: readonly string[]): Place[] {
  const found = places.flatMap((place) => {
    const ranks = words.map((word) => place.texts.findIndex((text) => text.includes(word)));
    return ranks.includes(-1) ? [] : [{ place, rank: Math.max(...ranks) }];
  });
  const best = Math.min(...found.map(({ place, rank }) => (place.isOld ? MENTIONED : rank)));
  const shown = found.filter(({ rank }) => rank < MENTIONED || best === MENTIONED);
  const weight = ({ place, rank }: (typeof found)[number]) => rank + (place.isOld ? MENTIONED + 1 : 0);
  return shown.sort((one, other) => weight(one) - weight(other)).map(({ place }) => place);
}

const MENTIONED = 3;

function resultOf({ id, heading }: Place): HTMLLIElement {
  const parts = [...heading.childNodes].map((node) => node.cloneNode(true));
  return make('li', {}, make('a', { href: `#${id}` }, ...parts));
}
