// Where tests write: in memory if the machine has room for it, and nothing of a killed run stays there.
import { afterAll, expect, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeMemoryFolder } from './memory-folder.ts';

const place = mkdtempSync(join(tmpdir(), 'crm-test-'));
afterAll(() => rmSync(place, { recursive: true }));

test('a folder is made where there is room', () => {
  const folder = makeMemoryFolder({ place, roomBytesMin: 0, memoryBytesMin: 0 });
  expect(folder).toStartWith(join(place, 'crm-suite-'));
  expect(existsSync(folder ?? '')).toBe(true);
});

test.each([
  ['the place is too small', { place, roomBytesMin: 1e18, memoryBytesMin: 0 }],
  ['the machine has too little memory', { place, roomBytesMin: 0, memoryBytesMin: 1e18 }],
  ['there is no such place', { place: join(place, 'absent'), roomBytesMin: 0, memoryBytesMin: 0 }],
])('none is made where %s', (_, room) => {
  expect(makeMemoryFolder(room)).toBeNull();
});

test('what a killed run left is removed, what another run uses is not', () => {
  const [old, used] = ['crm-suite-old', 'crm-suite-used'].map((name) => join(place, name)) as [
    string,
    string,
  ];
  for (const folder of [old, used]) mkdirSync(folder);
  utimesSync(old, 0, 0);
  makeMemoryFolder({ place, roomBytesMin: 0, memoryBytesMin: 0 });
  expect([existsSync(old), existsSync(used)]).toEqual([false, true]);
});
