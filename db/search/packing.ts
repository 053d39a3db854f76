// Rows of the search index: each has a part of a long list, or several short lists, sorted by their names.
import {
  ByteWriter,
  type Entries,
  firstPlace,
  readEntries,
  readEntryColumns,
  writeEntries,
} from './blocks.ts';
import type { EntryColumns } from './columns.ts';
import type { SearchPlace } from './places.ts';

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
  return packedListsFrom(first, bytes, '');
}

/** Those of them that begin in some way. */
export function packedListsFrom(first: string, bytes: Uint8Array, start: string): PackedList[] {
  const reader = new RowReader(bytes);
  const lists: PackedList[] = [];
  if (!reader.find(first, start)) return lists;
  let list = first.startsWith(start) ? first : start + reader.restOfName();
  for (;;) {
    lists.push({ list, bytes, ...reader.entries() });
    if (!reader.next() || reader.shared < start.length) return lists;
    list = list.slice(0, reader.shared) + reader.restOfName();
  }
}

/** One of these lists; null if the row does not have it. */
export function packedList(first: string, bytes: Uint8Array, wanted: string): PackedList | null {
  const reader = new RowReader(bytes);
  if (!reader.find(first, wanted) || reader.isLonger) return null;
  return { list: wanted, bytes, ...reader.entries() };
}

/** Goes through the lists of a row. Names are compared as they are packed: to put each together takes longer. */
class RowReader {
  /** How much of its name a list has from the one before. */
  shared = 0;
  readonly #bytes: Uint8Array;
  #at = 0;
  // The rest of its name.
  #nameAt = 0;
  #nameEnd = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  /** Whether there is more of the name than what was looked for. */
  get isLonger(): boolean {
    return this.#nameAt < this.#nameEnd;
  }

  /** Goes to the first list that begins in some way; false if none does. */
  find(first: string, start: string): boolean {
    let same = sharedLength(first, start);
    if (same === start.length) {
      this.#nameEnd = first.length - same;
      return true;
    }
    if (first > start) return false;
    this.entries();
    while (this.next()) {
      // One that shares more with a name that comes before it comes before it, too; one that shares less comes after it.
      if (this.shared > same) this.entries();
      else if (this.shared < same) return false;
      else {
        while (this.isLonger && same < start.length && this.#byte() === start.charCodeAt(same)) {
          this.#nameAt += 1;
          same += 1;
        }
        if (same === start.length) return true;
        if (this.isLonger && this.#byte() > start.charCodeAt(same)) return false;
        this.entries();
      }
    }
    return false;
  }

  /** Goes to the name of the next list; false if there is none. */
  next(): boolean {
    if (this.#at >= this.#bytes.length) return false;
    this.shared = this.#number();
    const length = this.#number();
    this.#nameAt = this.#at;
    this.#nameEnd = this.#at + length;
    this.#at = this.#nameEnd;
    return true;
  }

  /** What was not looked at of the name. */
  restOfName(): string {
    let name = '';
    for (; this.isLonger; this.#nameAt++) name += String.fromCharCode(this.#byte());
    return name;
  }

  /** Where the entries of the list are; goes to the end of them. */
  entries(): { start: number; end: number } {
    const length = this.#number();
    const start = this.#at;
    this.#at += length;
    return { start, end: this.#at };
  }

  #byte(): number {
    return this.#bytes[this.#nameAt] as number;
  }

  #number(): number {
    const low = this.#bytes[this.#at++] as number;
    return low < 128 ? low : low + ((this.#bytes[this.#at++] as number) - 1) * 128;
  }
}

/** The entries of a list in a row. */
export function entriesOf({ bytes, start, end }: PackedList): Entries {
  return readEntries(bytes, start, end);
}

/** The same in columns. */
export function columnsIn({ bytes, start, end }: PackedList): EntryColumns {
  return readEntryColumns(bytes, start, end);
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
