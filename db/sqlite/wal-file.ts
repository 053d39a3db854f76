// Reads SQLite's write-ahead log itself, to identify the database it was written for.
import { closeSync, openSync, readSync } from 'node:fs';
import { type FirstPage, readFirstPage } from './main-file.ts';

// https://sqlite.org/fileformat2.html#the_write_ahead_log
const MAGIC = 0x377f0682;
const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

export interface WalFile {
  pageSize: number;
  /** Committed transactions, which SQLite would apply. */
  transactions: number;
  /** Oldest first; transactions that did not change the first page are missing. */
  firstPages: FirstPage[];
}

/** Reads a log up to its last valid commit; null if there is none, or no such file. */
export function readWalFile(path: string): WalFile | null {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch {
    return null;
  }
  try {
    return readFrames(file);
  } finally {
    closeSync(file);
  }
}

function readFrames(file: number): WalFile | null {
  const header = readAt(file, 0, HEADER_BYTES);
  if (header === null || (header.getUint32(0) & ~1) !== MAGIC) return null;
  const checksum = new Checksum((header.getUint32(0) & 1) === 0);
  const pageSize = header.getUint32(8);
  checksum.add(header, 0, FRAME_HEADER_BYTES);
  if (!checksum.matches(header, FRAME_HEADER_BYTES)) return null;

  const log: WalFile = { pageSize, transactions: 0, firstPages: [] };
  let uncommitted: FirstPage[] = [];
  const frameBytes = FRAME_HEADER_BYTES + pageSize;
  for (let at = HEADER_BYTES; ; at += frameBytes) {
    const frame = readAt(file, at, frameBytes);
    // Frames after the end are left from before the log was restarted, and have other salts.
    if (frame === null || frame.getUint32(8) !== header.getUint32(16)) break;
    if (frame.getUint32(12) !== header.getUint32(20)) break;
    checksum.add(frame, 0, 8);
    checksum.add(frame, FRAME_HEADER_BYTES, frameBytes);
    if (!checksum.matches(frame, 16)) break;
    if (frame.getUint32(0) === 1) uncommitted.push(readFirstPage(frame, FRAME_HEADER_BYTES));
    const isCommit = frame.getUint32(4) !== 0;
    if (!isCommit) continue;
    log.transactions += 1;
    log.firstPages.push(...uncommitted);
    uncommitted = [];
  }
  return log.transactions === 0 ? null : log;
}

// The log's running checksum: two sums over pairs of 32-bit words, in the byte order given by its magic number.
class Checksum {
  #first = 0;
  #second = 0;
  readonly #isLittleEndian: boolean;

  constructor(isLittleEndian: boolean) {
    this.#isLittleEndian = isLittleEndian;
  }

  add(bytes: DataView, from: number, to: number): void {
    for (let at = from; at < to; at += 8) {
      this.#first = (this.#first + bytes.getUint32(at, this.#isLittleEndian) + this.#second) >>> 0;
      this.#second = (this.#second + bytes.getUint32(at + 4, this.#isLittleEndian) + this.#first) >>> 0;
    }
  }

  matches(bytes: DataView, at: number): boolean {
    return bytes.getUint32(at) === this.#first && bytes.getUint32(at + 4) === this.#second;
  }
}

function readAt(file: number, position: number, length: number): DataView | null {
  const bytes = new Uint8Array(length);
  return readSync(file, bytes, 0, length, position) === length ? new DataView(bytes.buffer) : null;
}
