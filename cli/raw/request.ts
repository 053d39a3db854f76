// The request that the words of `crm api` describe.
import type { RequestOptions } from '../api/client.ts';
import { usageError } from '../errors.ts';
import { readInputText } from '../input/files.ts';
import { serverBase } from '../settings/server-url.ts';
import { type GivenField, givenFields, objectOf } from './fields.ts';

export interface ApiFlags {
  data?: string;
  rawField?: string[];
  field?: string[];
  header?: string[];
  paginate?: boolean;
  include?: boolean;
}

export interface RawRequest {
  method: string;
  path: string;
  options: RequestOptions;
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];
const WITHOUT_BODY = ['GET', 'HEAD', 'DELETE', 'OPTIONS'];
// What the client sends by itself, or what only a setting should give.
const OWN_HEADERS = ['authorization', 'x-service-api-key', 'host', 'content-length'];

/** The request; a single word is the path. @param url of the server, which a path may begin with */
export async function rawRequest(
  first: string,
  second: string | undefined,
  flags: ApiFlags,
  url: string,
): Promise<RawRequest> {
  const hasBody = [flags.data, flags.rawField, flags.field].some((given) => given !== undefined);
  const method = second === undefined ? (hasBody ? 'POST' : 'GET') : methodNamed(first);
  const path = apiPath(second ?? first, url);
  const headers = headersOf(flags.header ?? []);
  const fields = await givenFields(flags.rawField ?? [], flags.field ?? []);
  if (flags.data !== undefined && fields.length > 0)
    throw usageError('Use either -d or fields, not both.', 'remove one of them.');
  if (!WITHOUT_BODY.includes(method)) {
    const body = await bodyOf(flags.data, fields);
    return { method, path, options: { headers, isRaw: true, ...(body !== undefined && { rawBody: body }) } };
  }
  if (flags.data !== undefined)
    throw usageError(`A ${method} request has no body.`, 'use -f key=value for its query parameters.');
  return { method, path: withQuery(path, fields), options: { headers, isRaw: true } };
}

function methodNamed(text: string): string {
  const method = text.toUpperCase();
  if (METHODS.includes(method)) return method;
  throw usageError(`"${text}" is not a method.`, `use one of ${METHODS.join(', ')}, then the path.`);
}

/** The whole path that is meant: of version 2 unless it says something else. */
function apiPath(text: string, url: string): string {
  const base = serverBase(url);
  const own = text === base || text.startsWith(`${base}/`) ? text.slice(base.length) : text;
  if (/^[a-z]+:\/\//i.test(own))
    throw usageError(`${text} is not on the server ${base}.`, 'use a path, and --url for another server.');
  const path = own.replace(/^\/*/, '');
  if (/^(?:api|docs|healthz|readyz|openapi\.json)(?:[/?]|$)/.test(path)) return `/${path}`;
  return /^v[12]\//.test(path) ? `/api/${path}` : `/api/v2/${path}`;
}

function headersOf(given: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const text of given) {
    const [, name = '', value = ''] = /^([!#$%&'*+.^_`|~\w-]+):[ \t]*([\t\x20-\x7e]*)$/.exec(text) ?? [];
    if (name === '')
      throw usageError('A header does not have the form "Name: value".', "write it as -H 'Name: value'.");
    if (OWN_HEADERS.includes(name.toLowerCase()))
      throw usageError(
        `The header ${name} cannot be set.`,
        'set the key by CRM_API_KEY, --api-key-file or a profile, and the server by --url.',
      );
    headers[name.toLowerCase()] = value;
  }
  return headers;
}

async function bodyOf(data: string | undefined, fields: readonly GivenField[]): Promise<string | undefined> {
  if (data === undefined) return fields.length === 0 ? undefined : JSON.stringify(objectOf(fields));
  const file = data === '-' ? '-' : data.startsWith('@') ? data.slice(1) : undefined;
  return file === undefined ? data : readInputText(file);
}

function withQuery(path: string, fields: readonly GivenField[]): string {
  const pairs = fields.map(({ key, value }): [string, string] => [
    key.replace(/\[\]$/, ''),
    String(value ?? ''),
  ]);
  if (pairs.length === 0) return path;
  // Spaces as %20: the service would read + in a phone number as an unencoded plus.
  const text = new URLSearchParams(pairs).toString().replaceAll('+', '%20');
  return `${path}${path.includes('?') ? '&' : '?'}${text}`;
}
