// Bytes become text: by mark, by --encoding, as UTF-8, or not at all, with what the file is.
import { describe, expect, test } from 'bun:test';
import { decodeText } from '../../cli/input/decode.ts';

async function* pieces(...parts: (string | Uint8Array)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield typeof part === 'string' ? Buffer.from(part) : part;
}

async function messageOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => 'no error',
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

describe('bytes', () => {
  const decoded = async (parts: Uint8Array[], encoding: string | null = null): Promise<string> => {
    let text = '';
    for await (const piece of decodeText(pieces(...parts), 'people.csv', encoding)) text += piece;
    return text;
  };
  /** More than the beginning by which a file's format is recognized. */
  const long = 'name\n'.repeat(150);
  const allCuts = (bytes: Uint8Array): Uint8Array[][] =>
    Array.from({ length: 12 }, (_, back) => bytes.length - back).map((cut) => [
      bytes.subarray(0, cut),
      bytes.subarray(cut),
    ]);

  test('UTF-8 is decoded whole, however it is cut', async () => {
    for (const cut of allCuts(Buffer.from(`\ufeff${long}é😀€\ufeff!`))) {
      expect(await decoded(cut)).toBe(`${long}é😀€\ufeff!`);
    }
  });

  test.each([
    ['utf-16le', [0xff, 0xfe]],
    ['utf-16be', [0xfe, 0xff]],
  ])(
    '%s is recognized by its mark, or by --encoding, and decoded whole, however it is cut',
    async (encoding, mark) => {
      const text = `${long}é😀€!`;
      const bytes = Buffer.from(text, 'utf16le');
      if (encoding === 'utf-16be') bytes.swap16();
      for (const cut of allCuts(Buffer.concat([Buffer.from(mark), bytes]))) {
        expect(await decoded(cut)).toBe(text);
      }
      expect(await decoded([bytes], encoding)).toBe(text);
      expect(await messageOf(decoded([bytes]))).toBe(
        'people.csv is not UTF-8. It seems to be UTF-16 without a byte order mark.',
      );
    },
  );

  test('--encoding names what no mark can tell, and a mark says more than --encoding does', async () => {
    expect(await decoded([Buffer.from([0x4a, 0xf3, 0x80, 0x93])], 'windows-1252')).toBe('Jó€“');
    expect(await decoded([Buffer.from([0xa3, 0xf3])], 'iso-8859-2')).toBe('Łó');
    expect(await decoded([Buffer.from([0x82]), Buffer.from([0xa0])], 'shift_jis')).toBe('あ');
    expect(await decoded([Buffer.from('\ufeffJosé')], 'windows-1252')).toBe('José');
    const broken = decoded([Buffer.from('a\nb\n'), Buffer.from([0x82, 0x20])], 'shift_jis');
    expect(await messageOf(broken)).toBe('people.csv is not shift_jis in line 1 or below.');
  });

  test('a byte that is not UTF-8 is reported with its line, its place and what it would be', async () => {
    const before = `${long}Jos`;
    const bytes = Buffer.concat([Buffer.from(before), Buffer.from([0xe9]), Buffer.from(',x\n')]);
    for (const cut of allCuts(bytes)) {
      expect(await messageOf(decoded(cut))).toBe(
        `people.csv is not UTF-8: line 151, byte ${before.length + 1} of the file is 0xE9, which is "é" in Windows-1252.`,
      );
    }
  });

  test('a character that is cut off by another one is reported, even where a chunk ends there', async () => {
    const chunks = [Buffer.from([...Buffer.from('abc'), 0xe2, 0x82, 0xef]), Buffer.from([0xbf, 0xbd])];
    const before = Buffer.from(long);
    for (const parts of [[before, ...chunks], [Buffer.concat([before, ...chunks])]]) {
      expect(await messageOf(decoded(parts))).toContain(`byte ${before.length + 4} of the file is 0xE2`);
    }
  });

  test('a character that is cut off at the end is reported too', async () => {
    expect(await messageOf(decoded([Buffer.from('abc'), new Uint8Array([0xe2, 0x82])]))).toContain(
      'byte 4 of the file is 0xE2',
    );
  });

  test.each([
    ['PK\x03\x04\x14\0[Content_Types].xml', 'an Excel workbook (.xlsx)', 'CSV UTF-8'],
    ['PK\x03\x04\x14\0mimetypeapplication/vnd.oasis.opendocument.spreadsheet', 'an OpenDocument', 'soffice'],
    ['PK\x03\x04\x14\0people.csv', 'a zip archive', 'unzip people.csv'],
    ['\xd0\xcf\x11\xe0\xa1\xb1', 'an old Excel workbook (.xls)', 'CSV UTF-8'],
    ['\x1f\x8b\x08', 'compressed with gzip', 'gunzip --keep people.csv'],
    ['!BDN', 'an Outlook data file (.pst)', 'Import/Export'],
    ['%PDF-1.7', 'a PDF', 'as CSV'],
  ])('%j is named: %s', async (begin, kind, nextStep) => {
    const error = await decoded([Buffer.from(begin, 'latin1')]).catch((thrown) => thrown);
    expect(error.message).toStartWith(`people.csv is ${kind}`);
    expect(error.nextSteps.join()).toContain(nextStep);
  });
});
