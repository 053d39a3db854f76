// Which responses clients got for each record, and what can therefore be found of it once its server was killed.

import { ChangeLedger } from './change-ledger.ts';
import { ABSENT, type State } from './state.ts';

export interface Entry {
  resource: 'contacts' | 'pipelines';
  /** What no other record is called. */
  label: string;
  /** Known once it was acknowledged. */
  id: string | null;
  /** All that it may say: one thing, or two while a change is not acknowledged. */
  may: State[];
}

/** A keyed request that made records, to be sent again. */
export interface KeyedRequest {
  key: string;
  path: string;
  body: string;
  entries: Entry[];
  /** Null while there was no answer. */
  answer: string | null;
}

/** What was found of a resource. */
export interface Found {
  id: string;
  label: string;
  state: string;
}

export class Ledger {
  readonly entries = new Map<string, Entry>();
  /** Of all of them, those of this cycle. */
  readonly touched = new Set<Entry>();
  keyed: KeyedRequest[] = [];
  acknowledged = 0;
  lost = 0;
  doubled = 0;
  readonly faults: string[] = [];
  readonly changes = new ChangeLedger();

  /** What it has come to so far. */
  get summary(): string {
    return `${this.acknowledged} writes acknowledged, ${this.lost} lost, ${this.doubled} doubled, ${this.changes.count} changes`;
  }

  add(entry: Entry): Entry {
    this.entries.set(entry.label, entry);
    this.touched.add(entry);
    return entry;
  }

  /** A change begins: until it is settled the record may say either. */
  begin(entry: Entry, next: State): void {
    entry.may = [...entry.may, next];
    this.touched.add(entry);
  }

  /** A change was acknowledged. */
  settle(entry: Entry, state: State, id = entry.id): void {
    entry.may = [state];
    entry.id = id;
    this.acknowledged += 1;
  }

  /** Checks what was found against the responses to these entries, which cannot change afterwards. */
  check(entries: Iterable<Entry>, found: readonly Found[]): void {
    const byLabel = Map.groupBy(found, ({ label }) => label);
    for (const entry of entries) {
      const { label, id, may } = entry;
      const rows = byLabel.get(label) ?? [];
      const row = rows[0];
      const state = row?.state ?? ABSENT;
      if (rows.length > 1) this.#fault('doubled', `${label} is there ${rows.length} times`);
      if (!may.includes(state)) this.#fault('lost', `${label} is ${told(state)}, not ${may.map(told)}`);
      if (row !== undefined && id !== null && row.id !== id) this.#fault('lost', `${label} has another id`);
      entry.may = [state];
      if (row !== undefined) entry.id = row.id;
    }
  }

  /** Notes what nobody should see. */
  note(text: string): void {
    this.faults.push(text);
  }

  /** Ends a cycle whose writes have been checked, once the log of changes was read to its end. */
  endCycle(): void {
    this.changes.settle();
    for (const { id, label, may } of this.touched)
      if (id !== null && may[0] !== undefined) this.changes.compare(id, label, may[0]);
    this.faults.push(...this.changes.faults.splice(0));
    this.touched.clear();
  }

  #fault(kind: 'lost' | 'doubled', text: string): void {
    this[kind] += 1;
    this.faults.push(text);
  }
}

function told(state: State): string {
  return state === ABSENT ? 'not there' : `"${state}"`;
}
