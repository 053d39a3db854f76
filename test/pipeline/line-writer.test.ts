// Lines that are gathered for stderr: all of them, in order and whole, however slowly they are taken, in bounded memory.
import { describe, expect, test } from 'bun:test';
import { LineWriter, WAITING_CHARACTERS_MAX } from '../../server/logging/line-writer.ts';
import { promptRound } from '../support/rounds.ts';

const systemError = (code: string) => Object.assign(new Error(code), { code });

/** A stream that takes so many bytes at a time; with 0 it is full, with an error's code it is broken. */
function streamOf(taking: { now: number | string } = { now: Number.POSITIVE_INFINITY }) {
  const writes: string[] = [];
  const lines = new LineWriter(
    (bytes) => {
      if (typeof taking.now === 'string') throw systemError(taking.now);
      if (taking.now === 0) throw systemError('EAGAIN');
      const taken = bytes.subarray(0, taking.now);
      writes.push(Buffer.from(taken).toString('latin1'));
      return taken.byteLength;
    },
    (count) => `${count} lost`,
  );
  const text = () => Buffer.from(writes.join(''), 'latin1').toString();
  return { lines, taking, writes, text };
}

const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line ${index} äöü 漢字`);
const whole = (lines: readonly string[]) => lines.map((line) => `${line}\n`).join('');

describe('lines', () => {
  test('are written together, soon, without being asked for', async () => {
    const { lines, writes, text } = streamOf();
    for (const line of numbered(20)) lines.add(line);
    expect(writes).toEqual([]);
    await Bun.sleep(100);
    expect([writes.length, text()]).toEqual([1, whole(numbered(20))]);
  });

  test('are written at once where there are many', () => {
    const { lines, text } = streamOf();
    for (const line of numbered(10_000)) lines.add(line);
    expect(text().length).toBeGreaterThan(100_000);
    lines.flush();
    expect(text()).toBe(whole(numbered(10_000)));
  });

  test('go out in pieces that a pipe takes whole, each of them ending with a line', () => {
    const { lines, writes, text } = streamOf();
    const all = [...numbered(500), 'x'.repeat(10_000), ...numbered(500)];
    for (const line of all) lines.add(line);
    lines.end();
    expect(text()).toBe(whole(all));
    expect(writes.every((piece) => piece.endsWith('\n'))).toBe(true);
    expect(writes.filter((piece) => piece.length > 4_096)).toEqual([whole(['x'.repeat(10_000)])]);
  });

  test('that are taken a few bytes at a time stay whole', () => {
    const { lines, taking, text } = streamOf({ now: 7 });
    for (const line of numbered(50)) lines.add(line);
    lines.flush();
    taking.now = 0;
    for (const line of numbered(50)) lines.add(line);
    lines.flush();
    taking.now = 1;
    lines.flush();
    expect(text()).toBe(whole([...numbered(50), ...numbered(50)]));
  });
});

describe('a stream that takes nothing', () => {
  test.each([0, 'EPIPE', 'EIO', 'ENOSPC'])('(%p) is asked again, and gets all once it does', async (now) => {
    const { lines, taking, text } = streamOf({ now });
    for (const line of numbered(100)) lines.add(line);
    await Bun.sleep(50);
    for (const line of numbered(100)) lines.add(line);
    taking.now = Number.POSITIVE_INFINITY;
    await Bun.sleep(300);
    expect(text()).toBe(whole([...numbered(100), ...numbered(100)]));
  });

  test('costs no more memory than a bound; what is lost is counted in its place', () => {
    const { lines, taking, text } = streamOf({ now: 0 });
    const line = 'x'.repeat(1_000);
    const kept = Math.floor(WAITING_CHARACTERS_MAX / line.length);
    for (let count = 0; count < kept + 123; count++) lines.add(line);
    taking.now = Number.POSITIVE_INFINITY;
    lines.flush();
    lines.add('then');
    lines.end();
    expect(text().length).toBe(kept * 1_001 + '123 lost\nthen\n'.length);
    expect(text().slice(-19)).toBe('xxxx\n123 lost\nthen\n');
  });

  test('is not asked again for each line', () => {
    let asked = 0;
    const lines = new LineWriter(
      () => {
        asked += 1;
        throw systemError('EAGAIN');
      },
      () => '',
    );
    for (const line of numbered(10_000)) lines.add(line);
    expect(asked).toBe(1);
  });
});

describe('the end', () => {
  test('waits for a slow reader', () => {
    let asked = 0;
    let text = '';
    const lines = new LineWriter(
      (bytes) => {
        asked += 1;
        if (asked < 10) throw systemError('EAGAIN');
        text += Buffer.from(bytes).toString();
        return bytes.byteLength;
      },
      () => '',
    );
    lines.add('last');
    lines.end();
    expect(text).toBe('last\n');
  });

  test.each([
    [0, 400, 2_000],
    ['EPIPE', 0, 100],
  ])('with a stream that takes nothing (%p) comes all the same', async (now, msMin, msMax) => {
    await promptRound(msMax, async () => {
      const { lines } = streamOf({ now });
      lines.add('last');
      const startedAt = performance.now();
      lines.end();
      expect(performance.now() - startedAt).toBeGreaterThanOrEqual(msMin);
    });
  });

  test('tells what was lost, even if nothing comes after it', () => {
    const { lines, taking, text } = streamOf({ now: 0 });
    for (let count = 0; count < 5; count++) lines.add('x'.repeat(WAITING_CHARACTERS_MAX));
    taking.now = Number.POSITIVE_INFINITY;
    lines.end();
    expect(text().slice(-9)).toBe('x\n4 lost\n');
  });
});
