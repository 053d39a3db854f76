// Servers of different tests never get the same port.
import { afterEach, expect, mock, spyOn, test } from 'bun:test';
import { freePort } from '../support/ports.ts';

afterEach(() => mock.restore());

test('a port that another test holds is passed over', async () => {
  spyOn(Math, 'random').mockReturnValue(0.5);
  const ports = [await freePort(), await freePort(), await freePort()];
  expect(new Set(ports).size).toBe(3);
});
