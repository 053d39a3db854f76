// What the service is measured against: the least a server of the same answers could be, Bun.serve on bun:sqlite.
import { Database } from 'bun:sqlite';

const [path = ':memory:', port = '0'] = process.argv.slice(2);
const db = new Database(path, { create: true });
for (const pragma of ['journal_mode = WAL', 'synchronous = FULL', 'cache_size = -65536'])
  db.run(`PRAGMA ${pragma}`);
db.run(`CREATE TABLE contacts (id TEXT PRIMARY KEY, email TEXT UNIQUE, first_name TEXT, last_name TEXT, title TEXT,
  custom TEXT, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL) STRICT`);
db.run('CREATE INDEX contacts_order ON contacts (created_at, id)');

const insert = db.query('INSERT INTO contacts VALUES (?, ?, ?, ?, ?, ?, ?, ?)');
const byId = db.query('SELECT * FROM contacts WHERE id = ?');
const page = db.query('SELECT * FROM contacts ORDER BY created_at DESC, id DESC LIMIT ?');

interface Input {
  email: string;
  first_name: string;
  last_name: string;
  title: string;
}

function create({ email, first_name, last_name, title }: Input) {
  const id = Bun.randomUUIDv7();
  const now = Date.now();
  insert.run(id, email, first_name, last_name, title, '{}', now, now);
  return { id, email, first_name, last_name, title, custom: {}, created_at: now, updated_at: now };
}

const createAll = db.transaction((items: Input[]) => items.map(create));

const server = Bun.serve({
  port: Number(port),
  hostname: '127.0.0.1',
  fetch: async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (request.method === 'POST' && pathname === '/contacts/batch') {
      return Response.json({ object: 'batch', data: createAll((await request.json()) as Input[]) });
    }
    if (request.method === 'POST') {
      return Response.json(
        { object: 'success', data: create((await request.json()) as Input) },
        { status: 201 },
      );
    }
    if (pathname === '/contacts') {
      return Response.json({ object: 'list', data: page.all(Number(searchParams.get('limit'))) });
    }
    return Response.json({ object: 'success', data: byId.get(pathname.slice('/contacts/'.length)) });
  },
});
console.log(server.port);
