// Asks a server one question after another over one connection, and tells how long the answers took.
import { httpRequest, runLoad } from '../load.ts';
import type { CpuClock } from '../process.ts';
import type { Running } from '../servers.ts';
import type { Question, Request, Target } from './questions.ts';
import type { Samples } from './samples.ts';

const MILLISECONDS_MAX = 30_000;

/** What a question came to. */
export interface Answers {
  name: string;
  label: string;
  target: Target;
  /** Why it was not asked, if the server refused it. */
  refused: string | null;
  count: number;
  p50: number;
  p99: number;
  /** Of the server and of PostgreSQL's processes for each request, µs; null where there are none. */
  cpuMicros: number;
  databaseCpuMicros: number | null;
  /** Of a first pass over all requests: items on a page, about, and how many pages ended before they were full. */
  items: number;
  endedEarly: number;
}

/** The server that is asked, and the clock of its database's processes. */
export interface Asked extends Running {
  /** A key of one user. */
  userKey: string;
  databaseCpu: CpuClock | undefined;
}

interface FirstPass {
  refused: string | null;
  milliseconds: number;
  items: number;
  endedEarly: number;
}

/** Asks all requests of a question once, which warms the server up, and then for so many seconds, at least one more time. */
export async function answersTo(
  question: Question,
  server: Asked,
  samples: Samples,
  { seconds, requests: count }: { seconds: number; requests: number },
): Promise<Answers> {
  const { name, label, target } = question;
  const requests = question.requests(samples, count);
  const key = question.isOfUser === true ? server.userKey : server.build.key;
  const { refused, milliseconds, items, endedEarly } = await firstPass(server.port, key, requests);
  const nothing = { count: 0, p50: 0, p99: 0, cpuMicros: 0, databaseCpuMicros: null };
  if (refused !== null) return { ...{ name, label, target, refused, items, endedEarly }, ...nothing };
  const pool = requests.map((request) => messageOf(key, request));
  let at = 0;
  const before = server.databaseCpu?.();
  const {
    count: asked,
    latency,
    cpuMicros,
    failure,
  } = await runLoad({
    ...{ port: server.port, pid: server.pid, connections: 1, bodyBytes: undefined },
    milliseconds: Math.min(MILLISECONDS_MAX, Math.max(seconds * 1_000, milliseconds)),
    next: () => pool[at++ % pool.length] ?? '',
  });
  const after = server.databaseCpu?.();
  const isTold = before !== undefined && after !== undefined;
  return {
    ...{ name, label, target, items, endedEarly, count: asked, cpuMicros },
    refused: failure ?? null,
    p50: latency?.p50Milliseconds ?? 0,
    p99: latency?.p99Milliseconds ?? 0,
    databaseCpuMicros: isTold ? (after - before) / asked : null,
  };
}

interface Page {
  data: unknown;
  page_info?: { has_next_page: boolean };
}

interface Refusal {
  error: { message: string };
}

async function firstPass(port: number, key: string, requests: readonly Request[]): Promise<FirstPass> {
  const startedAt = performance.now();
  let [items, endedEarly] = [0, 0];
  for (const { method, path, body } of requests) {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v2/${path}`, {
      method,
      headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) {
      const refused = `${answer.status} ${(JSON.parse(text) as Refusal).error.message}`;
      return { refused, milliseconds: 0, items: 0, endedEarly: 0 };
    }
    const { data, page_info } = JSON.parse(text) as Page;
    const count = Array.isArray(data) ? data.length : 1;
    items += count;
    if (page_info?.has_next_page === true && count < limitOf(path, body)) endedEarly += 1;
  }
  const milliseconds = performance.now() - startedAt;
  return { refused: null, milliseconds, items: items / requests.length, endedEarly };
}

// A page of what has no limit of its own has 20 items.
function limitOf(path: string, body: unknown): number {
  const inBody = typeof body === 'object' && body !== null && 'limit' in body ? body.limit : undefined;
  return Number(inBody ?? /[?&]limit=(\d+)/.exec(path)?.[1] ?? 20);
}

const asAscii = (text: string) =>
  text.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);

function messageOf(key: string, { method, path, body }: Request): Buffer {
  const headers = `Authorization: Bearer ${key}\r\n`;
  const text = body === undefined ? '' : asAscii(JSON.stringify(body));
  return Buffer.from(httpRequest(method, `/api/v2/${path}`, headers, text));
}
