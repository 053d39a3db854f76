// Step 1, route: the path must be the operation's to the letter; what else is known of it decides 404 or 405.

import type { Api } from '../../db/tables/key-format.ts';
import { ApiError, invalid } from '../errors.ts';
import type { Operation } from '../operation.ts';

/** The path of a URL as sent, neither decoded nor normalised further. */
export function rawPath(url: string): string {
  const start = url.indexOf('/', url.indexOf('://') + 3);
  if (start < 0) return '/';
  const query = url.indexOf('?', start);
  return query < 0 ? url.slice(start) : url.slice(start, query);
}

/** The parameters of a path; undefined if a segment is not what the template says, letter by letter. */
export type PathMatcher = (path: string) => Record<string, string> | undefined;

const PARAMETER = /\{(\w+)\}/g;
const PARAMETER_SEGMENT = /\{\w+\}/;

/** Makes the matcher of a path with `{parameter}` segments. */
export function pathMatcher(template: string): PathMatcher {
  const names = [...template.matchAll(PARAMETER)].map(([, name = '']) => name);
  const literals = template.split(PARAMETER_SEGMENT);
  const wanted = new RegExp(`^${literals.join('([^/]+)')}$`);
  return (path) => {
    const found = wanted.exec(path);
    if (found === null) return undefined;
    const params: Record<string, string> = {};
    for (let index = 0; index < names.length; index++) params[names[index] ?? ''] = found[index + 1] ?? '';
    return params;
  };
}

/** @throws ApiError 422 for a request with several hosts, which programs on its way may each have taken for another. */
export function requireOneHost(request: Request): void {
  if (request.headers.get('Host')?.includes(',') !== true) return;
  throw invalid('Host', 'must be sent once, with one host', 'VALIDATION_INVALID_FORMAT');
}

/** The 404 for a path that is not part of the interface. */
export function unknownPath(): ApiError {
  const message =
    'There is nothing at this path; see /docs for all paths. Mind that a trailing slash is another path.';
  return new ApiError('RESOURCE_NOT_FOUND', message);
}

/** The 405 for a path that takes other methods. */
export function methodNotAllowed(methods: readonly string[]): ApiError {
  const allow = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
  return new ApiError('METHOD_NOT_ALLOWED', `This path takes ${allow} only.`, { headers: { Allow: allow } });
}

/** The version whose envelope answers a path. */
export function apiOfPath(path: string): Api {
  return path === '/api/v1' || path.startsWith('/api/v1/') ? 'v1' : 'v2';
}

/** Every path of the interface with the methods it takes. */
export function methodsByPath(operations: readonly Operation[]): Map<string, string[]> {
  const methods = new Map<string, string[]>();
  for (const { path, method } of operations) methods.set(path, [...(methods.get(path) ?? []), method]);
  return methods;
}
