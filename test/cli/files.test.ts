// Files that commands write: private, complete or not there at all, and never through a link.
import { afterAll, describe, expect, test } from 'bun:test';
import {
  closeSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hashFile, sha256 } from '../../cli/files/digest.ts';
import {
  createPrivateFile,
  isOwnFolder,
  kindAt,
  reopenPrivateFile,
  replaceFile,
  writeAt,
} from '../../cli/files/private-file.ts';

const folder = mkdtempSync(join(tmpdir(), 'crm-files-test-'));
afterAll(() => rmSync(folder, { recursive: true }));
const at = (name: string): string => join(folder, name);

writeFileSync(at('precious'), 'precious');
symlinkSync(at('precious'), at('link'));
symlinkSync(at('nowhere'), at('dangling'));
linkSync(at('precious'), at('second-name'));
mkdirSync(at('folder'));
symlinkSync(at('folder'), at('folder-link'));
const laid = ['precious', 'link', 'dangling', 'second-name', 'folder', 'folder-link'];

describe('a file of our own', () => {
  test.each(laid)('is not made where something stands: %s', (name) => {
    expect(() => createPrivateFile(at(name))).toThrow('EEXIST');
    expect(kindAt(at('nowhere'))).toBe('nothing');
  });

  test.each(laid)('is not gone on with where a link, another name or a folder stands: %s', (name) => {
    expect(() => reopenPrivateFile(at(name))).toThrow();
  });

  test('is for its owner alone, and can be gone on with', () => {
    const descriptor = createPrivateFile(at('own'));
    writeAt(descriptor, Buffer.from('one two'), 0);
    closeSync(descriptor);
    expect(statSync(at('own')).mode & 0o777).toBe(0o600);
    const again = reopenPrivateFile(at('own'));
    writeAt(again, Buffer.from('2'), 4);
    closeSync(again);
    expect(readFileSync(at('own'), 'utf8')).toBe('one 2wo');
  });

  test('takes the place of a link, not of what it leads to', () => {
    symlinkSync(at('precious'), at('replaced'));
    replaceFile(at('replaced'), (descriptor) => writeAt(descriptor, Buffer.from('new'), 0));
    expect([kindAt(at('replaced')), readFileSync(at('replaced'), 'utf8')]).toEqual(['file', 'new']);
    expect(readFileSync(at('precious'), 'utf8')).toBe('precious');
  });

  test('that cannot be written whole leaves what was there, and nothing beside it', () => {
    const names = readdirSync(folder);
    const fail = (): never => {
      throw new Error('disk full');
    };
    expect(() => replaceFile(at('link'), fail)).toThrow('disk full');
    expect(readlinkSync(at('link'))).toBe(at('precious'));
    expect(readdirSync(folder)).toEqual(names);
  });
});

test('what is at a path is said of the path itself', () => {
  expect([...laid, 'nothing', `${'x'.repeat(300)}`].map((name) => kindAt(at(name)))).toEqual([
    ...['file', 'link', 'link', 'file', 'folder', 'link', 'nothing', 'nothing'],
  ] as ReturnType<typeof kindAt>[]);
  expect(['folder', 'folder-link', 'precious'].map((name) => isOwnFolder(at(name)))).toEqual([
    true,
    false,
    false,
  ]);
});

test('the digest of a file is that of its bytes, or of the first of them', () => {
  const text = 'ä'.repeat(100_000);
  writeFileSync(at('long'), text);
  expect(hashFile(at('long')).digest('hex')).toBe(sha256(text));
  expect(hashFile(at('long'), 4).digest('hex')).toBe(sha256('ää'));
});
