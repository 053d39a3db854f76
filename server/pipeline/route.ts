// Step 1, route: Elysia matches the path exactly; if it matches with other methods, the error is 405, otherwise 404.

import type { Api } from '../../db/tables/key-format.ts';
import { ApiError, invalid } from '../errors.ts';

/** The path of a URL as sent, not decoded or normalised further. */
export function rawPath(url: string): string {
  const start = url.indexOf('/', url.indexOf('://') + 3);
  if (start < 0) return '/';
  const query = url.indexOf('?', start);
  return query < 0 ? url.slice(start) : url.slice(start, query);
}

/** The path of a route, from a path with `{parameter}` segments. */
export function routePath(template: string): string {
  return template.replaceAll(/\{(\w+)\}/g, ':$1');
}

/** The 422 for a request with several Host headers, which proxies and servers can interpret differently; else null. */
export function hostFault(request: Request): ApiError | null {
  if (request.headers.get('Host')?.includes(',') !== true) return null;
  return invalid('Host', 'must be sent once and name one host', 'VALIDATION_INVALID_FORMAT');
}

/** @throws ApiError 422 for a request with several Host headers */
export function requireOneHost(request: Request): void {
  const fault = hostFault(request);
  if (fault !== null) throw fault;
}

/** The 404 for a path that is not part of the API. */
export function unknownPath(): ApiError {
  const message =
    'Unknown endpoint. See /docs for all paths; a path with a trailing slash is a different path.';
  return new ApiError('RESOURCE_NOT_FOUND', message);
}

/** The 405 for a path that supports other methods. */
export function methodNotAllowed(methods: readonly string[]): ApiError {
  const allow = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
  return new ApiError('METHOD_NOT_ALLOWED', `This path supports only ${allow}.`, {
    headers: { Allow: allow },
  });
}

/** The version whose envelope a path uses. */
export function apiOfPath(path: string): Api {
  return path === '/api/v1' || path.startsWith('/api/v1/') ? 'v1' : 'v2';
}
