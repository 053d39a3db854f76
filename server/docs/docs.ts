// /docs: the description and the page that shows it, both built on first use and served from the executable alone.
import { Elysia } from 'elysia';
import type { Data } from '../../db/model/json.ts';
import { Content } from './content.ts';

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

/** Makes the handler of a page from what it responds to a request that it does not refuse. */
export type PageMaker = (
  respond: (request: Request) => Response | Promise<Response>,
) => (context: { request: Request }) => Response | Promise<Response>;

/** The routes under /docs, each made by `page`; `baseUrl` is where clients reach the service. */
export function docs(baseUrl: () => string, page: PageMaker) {
  const app = new Elysia({ name: 'docs' });
  for (const [path, content] of Object.entries(contents(baseUrl))) {
    const handler = page((request) => content.respond(request, HEADERS));
    for (const method of ['GET', 'HEAD']) app.route(method, path, handler, { parse: 'none' });
  }
  return app;
}

function contents(baseUrl: () => string): Record<string, Content> {
  return {
    '/docs': new Content('text/html; charset=utf-8', () => pageText(baseUrl())),
    '/docs/json': new Content('application/json; charset=utf-8', async () =>
      JSON.stringify(await description(baseUrl())),
    ),
    '/docs/page.js': new Content(
      'text/javascript; charset=utf-8',
      async () => (await import('./assets.ts')).SCRIPT,
    ),
    '/docs/page.css': new Content('text/css; charset=utf-8', async () => (await import('./assets.ts')).STYLE),
  };
}

// Loaded late, because the plugin and everything it describes would slow down every start.
async function description(baseUrl: string): Promise<Data> {
  const { openApiDocument } = await import('../openapi/document.ts');
  return openApiDocument({ baseUrl });
}

async function pageText(baseUrl: string): Promise<string> {
  const { docsPage } = await import('./page.ts');
  return docsPage(await description(baseUrl), baseUrl);
}
