// The page at /docs, generated whole from the description: readable without scripts, which add search and requests.
import { setImmediate } from 'node:timers/promises';
import type { Data } from '../../db/model/json.ts';
import { anchorOf } from '../heading-anchor.ts';
import { type Group, type Version, versionsOf } from './entries.ts';
import type { Listing } from './fields.ts';
import { keysDialog } from './forms.ts';
import { type Html, html } from './html.ts';
import { markdown, type Section, sectionsOf } from './markdown.ts';
import { methodBadge, operationSection } from './operation-section.ts';
import { descriptionIn } from './shapes.ts';

// Relative, so that the links work under any path that a proxy adds.
const ASSETS = 'docs';
const GUIDE_LEVEL = 3;
const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Crect width='32' height='32' rx='7' fill='%230b6b62'/%3E%3Cpath d='M21 12a6 6 0 1 0 0 8' fill='none' stroke='white' stroke-width='4' stroke-linecap='round'/%3E%3C/svg%3E";

/** The page as HTML; `base` is the URL of the service in example requests until scripts run. */
export async function docsPage(document: Data, base: string): Promise<string> {
  const description = descriptionIn(document);
  const { title, version } = description.info;
  const [introduction, ...guide] = sectionsOf(description.info.description, GUIDE_LEVEL);
  const versions = versionsOf(description);
  const groups = new Map<Group, Html>();
  const listed: Listing['listed'] = new Map();
  // Yields after each group, so that the service answers requests in between.
  for (const group of versions.flatMap((one) => one.groups)) {
    groups.set(group, groupSection(group, base, listed));
    await setImmediate();
  }
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${ICON}">
<link rel="service-desc" type="application/json" href="${ASSETS}/json">
<link rel="stylesheet" href="${ASSETS}/page.css">
<script type="module" src="${ASSETS}/page.js"></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header>
<button type="button" class="menu" popovertarget="contents">Contents</button>
<p class="name"><a href="#top">${title}</a> <span>${version}</span></p>
<a class="download" href="${ASSETS}/json" download="openapi.json">openapi.json</a>
<button type="button" class="keys" data-keys="v2">API keys</button>
</header>
<nav id="contents" popover aria-label="Contents">
<search><label for="find">Search operations</label><input id="find" type="search" autocomplete="off" spellcheck="false" aria-keyshortcuts="/"></search>
<p id="found" role="status"></p>
<ol id="results" hidden></ol>
${contents(guide, versions)}
</nav>
<main id="content" tabindex="-1">
<h1 id="top">${title}</h1>
<div class="prose lead">${introduction?.body}</div>
<noscript><p class="prose">Search and request forms need JavaScript. Everything else works without it. The OpenAPI document is at <a href="${ASSETS}/json">/docs/json</a>.</p></noscript>
<section class="guide" id="guide"><h2>Guide</h2>
${guide.map(guideSection)}
</section>
${versions.map((one) => versionSection(one, groups))}
</main>
${keysDialog(versions)}
</body>
</html>
`;
  return page.text;
}

function contents(guide: readonly Section[], versions: readonly Version[]): Html {
  const link = (anchor: string, text: Html | string) => html`<li><a href="#${anchor}">${text}</a></li>`;
  return html`<div class="contents">
<ul><li data-for="guide"><a href="#guide">Guide</a><ul>${guide.map(({ title }) => link(anchorOf(title), title))}</ul></li></ul>
${versions.map(
  ({ anchor, title, groups }) =>
    html`<p id="${anchor}-contents">${title}</p><ul aria-labelledby="${anchor}-contents">${groups.map(
      (group) =>
        html`<li data-for="${group.anchor}"><a href="#${group.anchor}">${group.title}</a><ul>${group.entries.map(
          (entry) => link(entry.id, html`${methodBadge(entry.method)}${entry.title}`),
        )}</ul></li>`,
    )}</ul>`,
)}
</div>`;
}

function guideSection({ title, body }: Section): Html {
  return html`<details class="chapter"><summary><h3>${title}</h3></summary><div class="opened prose" id="${anchorOf(title)}">${body}</div></details>
`;
}

function versionSection({ anchor, title, isDeprecated, groups }: Version, made: Map<Group, Html>): Html {
  const badge = isDeprecated ? html` <span class="old">deprecated</span>` : undefined;
  return html`<section class="version" id="${anchor}"><h2>${title}${badge}</h2>
${groups.map((group) => made.get(group))}
</section>`;
}

function groupSection(
  { anchor, title, description, entries }: Group,
  base: string,
  listed: Listing['listed'],
): Html {
  return html`<section class="group" id="${anchor}"><h3>${title}</h3><div class="prose">${markdown(description, GUIDE_LEVEL)}</div>
${entries.map((entry) => operationSection(entry, base, listed))}
</section>
`;
}
