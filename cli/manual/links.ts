// Converts links of pages for readers in a terminal.

// Pages are in cli/manual/, two folders below the top of the repository.
const PAGE = 'file:///cli/manual/page.md';

/** What to show after the text of a link: `crm help backup`, a URL, a file of the repository; nothing within the page. */
export function shownTarget(href: string): string | undefined {
  if (href.startsWith('#')) return undefined;
  if (/^[a-z]+:/i.test(href)) return href.replace(/^mailto:/, '');
  const path = new URL(href, PAGE).pathname.slice(1);
  const [, topic] = /^cli\/manual\/([\w-]+)\.md$/.exec(path) ?? [];
  return topic === undefined ? path : `crm help ${topic}`;
}
