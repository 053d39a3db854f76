// The search over operations and chapters: every word must be found, in the title or else in the text.
import { find, findAll, make } from './elements.ts';

interface Place {
  id: string;
  /** What its line shows. */
  heading: Element;
  /** Title, path and name in lower case; then everything that is said of it. */
  titles: string;
  text: string;
}

/** Makes the field of the contents search. */
export function offerSearch(): void {
  const field = find('#search', HTMLInputElement);
  const results = find('#results', HTMLOListElement);
  const status = find('#found', HTMLElement);
  const contents = find('.contents', HTMLElement);
  let places: Place[] | undefined;
  field.addEventListener('input', () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
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
  if (count === 0) return 'Nothing found.';
  return count === 1 ? '1 found' : `${count} found`;
}

function readPlaces(): Place[] {
  return findAll('details.operation, details.chapter').flatMap((details) => {
    const heading = details.querySelector('summary > *');
    const id = details.querySelector('.opened')?.id;
    if (heading === null || id === undefined) return [];
    const group = details.closest('section')?.querySelector('h2, h3')?.textContent ?? '';
    const titles = `${heading.textContent} ${id} ${group}`.toLowerCase();
    return [{ id, heading, titles, text: `${titles} ${details.textContent.toLowerCase()}` }];
  });
}

// What merely mentions the words counts only where no title has them.
function search(places: readonly Place[], words: readonly string[]): Place[] {
  const has = (text: string) => words.every((word) => text.includes(word));
  const named = places.filter(({ titles }) => has(titles));
  return named.length > 0 ? named : places.filter(({ text }) => has(text));
}

function resultOf({ id, heading }: Place): HTMLLIElement {
  const parts = [...heading.childNodes].map((node) => node.cloneNode(true));
  return make('li', {}, make('a', { href: `#${id}` }, ...parts));
}
