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

function textOf(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof Html) return part.text;
  return typeof part === 'object' ? part.map(textOf).join('') : Bun.escapeHTML(String(part));
}
