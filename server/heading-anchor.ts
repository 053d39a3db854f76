// How a heading of the docs page is linked to.

/** The name of a place on the page: ASCII letters and digits in lower case, joined by hyphens. */
export function anchorOf(title: string): string {
  return (title.toLowerCase().match(/[a-z0-9]+/g) ?? []).join('-');
}
