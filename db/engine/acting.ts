// A job says who writes before it can write any record.
import type { Author } from './author.ts';
import type { RecordTrx, Trx } from './schema.ts';

/** Lets the running job write records, as this author. */
export function actingAs(trx: Trx, author: Author): RecordTrx {
  trx.engine.progress.author = author;
  return trx as RecordTrx;
}
