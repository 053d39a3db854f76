// Answers a request by the path that was sent, where Bun's URL has `.` and `..` resolved: a proxy may let /docs/../api through.
// Its own routes alone are matched with the path as it came.

import { describedOperations } from '../interface.ts';
import { type PathMatcher, pathMatcher, rawPath } from '../pipeline/route.ts';
import type { Fetch } from './drain.ts';

const PAGES = ['/', '/docs', '/docs/json', '/docs/page.js', '/docs/page.css', '/healthz', '/readyz'];

interface Routed {
  routes: Record<string, Fetch>;
  /** Answers what was sent to any other path. */
  fetch: Fetch;
}

interface Served {
  path: string;
  match: PathMatcher;
}

let all: Served[] | null = null;

/** What to give to Bun.serve so that `fetch` answers, and finds nothing where the URL is not what was sent. */
export function bySentPath(fetch: Fetch): Routed {
  all ??= servedPaths();
  const routes = all.map(({ path, match }): [string, Fetch] => {
    // Sent to the letter, without a segment that could be resolved.
    if (!path.includes('{')) return [path, fetch];
    const answer: Fetch = (request) =>
      fetch(match(rawPath(request.url)) === undefined ? asUnknown(request) : request);
    return [path.replaceAll(/\{(\w+)\}/g, ':$1'), answer];
  });
  return { routes: Object.fromEntries(routes), fetch: (request) => fetch(asUnknown(request)) };
}

function servedPaths(): Served[] {
  const paths = new Set([...PAGES, ...describedOperations().map(({ path }) => path)]);
  return [...paths].map((path) => ({ path, match: pathMatcher(path) }));
}

// No path that is served has an empty segment.
function asUnknown(request: Request): Request {
  const path = rawPath(request.url);
  if (!all?.some(({ match }) => match(path) !== undefined)) return request;
  const value = request.url.replace(/^(\w+:\/\/)?([^?]*)/, '$1$2//');
  return Object.defineProperty(request, 'url', { value, configurable: true });
}
