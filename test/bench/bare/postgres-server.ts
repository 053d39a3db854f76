// The bare server on PostgreSQL: Bun.serve and Bun.SQL, as one would write it by hand to be fast, with the answers of crm.
// `bun postgres-server.ts ADDRESS PORT`, where the database is a copy of one that crm made; it may be written to.
import { SQL } from 'bun';
import { allCreated, created, failed, found, keyHash, listed, listQuestion, pathBelow } from './answers.ts';
import { COPY, KEY_ID, PostgresContacts, SCHEMA } from './postgres-contacts.ts';
import type { Input, Shown } from './record.ts';

// As many as crm has to read with.
const CONNECTIONS = 6;

const [address = '', port = ''] = process.argv.slice(2);
const db = new SQL(address, { max: CONNECTIONS, connection: { search_path: SCHEMA } });
await db.unsafe(COPY);
await db.unsafe('vacuum analyze contacts');
const [{ id }] = await db.unsafe(KEY_ID);
const contacts = new PostgresContacts(db, id);

async function create(request: Request): Promise<Response> {
  const [record] = await contacts.create([(await request.json()) as Input]);
  return created(record as Shown);
}

async function handle(request: Request): Promise<Response> {
  // Another process may have taken the key away: it is looked up for each request, as crm does here.
  if (!(await contacts.isKnown(keyHash(request)))) return failed(401);
  const below = pathBelow(request);
  if (below === undefined) return failed(404);
  const { method } = request;
  const rest = below.slice(1);
  if (method === 'GET')
    return below[0] === '/'
      ? found(await contacts.get(rest))
      : listed(await contacts.list(listQuestion(rest)));
  if (method === 'PATCH') return found(await contacts.update(rest, (await request.json()) as Input));
  if (method === 'POST')
    return rest === 'batch'
      ? allCreated(await contacts.create((await request.json()) as Input[]))
      : create(request);
  return failed(405);
}

Bun.serve({
  hostname: '127.0.0.1',
  port: Number(port),
  fetch: handle,
  error: () => failed(500),
});
