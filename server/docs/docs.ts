// /docs: the description, and a page that shows it; both come whole from the executable, built when first asked for.
import { Elysia } from 'elysia';
import swaggerStyle from 'swagger-ui-dist/swagger-ui.css' with { type: 'file' };
import swaggerScript from 'swagger-ui-dist/swagger-ui-bundle.js' with { type: 'file' };
import operationsStyle from './operations.css' with { type: 'file' };
import pageStyle from './page.css' with { type: 'file' };
import pageScript from './page.js' with { type: 'file' };

interface Content {
  type: string;
  bytes: Uint8Array<ArrayBuffer>;
  etag: string;
}

const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>CRM Records Service</title>
    <link rel="icon" href="data:,">
    <link rel="stylesheet" href="/docs/swagger-ui.css">
    <link rel="stylesheet" href="/docs/page.css">
    <link rel="stylesheet" href="/docs/operations.css">
    <script src="/docs/swagger-ui-bundle.js" defer></script>
    <script src="/docs/page.js" defer></script>
  </head>
  <body>
    <nav aria-label="Contents">
      <a href="/docs/json" download="openapi.json">Download openapi.json</a>
    </nav>
    <main id="docs"><noscript>This page needs JavaScript; the description is at /docs/json.</noscript></main>
  </body>
</html>
`;

const JAVASCRIPT = 'text/javascript; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const encoder = new TextEncoder();

const CONTENTS: Record<string, () => Promise<Content>> = {
  '/docs': once('text/html; charset=utf-8', async () => encoder.encode(PAGE)),
  '/docs/page.js': once(JAVASCRIPT, () => fileBytes(pageScript)),
  '/docs/page.css': once(CSS, () => fileBytes(pageStyle)),
  '/docs/operations.css': once(CSS, () => fileBytes(operationsStyle)),
  '/docs/swagger-ui-bundle.js': once(JAVASCRIPT, () => fileBytes(swaggerScript)),
  '/docs/swagger-ui.css': once(CSS, () => fileBytes(swaggerStyle)),
};

// The page may load from its own origin only, so that no key entered there can go anywhere else.
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

/** The routes under /docs; `baseUrl` is where clients reach the service. */
export function docs(baseUrl: () => string) {
  const app = new Elysia({ name: 'docs' });
  const json = once('application/json; charset=utf-8', () => description(baseUrl()));
  for (const [path, load] of Object.entries({ ...CONTENTS, '/docs/json': json })) {
    const handler = async ({ request }: { request: Request }) => respond(request, await load());
    for (const method of ['GET', 'HEAD']) app.route(method, path, handler, { parse: 'none' });
  }
  return app;
}

function respond(request: Request, { type, bytes, etag }: Content): Response {
  const headers = {
    'Content-Type': type,
    'Cache-Control': 'no-cache',
    ETag: etag,
    'Content-Security-Policy': POLICY,
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': 'no-referrer',
  };
  if (request.headers.get('If-None-Match') === etag) return new Response(null, { status: 304, headers });
  return new Response(request.method === 'HEAD' ? null : bytes, { headers });
}

function once(type: string, load: () => Promise<Uint8Array<ArrayBuffer>>): () => Promise<Content> {
  let content: Promise<Content> | undefined;
  return () => {
    content ??= load().then((bytes) => ({ type, bytes, etag: `"${Bun.hash(bytes).toString(36)}"` }));
    return content;
  };
}

async function description(baseUrl: string): Promise<Uint8Array<ArrayBuffer>> {
  // Costs too much to be part of every start: the plugin and all that it describes.
  const { openApiDocument } = await import('../openapi/document.ts');
  return encoder.encode(JSON.stringify(await openApiDocument({ baseUrl })));
}

function fileBytes(path: string): Promise<Uint8Array<ArrayBuffer>> {
  return Bun.file(path).bytes();
}
