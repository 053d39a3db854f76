// Streams that wait for the same change read it once, and what was read is not kept for long.
import { expect, test } from 'bun:test';
import { SharedPages } from '../../server/v2/shared-pages.ts';
import { until } from '../support/until.ts';

const MIB = 1024 * 1024;

function counted(bytes = 1) {
  const calls: number[] = [];
  const read = async () => ({ bytes, number: calls.push(bytes) });
  return { calls, read };
}

test('a page is read once for all that ask for it together, and again later', async () => {
  const pages = new SharedPages();
  const { calls, read } = counted();
  const [one, other] = await Promise.all([pages.share('a', read), pages.share('a', read)]);
  expect(other).toBe(one);
  expect(await pages.share('a', read)).toBe(one);
  expect(calls.length).toBe(1);
  await pages.share('b', read);
  expect(calls.length).toBe(2);
  await until(async () => (await pages.share('a', read)) !== one);
});

test('a page that cannot be read is tried again', async () => {
  const pages = new SharedPages();
  const broken = () => Promise.reject(new Error('broken'));
  const both = await Promise.allSettled([pages.share('a', broken), pages.share('a', broken)]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  const { calls, read } = counted();
  await pages.share('a', read);
  expect(calls.length).toBe(1);
});

test('no more than 8 MiB are kept', async () => {
  const pages = new SharedPages();
  const { calls, read } = counted(5 * MIB);
  for (const name of ['a', 'b', 'b']) await pages.share(name, read);
  expect(calls.length).toBe(3);
});
