// Everything that the docs serve, as texts made from the description.
import type { Data } from '../../db/model/json.ts';
import { openApiDocument } from '../openapi/document.ts';
import { SCRIPT, STYLE } from './assets.ts';
import { type Group, type Version, versionsOf } from './entries.ts';
import { groupPage } from './group-page.ts';
import { summaryForModels } from './llms.ts';
import { docsPage } from './page.ts';
import { descriptionIn } from './shapes.ts';
import { wordsByOperation } from './words-by-operation.ts';

const ICON =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0b6b62"/><path d="M21 12a6 6 0 1 0 0 8" fill="none" stroke="white" stroke-width="4" stroke-linecap="round"/></svg>';

/** The texts of a service; each method makes one, which its caller keeps. */
export interface Texts {
  page: () => string;
  group: (anchor: string) => Promise<string>;
  words: () => Promise<string>;
  guide: () => string;
  json: () => string;
  summary: () => string;
  script: string;
  style: string;
  icon: string;
}

/** The texts of the service at a URL. */
export async function textsOf(baseUrl: string): Promise<Texts> {
  const document = await openApiDocument({ baseUrl });
  const description = descriptionIn(document);
  const versions = versionsOf(description);
  return {
    page: () => docsPage(description.info, versions),
    group: (anchor) => groupPage(description.info, ...groupIn(versions, anchor), baseUrl),
    words: async () => JSON.stringify(await wordsByOperation(versions)),
    guide: () => `# ${description.info.title}\n\n${description.info.description}\n`,
    json: () => JSON.stringify(document satisfies Data),
    summary: () => summaryForModels(description.info, versions, baseUrl),
    script: SCRIPT,
    style: STYLE,
    icon: ICON,
  };
}

function groupIn(versions: readonly Version[], anchor: string): [Version, Group] {
  for (const version of versions)
    for (const group of version.groups) if (group.anchor === anchor) return [version, group];
  throw new Error(`the description has no group ${anchor}`);
}
