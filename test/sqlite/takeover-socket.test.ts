// What a server needs to take requests that another hands over, and what it must not do once it hands over itself.
import { afterAll, afterEach, expect } from 'bun:test';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CertificateRenewal } from '../../server/lifecycle/certificate-renewal.ts';
import { createTakeoverSocket } from '../../server/lifecycle/takeover-socket.ts';
import { describe, test } from '../support/on-sqlite.ts';

describe('a place for requests that are handed over', () => {
  const { TMPDIR } = process.env;
  const folder = mkdtempSync(join(tmpdir(), 'crm-test-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  afterEach(() => {
    if (TMPDIR === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = TMPDIR;
  });

  test('is this user’s alone, and goes', () => {
    process.env.TMPDIR = folder;
    const place = createTakeoverSocket();
    const own = dirname(place?.path ?? '');
    expect(statSync(own).mode & 0o777).toBe(0o700);
    place?.remove();
    expect(readdirSync(folder)).toEqual([]);
  });

  test('has a name that a socket can have, or there is none', () => {
    const deep = join(folder, 'x'.repeat(100));
    mkdirSync(deep);
    process.env.TMPDIR = deep;
    expect(createTakeoverSocket()).toBeNull();
    expect(readdirSync(deep)).toEqual([]);
  });
});

test('no listener is opened for a new certificate once there is no listener to replace', async () => {
  const renewal = new CertificateRenewal({ certFile: 'none', keyFile: 'none' }, []);
  await expect(renewal.reopen()).rejects.toThrow('none');
  renewal.end();
  expect(await renewal.reopen()).toBe(false);
});
