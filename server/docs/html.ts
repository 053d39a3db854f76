// HTML as a template that escapes everything put into it, unless it is already HTML.

/** HTML that is safe to put into a page without escaping. */
export class Html {
  constructor(readonly text: string) {}
}

type Part = Html | string | number | undefined | readonly Part[];

/** HTML with its parts escaped; a list is joined, undefined is left out. */
export function html(pieces: TemplateStringsArray, ...parts: Part[]): Html {
  return new Html(String.raw({ raw: pieces }, ...parts.map(textOf)));
}

/** Text escaped for use between tags and in quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

const ENTITIES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

function textOf(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof Html) return part.text;
  return typeof part === 'object' ? part.map(textOf).join('') : escapeHtml(String(part));
}
