// /llms.txt: what the service is and where each operation is described, for language models that read the docs.

import { anchorOf } from '../heading-anchor.ts';
import type { Version } from './entries.ts';
import { sectionTitles } from './markdown.ts';
import type { Description } from './shapes.ts';

/** The text, in the form of llmstxt.org: a title, a summary, and lists of links. */
export function summaryForModels(
  info: Description['info'],
  versions: readonly Version[],
  base: string,
): string {
  const [introduction = ''] = info.description.split('\n## ');
  const chapters = sectionTitles(info.description).map(
    (title) => `- [${title}](${base}/docs#${anchorOf(title)})`,
  );
  const parts = [
    `# ${info.title}`,
    `> ${introduction.trim().replaceAll(/\s*\n\s*\n?/g, ' ')}`,
    'Send an API key with each request: `Authorization: Bearer <key>`.',
    `## Docs\n\n- [OpenAPI 3.1](${base}/openapi.json): every operation, with schemas and examples\n- [Guide](${base}/docs/guide.md): authentication, errors, lists, queries and limits, in Markdown`,
    `## Guide\n\n${chapters.join('\n')}`,
    ...versions.flatMap(({ title, groups }) =>
      groups.map((group) => {
        const lines = group.entries.map(
          ({ id, method, path, title: name }) =>
            `- [${name}](${base}/docs/${group.anchor}#${id}): \`${method} ${path}\``,
        );
        return `## ${title}: ${group.title}\n\n${group.description}\n\n${lines.join('\n')}`;
      }),
    ),
  ];
  return `${parts.join('\n\n')}\n`;
}
