// What the bare servers say over HTTP and how they read what they are asked, whichever database they have.
import { instantText, type Row, type Shown, shown } from './record.ts';
import { requestId } from './request-id.ts';

export interface Page {
  records: Shown[];
  hasNext: boolean;
  endCursor: string | null;
}

/** What a list is asked for; the filter is '' for all. */
export interface ListQuestion {
  filter: string;
  value: string;
  cursor: string | null;
  limit: number;
}

const ROOT = '/api/v2/contacts';
const HEADERS = { 'Content-Type': 'application/json; charset=utf-8' };

/** The SHA-256 of the key that a request names. */
export function keyHash(request: Request): string {
  const key = request.headers.get('authorization') ?? '';
  return Bun.SHA256.hash(key.slice('Bearer '.length), 'hex');
}

/** What comes after the path of all contacts, from the / or the ? on; undefined for another path. */
export function pathBelow({ url }: Request): string | undefined {
  const path = url.slice(url.indexOf('/', 'http://'.length));
  return path.startsWith(ROOT) ? path.slice(ROOT.length) : undefined;
}

export function listQuestion(query: string): ListQuestion {
  const question: ListQuestion = { filter: '', value: '', cursor: null, limit: 50 };
  for (const parameter of query.split('&')) {
    const [name = '', given = ''] = parameter.split('=');
    if (name === 'limit') question.limit = Number(given);
    else if (name === 'cursor') question.cursor = given;
    else {
      question.filter = name;
      question.value = decodeURIComponent(given);
    }
  }
  return question;
}

/** The page of rows that were found, one more than the limit where others follow. */
export function pageOf(rows: Row[], limit: number): Page {
  const hasNext = rows.length > limit;
  if (hasNext) rows.pop();
  const endCursor = (rows.at(-1)?.id as string | undefined) ?? null;
  return { records: rows.map(shown), hasNext, endCursor };
}

function answer(object: string, data: unknown, status = 200, pageInfo?: object): Response {
  const meta = { request_id: requestId(), api_version: '2', timestamp: instantText(Date.now()) };
  const envelope =
    pageInfo === undefined ? { object, data, meta } : { object, data, page_info: pageInfo, meta };
  return new Response(JSON.stringify(envelope), { status, headers: HEADERS });
}

export const failed = (status: number) => answer('error', null, status);
export const found = (record: Shown | undefined) =>
  record === undefined ? failed(404) : answer('success', record);
export const created = (record: Shown) => answer('success', record, 201);

export function listed(page: Page | undefined): Response {
  if (page === undefined) return failed(400);
  const { records, hasNext, endCursor } = page;
  return answer('list', records, 200, { has_next_page: hasNext, end_cursor: endCursor });
}

export function allCreated(records: readonly Shown[]): Response {
  const items = records.map((data, index) => ({ index, status: 'created', data }));
  return answer('batch', { items, summary: { total: items.length, succeeded: items.length, failed: 0 } });
}
