// Carries out `crm api`: one request, or all pages of a list.
import { STATUS_CODES } from 'node:http';
import { isObject } from '../../db/model/json.ts';
import { findResource } from '../../db/model/resources/registry.ts';
import type { Client } from '../api/client.ts';
import { connect } from '../api/connect.ts';
import type { ApiResponse } from '../api/envelope.ts';
import { explainRefusedKey } from '../api/key-hints.ts';
import { isRefusedKey, responseError } from '../api/response-error.ts';
import { usageError, withSteps } from '../errors.ts';
import { idRangeOf } from '../input/short-id.ts';
import type { Config } from '../settings/config.ts';
import { jsonText } from '../terminal/output.ts';
import { pagedOutput } from '../terminal/pager.ts';
import { stdout } from '../terminal/streams.ts';
import { neutralize } from '../terminal/text.ts';
import { type ApiFlags, type RawRequest, rawRequest } from './request.ts';

/** Sends a request and prints its response; a refusal is printed too, and then told as an error. */
export async function runApi(
  first: string,
  second: string | undefined,
  flags: ApiFlags,
  config: Config,
): Promise<void> {
  const request = await rawRequest(first, second, flags, config.url);
  if (flags.paginate === true) checkPages(request);
  const client = await connect(config);
  const output = pagedOutput(config);
  let next: RawRequest | null = request;
  while (next !== null) {
    const response = await send(client, next);
    await output.write(printed(response, flags, config));
    // Nothing has changed since the ETag that If-None-Match names.
    if (response.status >= 300 && response.status !== 304) throw await refusalOf(response, config);
    next = flags.paginate === true ? nextPage(request, response) : null;
  }
  await output.end();
}

function send(client: Client, { method, path, options }: RawRequest): Promise<ApiResponse> {
  return client.request(method, path, options);
}

function printed(response: ApiResponse, { include }: ApiFlags, config: Config): string {
  const isIndented = stdout.isTTY || (config.isOutputGiven && config.output === 'json');
  const body = isIndented ? indented(response.text) : response.text;
  const end = body === '' || body.endsWith('\n') ? '' : '\n';
  const text = (include === true ? headOf(response) : '') + body + end;
  // Only on a terminal: a pipe gets what the server sent.
  return stdout.isTTY ? neutralize(text) : text;
}

function headOf({ status, headers }: ApiResponse): string {
  const lines = [...headers].map(([name, value]) => `${name}: ${value}`);
  return `${[`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`.trimEnd(), ...lines].join('\n')}\n\n`;
}

function indented(text: string): string {
  try {
    return jsonText(JSON.parse(text), 2);
  } catch {
    return text;
  }
}

async function refusalOf(response: ApiResponse, config: Config): Promise<unknown> {
  const { body, path } = response;
  const known = isRefusedKey(body) ? explainRefusedKey(await config.apiKey(), path) : undefined;
  const error = responseError({ ...response, path: path.replace(/\?.*$/, '') }, known);
  const hint = response.status === 404 ? shortIdHint(path) : undefined;
  return hint === undefined ? error : withSteps(error, (steps) => [hint, ...steps]);
}

// The request goes out as it is written, with a short ID too, which the server does not know.
function shortIdHint(path: string): string | undefined {
  const [, , , resource = '', id = ''] = decodeURIComponent(path.replace(/\?.*$/, '')).split('/');
  if (findResource(resource) === undefined || idRangeOf(id) === undefined) return undefined;
  return `crm api sends short IDs as they are; for the whole one: crm get ${resource} ${id} --fields id`;
}

function checkPages({ method, path }: RawRequest): void {
  if (method === 'GET' || (method === 'POST' && /\/query$/.test(path))) return;
  throw usageError(
    '--paginate works with lists only.',
    'use it with GET, or with POST to a path of queries.',
  );
}

/** The same request for the page after that of a response; null after the last one, or if it is no list. */
function nextPage(request: RawRequest, { body }: ApiResponse): RawRequest | null {
  if (body.object !== 'list' || !body.page_info.has_next_page) return null;
  const { end_cursor: cursor } = body.page_info;
  if (cursor === null) return null;
  if (request.method === 'GET') return { ...request, path: withCursor(request.path, cursor) };
  const { rawBody = '{}' } = request.options;
  const query: unknown = JSON.parse(rawBody);
  if (!isObject(query)) return null;
  return { ...request, options: { ...request.options, rawBody: JSON.stringify({ ...query, cursor }) } };
}

function withCursor(path: string, cursor: string): string {
  const [start = '', query = ''] = path.split('?');
  const others = query.split('&').filter((pair) => pair !== '' && !pair.startsWith('cursor='));
  return `${start}?${[...others, `cursor=${encodeURIComponent(cursor)}`].join('&')}`;
}
