// Operations that are requests: how each one's next request is made. What only reads is made beforehand.
import { ask } from './client.ts';
import { httpRequest, type NextRequest, runLoad } from './load.ts';
import type { Operation, Round, Server } from './operation.ts';
import { addressOf, nextSerial } from './seed.ts';

type Prepare = Operation['prepare'];

const ROOT = '/api/v2/';
const POOL = 4_096;
// Has no factor in common with the pool's length, so that all of it is asked for, and neighbours are not in order.
const STRIDE = 1_637;
const BATCH = 100;
const REPLAYED = 64;
const WALK_PAGE = 200;
const LINKS_PER_DEAL = 5;

const headersOf = ({ build }: Server) => `Authorization: Bearer ${build.key}\r\n`;

/** Rounds of the requests that `next` gives. */
export function roundsOf({ port, pid }: Server, next: NextRequest): Round {
  return (shape) => runLoad({ ...shape, port, pid, next });
}

/** GETs of as many paths as the pool has; `path` is given numbers of contacts that are spread over all of them. */
export function gets(path: (server: Server, index: number) => string): Prepare {
  return (server) => {
    const count = server.seeds.contacts.length;
    const size = Math.min(POOL, count);
    const pool = Array.from({ length: size }, (_, index) =>
      get(server, path(server, Math.floor((index * count) / size))),
    );
    let at = 0;
    return roundsOf(server, () => {
      at = (at + STRIDE) % size;
      return pool[at] ?? '';
    });
  };
}

/** The last page of 100 that is full. */
export async function lastPage(server: Server): Promise<Round> {
  const pages = Math.max(1, Math.floor(server.seeds.contacts.length / BATCH));
  let cursor = '';
  for (let missing = (pages - 1) * BATCH; missing > 0; missing -= WALK_PAGE) {
    const limit = Math.min(missing, WALK_PAGE);
    const page = (await ask(server, 'GET', `contacts?limit=${limit}${cursor}`)) as ListAnswer;
    cursor = `&cursor=${page.page_info.end_cursor}`;
  }
  const request = get(server, `contacts?limit=${BATCH}${cursor}`);
  return roundsOf(server, () => request);
}

/** POSTs, each of a body of its own. */
export function posts(path: string, body: () => string): Prepare {
  return (server) => {
    const headers = headersOf(server);
    return roundsOf(server, () => httpRequest('POST', ROOT + path, headers, body()));
  };
}

/** POSTs, each with an Idempotency-Key and a body of its own. */
export function keyedPosts(path: string, body: () => string): Prepare {
  return (server) => {
    const headers = headersOf(server);
    return roundsOf(server, () =>
      httpRequest('POST', ROOT + path, headers + idempotencyLine(newKey()), body()),
    );
  };
}

/** POSTs under an Idempotency-Key that were carried out before. */
export async function replays(server: Server): Promise<Round> {
  const requests: Buffer[] = [];
  for (let index = 0; index < REPLAYED; index++) {
    const [key, body] = [newKey(), newContact()];
    await ask(server, 'POST', 'contacts', { body, headers: { 'Idempotency-Key': key } });
    const headers = headersOf(server) + idempotencyLine(key);
    requests.push(Buffer.from(httpRequest('POST', `${ROOT}contacts`, headers, body)));
  }
  let at = 0;
  return roundsOf(server, () => requests[at++ % REPLAYED] ?? '');
}

/** PATCHes of one field of contacts all over. */
export function patches(server: Server): Round {
  const { contacts } = server.seeds;
  const headers = headersOf(server);
  return roundsOf(server, () => {
    const id = contacts[Math.floor(Math.random() * contacts.length)];
    return httpRequest('PATCH', `${ROOT}contacts/${id}`, headers, `{"title":"Engineer ${nextSerial()}"}`);
  });
}

/** POSTs of items, each about a contact of its own; `item` is given the contact's number and ID. */
export function batches(path: string, item: (index: number, id: string) => string, header = ''): Prepare {
  return (server) => {
    const { contacts } = server.seeds;
    const headers = headersOf(server) + header;
    let at = 0;
    return roundsOf(server, () => {
      const items = Array.from({ length: BATCH }, () => {
        at = (at + STRIDE) % contacts.length;
        return item(at, contacts[at] ?? '');
      });
      return httpRequest('POST', ROOT + path, headers, `[${items.join(',')}]`);
    });
  };
}

/** An item that is the ID of a contact. */
export const idOf = (_: number, id: string) => `"${id}"`;

/** What an update of a contact sends, as an item. */
export const changed = (_: number, id: string) => `{"id":"${id}","title":"Engineer ${nextSerial()}"}`;

/** What an upsert sends of a contact that is there, and has another title. */
export const known = (index: number) => `{"email":"${addressOf(index)}","title":"Engineer ${nextSerial()}"}`;

/** What an upsert sends of a contact that has all of it. */
export const same = (index: number) => `{"email":"${addressOf(index)}","first_name":"First${index}"}`;

/** Upserts of one contact each, which is there and has another title. */
export function upserts(server: Server): Round {
  const { contacts } = server.seeds;
  const headers = headersOf(server);
  return roundsOf(server, () => {
    const body = known(Math.floor(Math.random() * contacts.length));
    return httpRequest('POST', `${ROOT}contacts/upsert`, headers, body);
  });
}

/** Links of deals and contacts, each of a pair of its own. */
export function dealLinks(server: Server): Round {
  const { contacts, deals } = server.seeds;
  const headers = headersOf(server);
  let pair = 0;
  return roundsOf(server, () => {
    const deal = deals[pair % deals.length];
    const contact = contacts[Math.floor(pair / deals.length) % contacts.length];
    pair += 1;
    return httpRequest('POST', `${ROOT}deals/${deal}/contacts`, headers, `{"contact_id":"${contact}"}`);
  });
}

/** Batches of links of deals and contacts, both in order, as an import sends them; each of a pair of its own. */
export function linkBatches(server: Server): Round {
  const { contacts, deals } = server.seeds;
  const headers = headersOf(server);
  let pair = 0;
  const link = () => {
    const deal = deals[Math.floor(pair / LINKS_PER_DEAL) % deals.length];
    const contact = contacts[(pair + LINKS_PER_DEAL * Math.floor(pair / contacts.length)) % contacts.length];
    pair += 1;
    return `{"of":"deals.contacts","parent_id":"${deal}","id":"${contact}"}`;
  };
  return roundsOf(server, () => {
    const body = `[${Array.from({ length: BATCH }, link).join(',')}]`;
    return httpRequest('POST', `${ROOT}links/batch`, headers, body);
  });
}

/** What a create of a contact sends. */
export function newContact(): string {
  const number = nextSerial();
  return `{"email":"${addressOf(number)}","first_name":"First${number}","last_name":"Last${number}","title":"Engineer"}`;
}

/** What a batch sends. */
export function newBatch(): string {
  return `[${Array.from({ length: BATCH }, newContact).join(',')}]`;
}

/** An interaction with somebody who is not known. */
export function newInteraction(): string {
  return `{"type":"EMAIL","direction":"OUTBOUND","title":"Sent the offer","main_contact_email":"${addressOf(nextSerial())}"}`;
}

function get(server: Server, path: string): Buffer {
  return Buffer.from(httpRequest('GET', ROOT + path, headersOf(server)));
}

const newKey = () => `bench-${nextSerial()}`;
const idempotencyLine = (key: string) => `Idempotency-Key: ${key}\r\n`;

interface ListAnswer {
  page_info: { end_cursor: string };
}
