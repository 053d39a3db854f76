// Code samples: a button copies them, and their JSON is coloured without splitting the text.

const SHOWN_MS = 1_500;

/** Makes every button beside a sample copy it. */
export function offerCopies(): void {
  document.addEventListener('click', async ({ target }) => {
    if (!(target instanceof HTMLButtonElement) || !('copy' in target.dataset)) return;
    const sample = target.closest('figure')?.querySelector('pre');
    if (sample === null || sample === undefined) return;
    const label = target.textContent;
    target.textContent = (await copy(sample)) ? 'Copied' : 'Selected; press Ctrl+C';
    setTimeout(() => {
      target.textContent = label;
    }, SHOWN_MS);
  });
}

// Over plain HTTP from another machine a page has no access to the clipboard.
async function copy(sample: HTMLElement): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(sample.textContent);
    return true;
  } catch {
    getSelection()?.selectAllChildren(sample);
    return false;
  }
}

const TOKENS = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const KINDS = ['json-name', 'json-text', 'json-word', 'json-number'] as const;

/** Prepares the colours of JSON. */
export function prepareColours(): void {
  if ('highlights' in CSS) for (const kind of KINDS) CSS.highlights.set(kind, new Highlight());
}

/** Colours all JSON in a part of the page. */
export function colourAll(part: ParentNode): void {
  part.querySelectorAll('pre.json, pre > code.language-json').forEach(colour);
}

/** Colours one piece of JSON. */
export function colour(sample: Element): void {
  const text = sample.firstChild;
  if (!(text instanceof Text) || !('highlights' in CSS) || sample.hasAttribute('data-coloured')) return;
  sample.setAttribute('data-coloured', '');
  for (const match of text.data.matchAll(TOKENS)) {
    const [whole, quoted, colon, word] = match;
    const kind = quoted === undefined ? (word === undefined ? 3 : 2) : colon === undefined ? 1 : 0;
    const end = match.index + (quoted ?? whole).length;
    CSS.highlights.get(KINDS[kind])?.add(new StaticRange(rangeOf(text, match.index, end)));
  }
}

function rangeOf(text: Text, startOffset: number, endOffset: number): StaticRangeInit {
  return { startContainer: text, startOffset, endContainer: text, endOffset };
}
