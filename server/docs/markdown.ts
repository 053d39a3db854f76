// Renders the Markdown of the description as HTML; HTML tags in it are shown as text.
import { Html } from './html.ts';

/** A second-level heading with the text below it; the first section has no title. */
export interface Section {
  title: string;
  body: Html;
}

const HEADING_LEVEL_MAX = 6;
const SECTION_DEPTH = 2;
const SECTION_HEADING = /^## +(.+)$/m;
const FOLLOWED = /^(https?:\/\/|mailto:|#|\.{0,2}\/)/i;
const AS_TEXT = { noHtmlBlocks: true, noHtmlSpans: true };

/** A text as HTML, with its headings below one of the given level. */
export function markdown(text: string, below: number): Html {
  // All text is escaped by now: what looks like a tag is one that Markdown made.
  const made = Bun.markdown
    .html(text, AS_TEXT)
    .replace(/(?<=<\/?h)\d(?=>)/g, (level) => String(Math.min(HEADING_LEVEL_MAX, Number(level) + below)))
    .replace(/<img [^>]*?alt="([^"]*)"[^>]*>/g, '$1')
    .replace(/<a href="([^"]*)"[^>]*>(.*?)<\/a>/gs, (_, href: string, inner: string) =>
      FOLLOWED.test(href) ? `<a href="${href}">${inner}</a>` : inner,
    );
  return new Html(made);
}

/** A one-line text as HTML, without a paragraph around it. */
export function inlineMarkdown(text: string): Html {
  return new Html(markdown(text, 0).text.replace(/^<p>|<\/p>\n$/g, ''));
}

/** A text split at its second-level headings, as HTML below a heading of the given level. */
export function sectionsOf(text: string, below: number): Section[] {
  const [first = '', ...rest] = text.split(SECTION_HEADING);
  const bodyOf = (part = '') => markdown(part, below - SECTION_DEPTH);
  const sections = [{ title: '', body: bodyOf(first) }];
  for (let at = 0; at < rest.length; at += 2)
    sections.push({ title: rest[at] ?? '', body: bodyOf(rest[at + 1]) });
  return sections;
}

/** The second-level headings of a text. */
export function sectionTitles(text: string): string[] {
  return text.split(SECTION_HEADING).filter((_, index) => index % SECTION_DEPTH === 1);
}
