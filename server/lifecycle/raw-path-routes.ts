// Answers a request by the path as sent, although Bun's URL has `.` and `..` resolved: a proxy might let /docs/../api through.
// Only Bun's own routes are matched with the path as sent.

import { docsPaths } from '../docs/docs.ts';
import { describedOperations } from '../interface.ts';
import { rawPath, routePath } from '../pipeline/route.ts';
import type { Fetch } from './drain.ts';

const PAGES = ['/', '/healthz', '/readyz'];

interface Routed {
  routes: Record<string, Fetch>;
  /** Answers requests to all other paths. */
  fetch: Fetch;
}

interface Served {
  path: string;
  pattern: RegExp;
}

let all: Served[] | null = null;

/** Options for Bun.serve that answer with `fetch`, and with "not found" if the URL differs from what was sent. */
export function rawPathRoutes(fetch: Fetch): Routed {
  all ??= servedPaths();
  const routes = all.map(({ path, pattern }): [string, Fetch] => {
    // Matched exactly as sent, since no segment can be resolved.
    if (!path.includes('{')) return [path, fetch];
    const answer: Fetch = (request) =>
      fetch(pattern.test(rawPath(request.url)) ? request : asUnknown(request));
    return [routePath(path), answer];
  });
  return { routes: Object.fromEntries(routes), fetch: (request) => fetch(asUnknown(request)) };
}

function servedPaths(): Served[] {
  const paths = new Set([...PAGES, ...docsPaths(), ...describedOperations().map(({ path }) => path)]);
  return [...paths].map((path) => ({
    path,
    pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
  }));
}

// No served path has an empty segment.
function asUnknown(request: Request): Request {
  const path = rawPath(request.url);
  if (!all?.some(({ pattern }) => pattern.test(path))) return request;
  const value = request.url.replace(/^(\w+:\/\/)?([^?]*)/, '$1$2//');
  return Object.defineProperty(request, 'url', { value, configurable: true });
}
