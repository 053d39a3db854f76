// Holds the service's answers against the model's.
import { expect } from 'bun:test';
import type { Json, Reply } from '../support/harness.ts';
import type { Client } from '../support/v2.ts';
import type { Data, Outcome } from './world.ts';

const PAGES_MAX = 8;

/** What an item of a batch must be: what was done with what data, or why it was rejected. */
export type ItemOutcome = { done: string; data?: Json } | Outcome;

/**
 * Asserts that a batch is answered item by item as the model says, which carries the items out in their order.
 * @param carryOut what the item of that index does; it is given what the service says of it
 * @param ids those that the items are sent with, which their results repeat
 */
export function expectBatch(
  reply: Reply,
  total: number,
  carryOut: (index: number, answered: Json) => ItemOutcome,
  ids?: readonly string[],
): void {
  expect(reply.status).toBe(200);
  const { data } = reply.body;
  expect(data.items.map((item: Json) => item.index)).toEqual(
    Array.from({ length: total }, (_, index) => index),
  );
  let failed = 0;
  for (const [index, item] of data.items.entries()) {
    const named = ids === undefined ? { index } : { index, id: ids[index] };
    const outcome = carryOut(index, item.data);
    if ('done' in outcome) {
      const { done: status, ...rest } = outcome;
      same(item, { ...named, status, ...rest });
    } else {
      failed += 1;
      const { error, ...rest } = item;
      same(rest, { ...named, status: 'error' });
      expectError(error, outcome);
    }
  }
  expect(data.summary).toEqual({ total, succeeded: total - failed, failed });
}

/** Walks a list page by page, and asserts what it shows. */
export async function expectPages(
  client: Client,
  path: string,
  limit: number,
  expected: Data[],
): Promise<void> {
  const found: Json[] = [];
  let cursor = '';
  for (let pages = 1; ; pages++) {
    const { status, body } = await client.get(path + cursor);
    expect(status).toBe(200);
    found.push(...body.data);
    expect(body.page_info.has_next_page).toBe(expected.length > pages * limit);
    if (!body.page_info.has_next_page || pages === PAGES_MAX) break;
    cursor = `&cursor=${body.page_info.end_cursor}`;
  }
  same(found, expected.slice(0, found.length));
}

/** Asserts that an answer is the one that the model says. */
export function expectOutcome(reply: Reply, outcome: Outcome): void {
  const { status, body } = reply;
  if (outcome.status >= 300) {
    expect({ status, error: body?.error?.code }).toEqual({ status: outcome.status, error: codeOf(outcome) });
    expectError(body.error, outcome, reply.headers.get('Location'));
    return;
  }
  if (status !== outcome.status) throw new Error(`expected ${outcome.status}, got ${status} ${reply.text}`);
  if (!('data' in outcome)) return;
  // A link to a transcript is another one each time.
  if (typeof body.data?.transcript_url === 'string') body.data.transcript_url = null;
  same(body.data, outcome.data);
}

function codeOf(outcome: Outcome): string {
  if (outcome.status === 422) {
    const [first, ...more] = outcome.faults;
    return more.length > 0 ? 'VALIDATION_FAILED' : (first?.code ?? '');
  }
  const codes: Record<number, string> = {
    403: 'OPERATION_FORBIDDEN',
    404: 'RESOURCE_NOT_FOUND',
    409: 'RESOURCE_CONFLICT',
  };
  return codes[outcome.status] ?? '';
}

// In a batch there is no Location; alone, it belongs to the conflict that is reported.
function expectError(error: Json, outcome: Outcome, location?: string | null): void {
  expect(error.code).toBe(codeOf(outcome));
  if (outcome.status === 422) {
    const byPath = (faults: Json[]) => faults.map(({ path, code }) => `${path} ${code}`).sort();
    same(byPath(error.details), byPath(outcome.faults));
  }
  if (outcome.status !== 409) return;
  const path = error.details?.[0]?.path ?? null;
  const told = outcome.conflicts.find((conflict) => conflict.path === path);
  expect(outcome.conflicts.map((conflict) => conflict.path)).toContain(path);
  expect(error.details?.[0]?.existing_id).toBe(told?.location?.split('/').at(-1));
  if (location !== undefined) expect(location).toBe(told?.location ?? null);
}

function same(actual: Json, expected: Json): void {
  if (!Bun.deepEquals(actual, expected, true)) expect(actual).toEqual(expected);
}
