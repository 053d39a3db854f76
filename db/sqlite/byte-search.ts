// Where a text occurs in the bytes of a database file and its log: in used pages, or in parts that SQLite has freed.
import { closeSync, openSync, readSync } from 'node:fs';
import { realPath } from './file-check.ts';

/** A position in a file, and its role. */
export interface ByteMatch {
  file: string;
  /** From the beginning of the file. */
  offset: number;
  /**
   * `used` by a row or an index, as far as a page shows, which overflow pages do not; `free` in a free page, or in a free part
   * of one; `log` in the write-ahead log.
   */
  part: 'used' | 'free' | 'log';
}

const CHUNK_BYTES = 4 * 1024 * 1024;
const HEADER_BYTES = 100;
// Pages of a b-tree by their first byte, with the offset of their list of cells.
const TREE_PAGES: Readonly<Record<number, number>> = { 2: 12, 5: 12, 10: 8, 13: 8 };

/** Every occurrence of texts in a database file and its log; ASCII case-insensitively. */
export function findBytes(path: string, texts: readonly string[]): ByteMatch[] {
  const wanted = texts.map((text) => Buffer.from(text).toString('latin1').toLowerCase());
  const file = realPath(path);
  const found = offsetsIn(`${file}-wal`, wanted).map(
    (offset): ByteMatch => ({ file: `${file}-wal`, offset, part: 'log' }),
  );
  const offsets = offsetsIn(file, wanted);
  if (offsets.length === 0) return found;
  const pages = new Pages(file);
  try {
    for (const offset of offsets) found.push({ file, offset, part: pages.isFree(offset) ? 'free' : 'used' });
  } finally {
    pages.close();
  }
  return found;
}

/** The pages of a file: https://sqlite.org/fileformat2.html. */
class Pages {
  readonly #descriptor: number;
  readonly #bytes: number;
  readonly #free: ReadonlySet<number>;

  constructor(file: string) {
    this.#descriptor = openSync(file, 'r');
    const header = this.#read(0, HEADER_BYTES);
    const bytes = header.readUInt16BE(16);
    this.#bytes = bytes === 1 ? 65_536 : bytes;
    this.#free = this.#freePages(header.readUInt32BE(32));
  }

  close(): void {
    closeSync(this.#descriptor);
  }

  /** Whether the byte is unused. */
  isFree(offset: number): boolean {
    const number = Math.floor(offset / this.#bytes) + 1;
    if (this.#free.has(number)) return true;
    const page = this.#page(number);
    const at = offset % this.#bytes;
    const start = number === 1 ? HEADER_BYTES : 0;
    const header = TREE_PAGES[page[start] ?? 0];
    if (header === undefined) return false;
    const cells = start + header + 2 * page.readUInt16BE(start + 3);
    if (at < (page.readUInt16BE(start + 5) || 65_536)) return at >= cells;
    for (let block = page.readUInt16BE(start + 1); block > 0 && block + 4 <= this.#bytes; ) {
      if (at >= block && at < block + page.readUInt16BE(block + 2)) return true;
      const next = page.readUInt16BE(block);
      // The list is in ascending order; otherwise the page was being changed.
      block = next > block ? next : 0;
    }
    return false;
  }

  #freePages(first: number): Set<number> {
    const free = new Set<number>();
    for (let trunk = first; trunk > 0 && !free.has(trunk); ) {
      free.add(trunk);
      const page = this.#page(trunk);
      const count = Math.min(page.readUInt32BE(4), this.#bytes / 4 - 2);
      for (let index = 0; index < count; index++) free.add(page.readUInt32BE(8 + 4 * index));
      trunk = page.readUInt32BE(0);
    }
    return free;
  }

  #page(number: number): Buffer {
    return this.#read((number - 1) * this.#bytes, this.#bytes);
  }

  #read(offset: number, bytes: number): Buffer {
    const buffer = Buffer.alloc(bytes);
    readSync(this.#descriptor, buffer, 0, bytes, offset);
    return buffer;
  }
}

function offsetsIn(path: string, wanted: readonly string[]): number[] {
  const descriptor = openIfThere(path);
  if (descriptor === null) return [];
  const chunk = Buffer.alloc(CHUNK_BYTES);
  const overlap = Math.max(...wanted.map(({ length }) => length)) - 1;
  const found: number[] = [];
  try {
    for (let at = 0, rest = ''; ; ) {
      const bytes = readSync(descriptor, chunk, 0, CHUNK_BYTES, at);
      if (bytes === 0) return found;
      const text = rest + chunk.toString('latin1', 0, bytes).toLowerCase();
      for (const one of wanted)
        for (const index of placesIn(text, one, rest.length)) found.push(at - rest.length + index);
      rest = text.slice(Math.max(0, text.length - overlap));
      at += bytes;
    }
  } finally {
    closeSync(descriptor);
  }
}

// Occurrences in the overlap with the previous chunk were found there.
function placesIn(text: string, wanted: string, before: number): number[] {
  const places: number[] = [];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1))
    if (at + wanted.length > before) places.push(at);
  return places;
}

function openIfThere(path: string): number | null {
  try {
    return openSync(path, 'r');
  } catch {
    return null;
  }
}
