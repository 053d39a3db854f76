// The manual: the pages that `crm help TOPIC` prints, in their groups and in the order of its list.
import audit from './audit.md' with { type: 'text' };
import backup from './backup.md' with { type: 'text' };
import browse from './browse.md' with { type: 'text' };
import changes from './changes.md' with { type: 'text' };
import copy from './copy.md' with { type: 'text' };
import deploy from './deploy.md' with { type: 'text' };
import exitCodes from './exit-codes.md' with { type: 'text' };
import exportPage from './export.md' with { type: 'text' };
import importPage from './import.md' with { type: 'text' };
import ingest from './ingest.md' with { type: 'text' };
import keys from './keys.md' with { type: 'text' };
import limits from './limits.md' with { type: 'text' };
import logs from './logs.md' with { type: 'text' };
import mcp from './mcp.md' with { type: 'text' };
import metrics from './metrics.md' with { type: 'text' };
import model from './model.md' with { type: 'text' };
import output from './output.md' with { type: 'text' };
import performance from './performance.md' with { type: 'text' };
import postgres from './postgres.md' with { type: 'text' };
import privacy from './privacy.md' with { type: 'text' };
import query from './query.md' with { type: 'text' };
import quotas from './quotas.md' with { type: 'text' };
import receiveWebhooks from './receive-webhooks.md' with { type: 'text' };
import records from './records.md' with { type: 'text' };
import releases from './releases.md' with { type: 'text' };
import reliability from './reliability.md' with { type: 'text' };
import search from './search.md' with { type: 'text' };
import security from './security.md' with { type: 'text' };
import serve from './serve.md' with { type: 'text' };
import settings from './settings.md' with { type: 'text' };
import start from './start.md' with { type: 'text' };
import sync from './sync.md' with { type: 'text' };
import timeline from './timeline.md' with { type: 'text' };
import tlsAndProxies from './tls-and-proxies.md' with { type: 'text' };
import tour from './tour.md' with { type: 'text' };
import upgrade from './upgrade.md' with { type: 'text' };
import watch from './watch.md' with { type: 'text' };
import webhooks from './webhooks.md' with { type: 'text' };

const MANUAL = {
  'Get started': {
    start,
    tour,
    settings,
    output,
    'exit-codes': exitCodes,
  },
  'Your data': {
    model,
    records,
    browse,
    search,
    query,
    timeline,
    import: importPage,
    export: exportPage,
    ingest,
    sync,
    changes,
    watch,
    copy,
    webhooks,
    'receive-webhooks': receiveWebhooks,
    mcp,
  },
  Access: { keys, quotas, audit, privacy, security },
  'Run it': {
    serve,
    'tls-and-proxies': tlsAndProxies,
    deploy,
    upgrade,
    backup,
    metrics,
    logs,
    postgres,
    limits,
  },
  About: { performance, reliability, releases },
} as const satisfies Record<string, Record<string, string>>;

type Manual = typeof MANUAL;

export type GroupTitle = keyof Manual;

/** A topic by its name. */
export type TopicName = { [Title in GroupTitle]: keyof Manual[Title] }[GroupTitle];

export const GROUP_TITLES = Object.keys(MANUAL) as GroupTitle[];

/** A page of the manual, in Markdown. */
export interface Topic {
  name: string;
  page: string;
}

/** The topics of a group, in order. */
export function topicsIn(group: GroupTitle): Topic[] {
  return Object.entries<string>(MANUAL[group]).map(([name, page]) => ({ name, page }));
}

/** All topics, in order. */
export function allTopics(): Topic[] {
  return GROUP_TITLES.flatMap(topicsIn);
}

/** The title of a page. */
export function pageTitle(page: string): string {
  return /^# (.+)$/m.exec(page)?.[1] ?? '';
}

/** The first sentence of a page, as plain text. */
export function summaryOf(page: string): string {
  const [, paragraph = ''] = page.split(/\n{2,}/);
  const text = Bun.markdown.render(paragraph).replaceAll('\n', ' ').trim();
  return /^.*?[.?!](?= |$)/.exec(text)?.[0] ?? text;
}

const TOPICS_MAX = 3;

/**
 * The topics whose pages have those words, in singular or plural, as a phrase or, if none has the phrase, each of them. Pages
 * that have them in headings or in their first sentence are first, then those that have them most often.
 */
export function topicsAbout(words: readonly string[]): string[] {
  const all = words.flatMap((word) => word.split(/[\s-]+/)).filter((word) => word !== '');
  if (all.length === 0) return [];
  const asPhrase = topicsWith([all]);
  return asPhrase.length > 0 ? asPhrase : topicsWith(all.map((word) => [word]));
}

function topicsWith(phrases: readonly (readonly string[])[]): string[] {
  const patterns = phrases.map(
    (words) => new RegExp(`(?<!\\w)${words.map(inAnyNumber).join('[\\s-]+')}(?!\\w)`, 'gi'),
  );
  const countIn = (text: string) => Math.min(...patterns.map((pattern) => text.match(pattern)?.length ?? 0));
  const found = allTopics().map(({ name, page }) => {
    const headings = [...(page.match(/^#.*$/gm) ?? []), summaryOf(page)].join('\n');
    return { name, inHeadings: countIn(headings), inPage: countIn(page) };
  });
  const ranked = found
    .filter(({ inPage }) => inPage > 0)
    .toSorted((one, other) => other.inHeadings - one.inHeadings || other.inPage - one.inPage);
  return ranked.slice(0, TOPICS_MAX).map(({ name }) => name);
}

// A pattern for a word in singular and plural.
function inAnyNumber(word: string): string {
  const stem = word.replace(/(?<=\w[^aeiou])(?:y|ies)$|(?<=ch|sh|ss|x)es$|(?<!s)s$/i, '');
  return `${RegExp.escape(stem)}(?:y|ies|e?s)?`;
}
