// The content of operations: taken from the page of their group when they are opened.
import { findAll } from './elements.ts';

/** Loads the content of an operation, once; resolves when it is there, or has failed and says so. */
export type Load = (operation: HTMLDetailsElement) => Promise<void>;

/** Loads each operation when it is opened, and calls back with its content. */
export function offerSections(onLoad: (content: HTMLElement) => void): Load {
  const pages = new Map<string, Promise<Document>>();
  const load = async (operation: HTMLDetailsElement) => {
    const place = operation.querySelector<HTMLElement>('.opened');
    const link = place?.querySelector<HTMLAnchorElement>(':scope > a');
    if (!place || !link || operation.ariaBusy === 'true') return;
    const address = link.href.replace(/#.*/, '');
    operation.ariaBusy = 'true';
    try {
      const page = await pages.getOrInsertComputed(address, () => pageAt(address));
      const content = page.getElementById(place.id);
      if (content === null) throw new Error('The server has another version by now; reload this page');
      const shown = document.importNode(content, true);
      // What that page links to on this one is here.
      for (const one of findAll('a[href^="../docs#"]', HTMLAnchorElement, shown))
        one.setAttribute('href', one.hash);
      place.replaceWith(shown);
      onLoad(shown);
    } catch (error) {
      pages.delete(address);
      link.before(`${error instanceof Error ? error.message : error}. Close and open it to try again. `);
    }
    operation.ariaBusy = null;
  };
  document.addEventListener(
    'toggle',
    ({ target }) => {
      if (target instanceof HTMLDetailsElement && target.matches('.operation[open]')) load(target);
    },
    { capture: true },
  );
  return load;
}

async function pageAt(address: string): Promise<Document> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`The server answered ${response.status}`);
  return new DOMParser().parseFromString(await response.text(), 'text/html');
}
