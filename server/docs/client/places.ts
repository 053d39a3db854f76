// Places on the page: the URL opens the place it names, opened places get a URL, and the contents follow the reader.
import { find, findAll } from './elements.ts';
import type { Load } from './sections.ts';

const TOP_PX = 140;

/** Opens what the URL or a link names, and updates the URL when something is opened. */
export function openTargets(load: Load): void {
  const reveal = (hash: string) => {
    if (hash !== '') open(hash.slice(1), load);
  };
  addEventListener('hashchange', () => reveal(location.hash));
  document.addEventListener('click', ({ target }) => {
    if (!(target instanceof Element)) return;
    const link = target.closest('a');
    if (link?.getAttribute('href')?.startsWith('#')) reveal(link.hash);
    const details = target.closest('summary')?.parentElement;
    if (!(details instanceof HTMLDetailsElement) || details.open) return;
    const id = details.querySelector(':scope > .opened')?.id;
    if (id !== undefined) history.replaceState(null, '', `#${id}`);
  });
  reveal(location.hash);
}

async function open(id: string, load: Load): Promise<void> {
  const target = document.getElementById(id);
  const details = target?.closest('details');
  if (!details) return target?.scrollIntoView();
  details.open = true;
  details.scrollIntoView();
  if (!details.matches('.operation')) return;
  await load(details);
  // The page was too short to scroll to the last operations.
  details.scrollIntoView();
}

/** Keeps the contents at the place being read. */
export function followContents(): void {
  const contents = find('#contents', HTMLElement);
  const groups = findAll('[data-for]', HTMLElement, contents).map((entry) => ({
    entry,
    section: document.getElementById(entry.dataset.for ?? ''),
  }));
  let current: HTMLElement | undefined;
  const follow = () => {
    const passed = groups.filter(
      ({ section }) => (section?.getBoundingClientRect().top ?? Infinity) < TOP_PX,
    );
    const entry = (passed.at(-1) ?? groups[0])?.entry;
    if (entry === current) return;
    current?.querySelector('a')?.removeAttribute('aria-current');
    current = entry;
    current?.querySelector('a')?.setAttribute('aria-current', 'true');
    if (current !== undefined) showEntry(contents, current);
  };
  let isAwaited = false;
  const followSoon = () => {
    if (isAwaited) return;
    isAwaited = true;
    requestAnimationFrame(() => {
      isAwaited = false;
      follow();
    });
  };
  addEventListener('scroll', followSoon, { passive: true });
  addEventListener('resize', followSoon);
  follow();
  contents.addEventListener('click', ({ target }) => {
    const isLink = target instanceof Element && target.closest('a') !== null;
    if (isLink && contents.matches(':popover-open')) contents.hidePopover();
  });
}

// `scrollIntoView` would also move the place from which the Tab key continues: past the link that skips to the content.
function showEntry(list: HTMLElement, entry: HTMLElement): void {
  const [shown, { top, bottom }] = [list.getBoundingClientRect(), entry.getBoundingClientRect()];
  // Of an entry that is higher than the list, its beginning.
  const [above, below] = [top - shown.top, bottom - shown.bottom];
  list.scrollTop += above < 0 ? above : Math.max(0, Math.min(above, below));
}
