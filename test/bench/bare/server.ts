// What crm is measured against: Bun.serve on bun:sqlite, as one would write it by hand to be fast, with the same answers.
// `bun server.ts own|same DATABASE PORT`, where the database is a copy of one that crm made; it may be written to.
import { allCreated, created, failed, found, keyHash, listed, listQuestion, pathBelow } from './answers.ts';
import { Commits } from './commits.ts';
import { Contacts } from './contacts.ts';
import { openDatabase } from './database.ts';
import type { Input } from './record.ts';

const [tables = '', path = '', port = ''] = process.argv.slice(2);
if (tables !== 'own' && tables !== 'same') throw new Error(`which tables: own or same, not ${tables}`);

const { db, owner } = openDatabase(path, tables);
const keys = new Set(db.query<{ hash: string }, []>('SELECT hash FROM api_key_secrets').values().flat());
const contacts = new Contacts(db, tables, owner);
const commits = new Commits(db);

async function create(request: Request): Promise<Response> {
  const input = (await request.json()) as Input;
  return created(await commits.run(() => contacts.create(input)));
}

async function createAll(request: Request): Promise<Response> {
  const inputs = (await request.json()) as Input[];
  return allCreated(await commits.run(() => inputs.map((input) => contacts.create(input))));
}

async function update(request: Request, id: string): Promise<Response> {
  const input = (await request.json()) as Input;
  return found(await commits.run(() => contacts.update(id, input)));
}

function handle(request: Request): Response | Promise<Response> {
  if (!keys.has(keyHash(request))) return failed(401);
  const below = pathBelow(request);
  if (below === undefined) return failed(404);
  const { method } = request;
  const rest = below.slice(1);
  if (method === 'GET')
    return below[0] === '/' ? found(contacts.get(rest)) : listed(contacts.list(listQuestion(rest)));
  if (method === 'PATCH') return update(request, rest);
  if (method === 'POST') return rest === 'batch' ? createAll(request) : create(request);
  return failed(405);
}

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(port),
  fetch: handle,
  error: () => failed(500),
});
