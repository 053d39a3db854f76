// Markdown of the description as HTML; tags in it are shown as text, never taken for tags.
import { Marked, type Token, type Tokens } from 'marked';
import { escapeHtml, Html } from './html.ts';

/** A heading of the second level with the text below it; the first has no title. */
export interface Section {
  title: string;
  body: Html;
}

const HEADING_LEVEL_MAX = 6;
const SECTION_DEPTH = 2;
const FOLLOWED = /^(https?:\/\/|mailto:|#|\.{0,2}\/)/i;

/** A text as HTML, its headings pushed down to come after one of the given level. */
export function markdown(text: string, below: number): Html {
  const marked = reader(below);
  return new Html(marked.parser(marked.lexer(text)));
}

/** A text of one line as HTML without a paragraph around it. */
export function inlineMarkdown(text: string): Html {
  return new Html(reader(0).parseInline(text, { async: false }));
}

/** A text cut at its headings of the second level, as HTML to stand below one of the given level. */
export function sectionsOf(text: string, below: number): Section[] {
  const marked = reader(below - SECTION_DEPTH);
  const sections: { title: string; tokens: Token[] }[] = [{ title: '', tokens: [] }];
  for (const token of marked.lexer(text)) {
    if (isSectionHeading(token)) sections.push({ title: token.text, tokens: [] });
    else sections.at(-1)?.tokens.push(token);
  }
  return sections.map(({ title, tokens }) => ({ title, body: new Html(marked.parser(tokens)) }));
}

function isSectionHeading(token: Token): token is Tokens.Heading {
  return token.type === 'heading' && token.depth === SECTION_DEPTH;
}

const readers = new Map<number, Marked>();

function reader(headingShift: number): Marked {
  const marked = readers.get(headingShift) ?? makeReader(headingShift);
  readers.set(headingShift, marked);
  return marked;
}

function makeReader(headingShift: number): Marked {
  const marked: Marked = new Marked({ async: false });
  marked.use({
    renderer: {
      html: ({ text }) => escapeHtml(text),
      image: ({ text }) => escapeHtml(text),
      heading({ tokens, depth }) {
        const level = Math.min(HEADING_LEVEL_MAX, depth + headingShift);
        return `<h${level}>${this.parser.parseInline(tokens)}</h${level}>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        return FOLLOWED.test(href) ? `<a href="${escapeHtml(href)}">${text}</a>` : text;
      },
    },
  });
  return marked;
}
