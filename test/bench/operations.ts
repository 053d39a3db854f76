// What is measured by requests: each operation with who answers it, and how its next request is made.
import { httpRequest, type NextRequest } from './load.ts';
import { newContact, type Seeds } from './seed.ts';
import type { BareName, Running } from './servers.ts';

/** A server with what it serves. */
export interface Server extends Running {
  seeds: Seeds;
}

export interface Operation {
  name: string;
  label: string;
  /** The bare servers that sensibly have it; every build of crm has. */
  bare: readonly BareName[];
  /** What gives the next request to a server, each time another one. */
  requests: (server: Server) => NextRequest | Promise<NextRequest>;
}

const BOTH: readonly BareName[] = ['bare', 'same-tables'];
const POOL = 4_096;
const ROOT = '/api/v2/';

const authorization = ({ key }: Server) => `Authorization: Bearer ${key}\r\n`;

/** Requests without a body, made beforehand and sent in turns; `path` is given numbers that are spread over all seeds. */
function reads(path: (server: Server, index: number) => string): Operation['requests'] {
  return (server) => {
    const count = server.seeds.contacts.length;
    const pool = Array.from({ length: Math.min(POOL, count) }, (_, index) => {
      const spread = Math.floor((index * count) / Math.min(POOL, count));
      return Buffer.from(httpRequest('GET', ROOT + path(server, spread), authorization(server)));
    });
    // A step that shares no factor with the pool's length, so that neighbours are not asked for in order.
    let at = 0;
    return () => {
      at = (at + 1_637) % pool.length;
      return pool[at] ?? '';
    };
  };
}

/** POSTs of a body that is new each time. */
function posts(path: string, body: () => string): Operation['requests'] {
  return (server) => {
    const headers = authorization(server);
    return () => httpRequest('POST', ROOT + path, headers, body());
  };
}

const at = (list: readonly string[], index: number) => list[index % list.length] ?? '';
const pick = (list: readonly string[]) => at(list, Math.floor(Math.random() * list.length));

function updates(server: Server): NextRequest {
  const headers = authorization(server);
  let count = 0;
  return () => {
    const title = `{"title":"Engineer ${String(count++).padStart(8, '0')}"}`;
    return httpRequest('PATCH', `${ROOT}contacts/${pick(server.seeds.contacts)}`, headers, title);
  };
}

const newBatch = () => `[${Array.from({ length: 100 }, newContact).join(',')}]`;

/** In the order in which they are run: what only reads comes first. */
export const OPERATIONS: readonly Operation[] = [
  {
    name: 'get',
    label: 'GET a contact by id',
    bare: BOTH,
    requests: reads(({ seeds }, index) => `contacts/${at(seeds.contacts, index)}`),
  },
  { name: 'list', label: 'list 100 contacts', bare: BOTH, requests: reads(() => 'contacts?limit=100') },
  { name: 'create', label: 'create a contact', bare: BOTH, requests: posts('contacts', newContact) },
  { name: 'update', label: 'update a contact (PATCH)', bare: BOTH, requests: updates },
  { name: 'batch', label: 'create a batch of 100', bare: BOTH, requests: posts('contacts/batch', newBatch) },
];
