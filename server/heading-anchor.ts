// The anchors of headings on the docs page.

/** The anchor of a place on the page: ASCII letters and digits in lower case, joined by hyphens. */
export function anchorOf(title: string): string {
  return (title.toLowerCase().match(/[a-z0-9]+/g) ?? []).join('-');
}
