// What crm is measured against: Bun.serve on bun:sqlite, as one would write it by hand to be fast, with the same answers.
// `bun server.ts own|same DATABASE PORT`, where the database is a copy of one that crm made; it may be written to.
import { Commits } from './commits.ts';
import { Contacts } from './contacts.ts';
import { openDatabase } from './database.ts';
import { type Input, instantText, type Shown } from './record.ts';
import { requestId } from './request-id.ts';

const [tables = '', path = '', port = ''] = process.argv.slice(2);
if (tables !== 'own' && tables !== 'same') throw new Error(`which tables: own or same, not ${tables}`);

const { db, owner } = openDatabase(path, tables);
const keys = new Set(db.query<{ hash: string }, []>('SELECT hash FROM api_key_secrets').values().flat());
const contacts = new Contacts(db, tables, owner);
const commits = new Commits(db);

const ROOT = '/api/v2/contacts';
const HEADERS = { 'Content-Type': 'application/json; charset=utf-8' };

function answer(object: string, data: unknown, status = 200, pageInfo?: object): Response {
  const meta = { request_id: requestId(), api_version: '2', timestamp: instantText(Date.now()) };
  const envelope =
    pageInfo === undefined ? { object, data, meta } : { object, data, page_info: pageInfo, meta };
  return new Response(JSON.stringify(envelope), { status, headers: HEADERS });
}

const error = (status: number) => answer('error', null, status);
const found = (record: Shown | undefined) => (record === undefined ? error(404) : answer('success', record));

function list(query: string): Response {
  let [filter, value, cursor, limit]: [string, string, string | null, number] = ['', '', null, 50];
  for (const parameter of query.split('&')) {
    const [name = '', given = ''] = parameter.split('=');
    if (name === 'limit') limit = Number(given);
    else if (name === 'cursor') cursor = given;
    else [filter, value] = [name, decodeURIComponent(given)];
  }
  const page = contacts.list(filter, value, cursor, limit);
  if (page === undefined) return error(400);
  const { records, hasNext, endCursor } = page;
  return answer('list', records, 200, { has_next_page: hasNext, end_cursor: endCursor });
}

async function create(request: Request): Promise<Response> {
  const input = (await request.json()) as Input;
  return answer('success', await commits.run(() => contacts.create(input)), 201);
}

async function createAll(request: Request): Promise<Response> {
  const inputs = (await request.json()) as Input[];
  const records = await commits.run(() => inputs.map((input) => contacts.create(input)));
  const items = records.map((data, index) => ({ index, status: 'created', data }));
  return answer('batch', { items, summary: { total: items.length, succeeded: items.length, failed: 0 } });
}

async function update(request: Request, id: string): Promise<Response> {
  const input = (await request.json()) as Input;
  return found(await commits.run(() => contacts.update(id, input)));
}

function handle(request: Request): Response | Promise<Response> {
  const key = request.headers.get('authorization') ?? '';
  if (!keys.has(Bun.SHA256.hash(key.slice('Bearer '.length), 'hex'))) return error(401);
  const { method, url } = request;
  const path = url.slice(url.indexOf('/', 'http://'.length));
  if (!path.startsWith(ROOT)) return error(404);
  const rest = path.slice(ROOT.length + 1);
  if (method === 'GET') return path[ROOT.length] === '/' ? found(contacts.get(rest)) : list(rest);
  if (method === 'PATCH') return update(request, rest);
  if (method === 'POST') return rest === 'batch' ? createAll(request) : create(request);
  return error(405);
}

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(port),
  fetch: handle,
  error: () => error(500),
});
