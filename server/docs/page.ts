// The page at /docs: the guide, and a line for each operation, which leads to its content and is replaced by it.
import { anchorOf } from '../heading-anchor.ts';
import type { Group, Version } from './entries.ts';
import { keysDialog } from './forms.ts';
import { head } from './head.ts';
import { Html, html } from './html.ts';
import { markdown, type Section, sectionsOf } from './markdown.ts';
import { methodBadge, operationLine } from './operation-section.ts';
import type { Description } from './shapes.ts';

const FOLDER = 'docs';
const GUIDE_LEVEL = 3;
// Longer ones would hide the text around them.
const SAMPLE_LINES_MAX = 30;
const LANGUAGE_NAMES: Record<string, string> = { ts: 'TypeScript', python: 'Python' };

/** The page as HTML. */
export function docsPage({ title, version, description }: Description['info'], versions: Version[]): string {
  const [introduction, ...guide] = sectionsOf(description, GUIDE_LEVEL);
  const page = html`${head(title, { folder: FOLDER, root: '.' })}
<body data-words="${FOLDER}/words.json">
<a class="skip" href="#content">Skip to content</a>
<header>
<button type="button" class="menu" popovertarget="contents">Contents</button>
<p class="name"><a href="#top">${title}</a> <span>${version}</span></p>
<a class="download" href="openapi.json" download="openapi.json">openapi.json</a>
<button type="button" class="keys" data-keys="v2">API keys</button>
</header>
<nav id="contents" popover aria-label="Contents">
<search><label for="search-field">Search</label><input id="search-field" type="search" placeholder="Names, paths, fields, errors" autocomplete="off" spellcheck="false" aria-keyshortcuts="/"></search>
<p id="found" role="status"></p>
<ol id="results" hidden></ol>
${contents(guide, versions)}
</nav>
<main id="content" tabindex="-1">
<h1 id="top">${title}</h1>
<div class="prose lead">${introduction?.body}</div>
<noscript><p class="prose">Search and request forms need JavaScript. Everything else works without it. The OpenAPI document is at <a href="openapi.json">/openapi.json</a>.</p></noscript>
<section class="guide" id="guide"><h2>Guide</h2>
${guide.map(guideSection)}
</section>
${versions.map(versionSection)}
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
  return html`<details class="chapter" open><summary><h3>${title}</h3></summary><div class="opened prose" id="${anchorOf(title)}">${withProgramsFolded(body)}</div></details>
`;
}

function withProgramsFolded({ text }: Html): Html {
  const folded = text.replace(/<pre><code class="language-(\w+)">.*?<\/pre>/gs, (whole, language: string) => {
    const lines = whole.split('\n').length - 1;
    if (lines <= SAMPLE_LINES_MAX) return whole;
    const title = `The program, ${lines} lines of ${LANGUAGE_NAMES[language] ?? language}`;
    return `<details class="program"><summary>${title}</summary>${whole}</details>`;
  });
  return new Html(folded);
}

function versionSection({ anchor, title, isDeprecated, groups }: Version): Html {
  const badge = isDeprecated ? html` <span class="old">deprecated</span>` : undefined;
  return html`<section class="version" id="${anchor}"><h2>${title}${badge}</h2>
${groups.map(groupSection)}
</section>`;
}

function groupSection(group: Group): Html {
  const { anchor, title, description, entries } = group;
  return html`<section class="group" id="${anchor}"><h3>${title}</h3><div class="prose">${markdown(description, GUIDE_LEVEL)}</div>
${entries.map((entry) => operationLine(entry, group, FOLDER))}
</section>
`;
}
