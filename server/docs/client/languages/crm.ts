// A request as a crm command, where one sends it.
import { type HttpRequest, valueIn } from '../request.ts';
import { asWord } from './shell.ts';

const NONE = '# No crm command sends this request. See curl.';
const USUAL_BASE = 'http://127.0.0.1:4000';
const ADDRESS = /^(.*?)\/api\/v2\/([^?]*)(\?.*)?$/;

interface Parts {
  /** What the braces of the path stand for. */
  at: Record<string, string>;
  query: URLSearchParams;
  body: string;
}

type Words = (parts: Parts) => string[] | undefined;

const PAGE = ['limit', 'cursor'];
const SELECTION = ['fields', 'include'];
const none: Words = () => undefined;

// The first path that fits decides. Braces stand for a part of a path, as in the description.
const COMMANDS: Record<string, Words> = {
  'GET authenticate': none,
  'GET links': none,
  'GET changes': none,
  'GET changes/stream': none,
  'GET search': ({ query }) => ['search', query.get('q') ?? '', ...flags(query, ['types', 'limit'])],
  'GET webhooks': () => ['webhooks', 'list'],
  'POST webhooks': ({ body }) => ['webhooks', 'create', '-d', body],
  'GET webhooks/{id}': ({ at }) => ['webhooks', 'get', at.id ?? ''],
  'PATCH webhooks/{id}': ({ at, body }) => ['webhooks', 'update', at.id ?? '', '-d', body],
  'DELETE webhooks/{id}': ({ at }) => ['webhooks', 'delete', at.id ?? '', '--yes'],
  'GET webhooks/{id}/deliveries': ({ at }) => ['webhooks', 'deliveries', at.id ?? ''],
  'POST webhooks/{id}/ping': ({ at }) => ['webhooks', 'ping', at.id ?? ''],
  'POST webhooks/{id}/rotate': ({ at }) => ['webhooks', 'rotate', at.id ?? ''],
  'POST webhooks/{id}/replay': none,
  'POST {resource}/batch': none,
  'POST {resource}/batch/{verb}': none,
  'POST {resource}/query': none,
  'POST {resource}/count': none,
  'POST {resource}/upsert': ({ at, body }) => ['upsert', at.resource ?? '', '-d', body],
  'POST {resource}/{id}/undelete': ({ at }) => ['undelete', at.resource ?? '', at.id ?? ''],
  'GET {resource}/{id}/history': ({ at, query }) => [
    ...['history', at.resource ?? '', at.id ?? ''],
    ...flags(query, ['limit']),
  ],
  'GET {resource}/{id}/timeline': ({ at, query }) => [
    ...['timeline', at.resource ?? '', at.id ?? ''],
    ...flags(query, ['kinds', 'since', 'until', 'scope', 'limit']),
  ],
  'GET meetings/{id}/{child}': ({ at }) => ['get', `meetings/${at.id}/${at.child}`],
  'PUT meetings/{id}/{child}': ({ at, body }) => link(`meetings/${at.id}/${at.child}`, body),
  'DELETE meetings/{id}/{child}': ({ at }) => ['unlink', `meetings/${at.id}/${at.child}`],
  'GET {resource}/{id}/{child}': ({ at, query }) => [
    ...['list', `${at.resource}/${at.id}/${at.child}`],
    ...flags(query, ['limit']),
  ],
  'POST {resource}/{id}/{child}': ({ at, body }) => link(`${at.resource}/${at.id}/${at.child}`, body),
  'DELETE {resource}/{id}/{child}/{child_id}': ({ at }) => [
    ...['unlink', `${at.resource}/${at.id}/${at.child}`, at.child_id ?? ''],
  ],
  'GET {resource}': ({ at, query }) => {
    const own = [...PAGE, 'sort_by', 'sort_direction', ...SELECTION];
    const others = [...query].filter(([name]) => !own.includes(name));
    const filters = others.flatMap(([name, value]) => ['--filter', `${name}=${value}`]);
    return ['list', at.resource ?? '', ...flags(query, own), ...filters];
  },
  'GET {resource}/{id}': ({ at, query }) => [
    'get',
    at.resource ?? '',
    at.id ?? '',
    ...flags(query, SELECTION),
  ],
  'POST {resource}': ({ at, body }) => ['create', at.resource ?? '', '-d', body],
  'PATCH {resource}/{id}': ({ at, body }) => ['update', at.resource ?? '', at.id ?? '', '-d', body],
  'DELETE {resource}/{id}': ({ at }) => ['delete', at.resource ?? '', at.id ?? '', '--yes'],
};

/** The command; it takes the key from CRM_API_KEY by itself. */
export function crmCommand({ method, url, headers, body = '' }: HttpRequest): string {
  const [, base = '', path = '', search = ''] = ADDRESS.exec(url) ?? [];
  const isDryRun = headers.some(([name]) => name === 'Dry-Run');
  // No command has options for the other headers.
  if (path === '' || headers.length > (isDryRun ? 1 : 0)) return NONE;
  const words = wordsOf(method, path, { query: new URLSearchParams(search), body });
  if (words === undefined) return NONE;
  const server = base === USUAL_BASE ? [] : ['--url', base];
  return ['crm', ...server, ...words, ...(isDryRun ? ['--dry-run'] : [])].map(asWord).join(' ');
}

function wordsOf(method: string, path: string, given: Omit<Parts, 'at'>): string[] | undefined {
  for (const [route, words] of Object.entries(COMMANDS)) {
    const pattern = route.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)');
    const match = new RegExp(`^${pattern}$`).exec(`${method} ${path}`);
    if (match === null) continue;
    const entries = Object.entries(match.groups ?? {}).map(([name, part]) => [name, plain(part)]);
    return words({ ...given, at: Object.fromEntries(entries) });
  }
  return undefined;
}

// What is not filled in yet stays in braces.
function plain(part: string): string {
  return part.startsWith('{') ? part : decodeURIComponent(part);
}

function flags(query: URLSearchParams, names: readonly string[]): string[] {
  return names.flatMap((name) => {
    const values = query.getAll(name);
    return values.length === 0 ? [] : [`--${name.replaceAll('_', '-')}`, values.join(',')];
  });
}

// The child is the ID in the body, for external IDs with its source; all else are fields of the link.
function link(target: string, body: string): string[] | undefined {
  const value = valueIn(body);
  if (typeof value !== 'object' || value === null) return undefined;
  const { source, id, ...others } = value as Record<string, unknown>;
  if (source !== undefined) return ['link', target, `${source}:${id}`];
  const child = Object.keys(others).find((name) => /_id$/.test(name)) ?? '';
  const fields = Object.entries(others).filter(([name]) => name !== child);
  return ['link', target, String(others[child]), ...fields.map(([name, one]) => `${name}=${one}`)];
}
