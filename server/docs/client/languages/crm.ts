// A request as a crm command: one that has its own flags, or else `crm api`.
import { type HttpRequest, valueIn } from '../request.ts';
import { asWord } from './shell.ts';

const KEYLESS = '# No crm command sends a request without a key. See curl.';
const USUAL_BASE = 'http://127.0.0.1:4000';
const ADDRESS = /^(.*?)\/api\/(v\d)\/([^?]*)(\?.*)?$/;
const DRY_RUN = 'Dry-Run';

interface Parts {
  /** What the braces of the path stand for. */
  at: Record<string, string>;
  /** A command takes from it what it has flags for; if anything is left, it is not the command. */
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
  'GET changes/stream': () => ['watch'],
  'GET search': ({ query }) => ['search', ...taken(query, 'q'), ...flags(query, ['types', 'limit'])],
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
    const words = ['list', at.resource ?? '', ...flags(query, own)];
    const filters = [...new Set(query.keys())].flatMap((name) =>
      taken(query, name).flatMap((value) => ['--filter', `${name}=${value}`]),
    );
    return [...words, ...filters];
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
export function crmCommand(request: HttpRequest, keyHeader: string | undefined): string {
  if (keyHeader === undefined) return KEYLESS;
  const { method, url, headers, body = '' } = request;
  const [, base = '', version = '', path = '', search = ''] = ADDRESS.exec(url) ?? [];
  const isDryRun = headers.some(([name]) => name === DRY_RUN);
  // The other commands have no flags for most headers, and are for version 2.
  const isPlain = version === 'v2' && headers.length === (isDryRun ? 1 : 0);
  const words = isPlain ? wordsOf(method, path, { query: new URLSearchParams(search), body }) : undefined;
  const server = base === USUAL_BASE ? [] : ['--url', base];
  const others =
    words === undefined ? apiWords(request, base, version) : [...words, ...(isDryRun ? ['--dry-run'] : [])];
  return ['crm', ...server, ...others].map(asWord).join(' ');
}

function apiWords({ method, url, headers, body }: HttpRequest, base: string, version: string): string[] {
  const path = url.slice(base.length);
  return [
    ...['api', method, version === 'v2' ? path.replace('/api/v2/', '') : path],
    ...headers.flatMap(([name, value]) => ['-H', `${name}: ${value}`]),
    ...(body === undefined ? [] : ['-d', body]),
  ];
}

function wordsOf(method: string, path: string, given: Omit<Parts, 'at'>): string[] | undefined {
  for (const [route, words] of Object.entries(COMMANDS)) {
    const pattern = route.replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)');
    const match = new RegExp(`^${pattern}$`).exec(`${method} ${path}`);
    if (match === null) continue;
    const entries = Object.entries(match.groups ?? {}).map(([name, part]) => [name, plain(part)]);
    const found = words({ ...given, at: Object.fromEntries(entries) });
    return given.query.size === 0 ? found : undefined;
  }
  return undefined;
}

// What is not filled in yet stays in braces.
function plain(part: string): string {
  return part.startsWith('{') ? part : decodeURIComponent(part);
}

function flags(query: URLSearchParams, names: readonly string[]): string[] {
  return names.flatMap((name) => {
    const values = taken(query, name);
    return values.length === 0 ? [] : [`--${name.replaceAll('_', '-')}`, values.join(',')];
  });
}

function taken(query: URLSearchParams, name: string): string[] {
  const values = query.getAll(name);
  query.delete(name);
  return values;
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
