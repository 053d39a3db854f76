// Loaded into a server before it starts, by BUN_OPTIONS: writes now and then what its memory holds after a full collection.

import { heapStats } from 'bun:jsc';
import { appendFileSync } from 'node:fs';

const MIB = 1_048_576;
const EVERY_MS = 30_000;
// SQLite takes a block of this size for each page that it caches, and JavaScriptCore one of that size for objects.
const PAGE_BLOCK = 5_120;
const OBJECTS_BLOCK = 16_384;

/** MiB in use when nothing is left to be collected. */
export interface MemoryHeld {
  /** By objects, and what they hold outside the heap. */
  heap: number;
  /** Outside the heap, without SQLite's cached pages. */
  native: number;
  /** By SQLite's cached pages. */
  pages: number;
}

interface Allocator {
  malloc_normal: { current: number };
  malloc_bins: { block_size: number; current: number }[];
}

function take(file: string): void {
  Bun.gc(true);
  const { heapSize, mimalloc } = heapStats() as ReturnType<typeof heapStats> & { mimalloc: Allocator };
  const inBlocksOf = (size: number) =>
    mimalloc.malloc_bins.reduce((sum, one) => sum + (one.block_size === size ? one.current * size : 0), 0);
  const pages = inBlocksOf(PAGE_BLOCK);
  const native = mimalloc.malloc_normal.current - pages - inBlocksOf(OBJECTS_BLOCK);
  const held: MemoryHeld = { heap: heapSize / MIB, native: native / MIB, pages: pages / MIB };
  appendFileSync(file, `${JSON.stringify(held)}\n`);
}

// Commands that the server runs get the same variables.
const file = process.env.SOAK_MEMORY;
if (file !== undefined && Bun.isMainThread && process.argv.includes('serve'))
  setInterval(() => take(file), EVERY_MS).unref();
