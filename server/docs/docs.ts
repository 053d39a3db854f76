// /docs and what belongs to it: made on first use, and served from the executable alone.
import { Elysia } from 'elysia';
import { anchorOf } from '../heading-anchor.ts';
import { tags } from '../openapi/tags.ts';
import { Content } from './content.ts';
import type { Texts } from './texts.ts';

// The page can load only from its own origin, so that a key entered there cannot be sent anywhere else.
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = {
  'Content-Security-Policy': POLICY,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
};

const TYPES = {
  html: 'text/html; charset=utf-8',
  json: 'application/json; charset=utf-8',
  script: 'text/javascript; charset=utf-8',
  style: 'text/css; charset=utf-8',
  // As text, because browsers download Markdown.
  markdown: 'text/plain; charset=utf-8',
  icon: 'image/svg+xml',
};

/** Makes the handler of a page from what it responds to a request that it does not refuse. */
export type PageMaker = (
  respond: (request: Request) => Response | Promise<Response>,
) => (context: { request: Request }) => Response | Promise<Response>;

/** The routes of the docs, each made by `page`; `baseUrl` is where clients reach the service. */
export function docs(baseUrl: () => string, page: PageMaker) {
  const app = new Elysia({ name: 'docs' });
  for (const [path, content] of Object.entries(contents(baseUrl))) {
    const handler = page((request) => content.respond(request, HEADERS));
    for (const method of ['GET', 'HEAD']) app.route(method, path, handler, { parse: 'none' });
  }
  return app;
}

/** The paths of the docs. */
export function docsPaths(): string[] {
  return Object.keys(contents(() => ''));
}

function contents(baseUrl: () => string): Record<string, Content> {
  let loading: Promise<Texts> | undefined;
  // Loaded late, because the plugin and everything it describes would slow down every start.
  const load = async () => (await import('./texts.ts')).textsOf(baseUrl());
  const content = (type: keyof typeof TYPES, make: (texts: Texts) => string | Promise<string>) =>
    new Content(TYPES[type], async () => {
      loading ??= load();
      return make(await loading);
    });
  const groups = tags().map(({ name }) => anchorOf(String(name)));
  return {
    '/docs': content('html', (texts) => texts.page()),
    ...Object.fromEntries(
      groups.map((anchor) => [`/docs/${anchor}`, content('html', (texts) => texts.group(anchor))]),
    ),
    '/docs/words.json': content('json', (texts) => texts.words()),
    '/docs/page.js': content('script', (texts) => texts.script),
    '/docs/page.css': content('style', (texts) => texts.style),
    '/docs/guide.md': content('markdown', (texts) => texts.guide()),
    '/docs/json': content('json', (texts) => texts.json()),
    '/openapi.json': content('json', (texts) => texts.json()),
    '/llms.txt': content('markdown', (texts) => texts.summary()),
    '/favicon.ico': content('icon', (texts) => texts.icon),
  };
}
