// Rows of the search index: each has a part of a long list, or several short lists, sorted by their names.
import { ByteWriter, type Entries, firstPlace, readEntries, writeEntries } from './search-blocks.ts';
import type { SearchPlace } from './search-places.ts';

/** The size of a row. A row of SQLite that is longer than a quarter of a page takes a page of its own. */
export const ROW_BYTES_MAX = 800;

/** A list in a row: all of it in its run, unless it is the first of the row. */
export interface PackedList {
  list: string;
  bytes: Uint8Array;
  /** Where its entries are in the bytes. */
  start: number;
  end: number;
}

/** The lists of a row whose first one has that name. */
export function packedLists(first: string, bytes: Uint8Array): PackedList[] {
  const lists: PackedList[] = [];
  readLists(first, bytes, (one) => {
    lists.push(one);
    return true;
  });
  return lists;
}

/** One of these lists; null if the row does not have it. */
export function packedList(first: string, bytes: Uint8Array, wanted: string): PackedList | null {
  let found: PackedList | null = null;
  readLists(first, bytes, (one) => {
    if (one.list === wanted) found = one;
    return one.list < wanted;
  });
  return found;
}

function readLists(first: string, bytes: Uint8Array, goesOn: (one: PackedList) => boolean): void {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let list = first;
  let at = 0;
  const number = () => {
    const low = buffer[at++] as number;
    return low < 128 ? low : low + ((buffer[at++] as number) - 1) * 128;
  };
  while (at < buffer.length) {
    if (at > 0) {
      const shared = number();
      const length = number();
      list = list.slice(0, shared) + buffer.toString('latin1', at, at + length);
      at += length;
    }
    const end = number() + at;
    if (!goesOn({ list, bytes, start: at, end })) return;
    at = end;
  }
}

/** The entries of a list in a row. */
export function entriesOf({ bytes, start, end }: PackedList): Entries {
  return readEntries(bytes, start, end);
}

/** A row, as it is stored. */
export interface PackedRow {
  list: string;
  place: SearchPlace;
  bytes: Uint8Array;
}

/** Packs lists, which come in the order of their names, into rows. */
export class RowPacker {
  readonly rows: PackedRow[] = [];
  readonly #row = new ByteWriter();
  readonly #entries = new ByteWriter();
  #first: Omit<PackedRow, 'bytes'> | null = null;
  #last = '';

  /** Of all rows. */
  get bytes(): number {
    return this.rows.reduce((sum, { bytes }) => sum + bytes.length, 0);
  }

  /** @param isWhole whether there are no other entries of this list in the run */
  add(list: string, entries: Entries, isWhole: boolean): void {
    const [oldest] = entries;
    if (oldest === undefined) return;
    if (!isWhole) this.flush();
    this.#entries.length = 0;
    const count = writeEntries(this.#entries, entries, 0, ROW_BYTES_MAX);
    if (count === entries.length) this.#put(list, oldest);
    else this.#addParts(list, entries);
  }

  /** Adds a whole list as it is in another row. */
  addPacked({ list, bytes, start, end }: PackedList): void {
    this.#entries.length = 0;
    this.#entries.put(bytes, start, end);
    this.#put(list, firstPlace(bytes, start));
  }

  #addParts(list: string, entries: Entries): void {
    for (let from = 0; from < entries.length; ) {
      this.flush();
      this.#entries.length = 0;
      const place = entries[from] as SearchPlace;
      from += writeEntries(this.#entries, entries, from, ROW_BYTES_MAX);
      this.#put(list, place);
    }
  }

  #put(list: string, place: SearchPlace): void {
    const length = this.#entries.length;
    if (this.#first !== null && this.#row.length + length + list.length > ROW_BYTES_MAX) this.flush();
    if (this.#first === null) this.#first = { list, place };
    else {
      const shared = sharedLength(this.#last, list);
      this.#row.putNumber(shared);
      this.#row.putNumber(list.length - shared);
      this.#row.putText(list, shared);
    }
    this.#last = list;
    this.#row.putNumber(length);
    this.#row.putAll(this.#entries);
  }

  /** Ends the row under way. */
  flush(): void {
    if (this.#first === null) return;
    this.rows.push({ ...this.#first, bytes: this.#row.copy() });
    this.#first = null;
    this.#row.length = 0;
  }
}

function sharedLength(one: string, other: string): number {
  const max = Math.min(one.length, other.length);
  let shared = 0;
  while (shared < max && one.charCodeAt(shared) === other.charCodeAt(shared)) shared++;
  return shared;
}
