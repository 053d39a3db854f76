// Questions that share an answer: none gets one that was on its way before it was asked, and a failure reaches its group alone.
import { expect, test } from 'bun:test';
import { Coalescer } from '../../db/coalescer.ts';

/** A gathering whose answers are given by hand. */
function byHand() {
  const groups: { questions: readonly string[]; give(answers: string[]): void; fail(error: Error): void }[] =
    [];
  const gathering = new Coalescer<string, string>((questions) => {
    const { promise, resolve, reject } = Promise.withResolvers<readonly string[]>();
    groups.push({ questions, give: resolve, fail: reject });
    return promise;
  });
  return { groups, gathering };
}

test('one that comes alone is answered at once; those that come meanwhile wait and go together', async () => {
  const { groups, gathering } = byHand();
  const first = gathering.ask('key', 'a');
  const others = [gathering.ask('key', 'b'), gathering.ask('key', 'c')];
  expect(groups.map(({ questions }) => questions)).toEqual([['a']]);
  groups[0]?.give(['A']);
  expect(await first).toBe('A');
  await Bun.sleep(0);
  expect(groups.map(({ questions }) => questions)).toEqual([['a'], ['b', 'c']]);
  groups[1]?.give(['B', 'C']);
  expect(await Promise.all(others)).toEqual(['B', 'C']);
  await Bun.sleep(0);
  gathering.ask('key', 'd');
  expect(groups[2]?.questions).toEqual(['d']);
});

test('those of another name do not wait', () => {
  const { groups, gathering } = byHand();
  gathering.ask('one', 'a');
  gathering.ask('other', 'b');
  expect(groups.map(({ questions }) => questions)).toEqual([['a'], ['b']]);
});

test('a failure reaches those that asked, and the next ones are asked', async () => {
  const { groups, gathering } = byHand();
  const first = gathering.ask('key', 'a');
  const second = gathering.ask('key', 'b');
  groups[0]?.fail(new Error('lost'));
  expect(await first.catch((error) => error.message)).toBe('lost');
  await Bun.sleep(0);
  groups[1]?.give(['B']);
  expect(await second).toBe('B');
});
