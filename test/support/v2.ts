// A client of v2 for tests: short ways to send, to create what a test needs, and to say what an error must be.
import { expect } from 'bun:test';
import type { Harness, Json, KeyOptions, Reply } from './harness.ts';

export interface Client {
  get(path: string): Promise<Reply>;
  post(path: string, body?: Json): Promise<Reply>;
  patch(path: string, body: Json): Promise<Reply>;
  put(path: string, body: Json): Promise<Reply>;
  del(path: string): Promise<Reply>;
  /** Creates a record and gives it. */
  create(resource: string, body?: Json): Promise<Json>;
  /** Changes a record, which must succeed, and gives it. */
  update(resource: string, id: string, body: Json): Promise<Json>;
  /** The record of that id, which must be there. */
  fetch(resource: string, id: string): Promise<Json>;
  /** The records of one page. */
  list(path: string): Promise<Json[]>;
  /** The ids of one page's records. */
  ids(path: string): Promise<string[]>;
  /** Everything in a list, page after page. */
  all(path: string, limit?: number): Promise<Json[]>;
  /** The items and summary of a batch. */
  batch(path: string, items: Json): Promise<Json>;
  /** A client with a new key, such as one that is bound to a user. */
  withKey(options: KeyOptions): Promise<Client>;
}

/** The ID of no record. */
export const ABSENT = '019b76da-a800-7000-8000-000000000001';

/** A client that uses the given key, the organization's own unless said otherwise; paths are below /api/v2. */
export function clientOf(harness: Pick<Harness, 'send' | 'v2' | 'issue'>, key: string = harness.v2): Client {
  const request = (method: string) => (path: string, body?: Json) =>
    harness.send(method, `/api/v2${path}`, { key, body });
  const get = request('GET');
  const post = request('POST');
  const patch = request('PATCH');
  const dataOf = (reply: Reply, status: number): Json => {
    if (reply.status !== status) throw new Error(`expected ${status}, got ${reply.status}: ${reply.text}`);
    return reply.body.data;
  };
  const list = async (path: string): Promise<Json[]> => dataOf(await get(path), 200);
  return {
    get,
    post,
    patch,
    put: request('PUT'),
    del: request('DELETE'),
    create: async (resource, body) => dataOf(await post(`/${resource}`, body ?? minimalBody(resource)), 201),
    update: async (resource, id, body) => dataOf(await patch(`/${resource}/${id}`, body), 200),
    fetch: async (resource, id) => dataOf(await get(`/${resource}/${id}`), 200),
    list,
    ids: async (path) => (await list(path)).map((record) => record.id),
    all: async (path, limit = 200) => {
      const found: Json[] = [];
      for (let cursor = ''; ; ) {
        const reply = await get(`${path}${path.includes('?') ? '&' : '?'}limit=${limit}${cursor}`);
        found.push(...dataOf(reply, 200));
        const { has_next_page, end_cursor } = reply.body.page_info;
        if (!has_next_page) return found;
        cursor = `&cursor=${encodeURIComponent(end_cursor)}`;
      }
    },
    batch: async (path, items) => {
      const reply = await post(path, items);
      expect([reply.status, reply.body.object]).toEqual([200, 'batch']);
      return reply.body.data;
    },
    withKey: async (options) => clientOf(harness, (await harness.issue(options)).key),
  };
}

/** What became of each item of a batch: its status, or the code of its error. */
export function outcomesOf({ items }: Json): string[] {
  return items.map((item: Json) => item.error?.code ?? item.status);
}

const MINIMAL: Record<string, Json> = {
  contacts: { first_name: 'Ada' },
  companies: { name: 'Analytical Engines' },
  pipelines: { name: 'Partners' },
  deals: { name: 'Second unit' },
  tasks: { name: 'Send the drawings' },
  notes: { title: 'First meeting' },
  segments: { name: 'Newsletter' },
};

/** The least that a create of the resource takes; an interaction is about an unknown address, so each has its contact. */
export function minimalBody(resource: string): Json {
  if (resource !== 'interactions') return { ...MINIMAL[resource] };
  return { type: 'EMAIL', direction: 'INBOUND', title: 'Hello', main_contact_email: uniqueEmail() };
}

let emails = 0;

/** An address that no test has used yet. */
export function uniqueEmail(): string {
  emails += 1;
  return `person-${emails}@mail.example`;
}

/** Asserts status, code and, where details are given, the paths in them; and that the envelope is whole. */
export function expectError(reply: Reply, status: number, code: string, ...paths: string[]): void {
  const { object, error, meta } = reply.body ?? {};
  const found = (error?.details ?? []).map((detail: Json) => detail.path).sort();
  expect({ status: reply.status, code: error?.code, paths: found }).toEqual({
    status,
    code,
    paths: [...paths].sort(),
  });
  expect(object).toBe('error');
  expect(typeof error.message).toBe('string');
  expect(meta).toEqual({
    request_id: expect.stringMatching(/^req_/),
    api_version: '2',
    timestamp: expect.any(String),
  });
}

/** Asserts a 422 with exactly one fault, whose own code is the error's. */
export function expectFault(reply: Reply, code: string, path: string): void {
  expectError(reply, 422, code, path);
  expect(reply.body.error.details[0]).toEqual({ path, message: expect.any(String), code });
}

/** Asserts a 404. */
export function expectMissing(reply: Reply): void {
  expectError(reply, 404, 'RESOURCE_NOT_FOUND');
}

/** The parts of an answer that must not differ between an absent and a hidden record. */
export function wordsOf(reply: Reply): Json {
  const { meta, ...rest } = reply.body ?? {};
  return { status: reply.status, location: reply.headers.get('Location'), text: JSON.stringify(rest) };
}
