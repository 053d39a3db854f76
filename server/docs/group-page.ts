// A group of operations as a page of its own: to be read without scripts, and the source of what the page at /docs loads.
import { setImmediate } from 'node:timers/promises';
import type { Group, Version } from './entries.ts';
import { head } from './head.ts';
import { type Html, html } from './html.ts';
import { markdown } from './markdown.ts';
import { operationContent, operationHeading } from './operation-section.ts';
import type { Description } from './shapes.ts';

const LEVEL = 3;
// Relative, so that it works under any path that a proxy adds.
const WHOLE = '../docs';

/**
 * The page as HTML.
 * @param base the URL of the service in sample requests
 */
export async function groupPage(
  info: Description['info'],
  version: Version,
  group: Group,
  base: string,
): Promise<string> {
  const operations: Html[] = [];
  for (const entry of group.entries) {
    operations.push(html`<section class="operation">${operationHeading(entry)}
${operationContent(entry, base)}
</section>
`);
    // In between, the service answers requests.
    await setImmediate();
  }
  const { text } = html`${head(`${group.title} – ${info.title}`, { folder: '.', root: '..' })}
<body data-whole="${WHOLE}">
<header><p class="name"><a href="${WHOLE}">${info.title}</a> <span>${info.version}</span></p></header>
<main id="content">
<h1>${info.title}</h1>
<h2>${version.title}</h2>
<h3 id="${group.anchor}">${group.title}</h3>
<div class="prose">${markdown(group.description, LEVEL)}</div>
${operations}
</main>
</body>
</html>
`;
  return withLinksToGuide(text);
}

// The chapters of the guide are on the page that has everything.
function withLinksToGuide(page: string): string {
  return page.replaceAll(/ href="#([^"]+)"/g, (link, id: string) =>
    page.includes(` id="${id}"`) ? link : ` href="${WHOLE}#${id}"`,
  );
}
