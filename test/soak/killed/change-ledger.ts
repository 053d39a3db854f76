// Which writes clients got responses for, and whether the log of changes has exactly them.
import type { Json } from '../../support/json.ts';
import { ABSENT, type State } from './state.ts';

/** What an acknowledged write must have left: one change of this kind for each record. */
interface Expected {
  /** Such as `created contacts`. */
  kind: string;
  records: readonly string[];
}

/** The field that writers change, by resource; new contacts all have the same title. */
const STATES: Record<string, { field: string; of: (value: Json) => State; initial?: State }> = {
  contacts: { field: 'title', of: (title) => title, initial: 'new' },
  pipelines: { field: 'stages', of: (stages) => stages.map(({ name }: Json) => name).join() },
};

export class ChangeLedger {
  readonly faults: string[] = [];
  /** The number of changes so far. */
  count = 0;
  readonly #states = new Map<string, State | undefined>();
  #expected = new Map<string, Expected>();
  /** By request, the kinds and records of changes that nothing else caused. */
  #found = new Map<string, string[]>();
  #last: Json = { sequence: 0, cause: null };

  /** A write was acknowledged, by a response that is not a replay. */
  expect(requestId: string, kind: string, records: readonly string[]): void {
    this.#expected.set(requestId, { kind, records });
  }

  /** The next change of the log. */
  see(change: Json): void {
    this.count += 1;
    const { action, resource, record_id, cause, request_id, sequence } = change;
    const name = `${action} ${resource} ${record_id}`;
    const isOfLast = cause === null || cause === this.#last.sequence || cause === this.#last.cause;
    if (!isOfLast) this.faults.push(`change ${sequence}, ${name}: does not follow its cause ${cause}`);
    if (cause === null && request_id !== null) {
      const found = this.#found.get(request_id) ?? [];
      this.#found.set(request_id, [...found, name]);
    }
    this.#follow(change, name);
    this.#last = change;
  }

  /** Compares the log, read to its end, with what was acknowledged since the last time. */
  settle(): void {
    for (const [requestId, { kind, records }] of this.#expected) {
      const [found = [], wanted] = [this.#found.get(requestId), records.map((id) => `${kind} ${id}`)];
      if (found.toSorted().join() !== wanted.toSorted().join())
        this.faults.push(`${requestId} was ${wanted}, and the log has ${found.join() || 'nothing'}`);
    }
    this.#expected = new Map();
    this.#found = new Map();
  }

  /** Compares what the log has made of a record with what the database has. */
  compare(id: string, label: string, state: State): void {
    const logged = this.#states.has(id) ? this.#states.get(id) : ABSENT;
    // What stages a pipeline began with is not in the log.
    if (logged !== undefined && logged !== state)
      this.faults.push(`${label} is ${String(state)}, and ${String(logged)} by the log`);
  }

  // Each change must begin with what the one before has left.
  #follow({ action, resource, record_id, before, after }: Json, name: string): void {
    if (action === 'linked' || action === 'unlinked') return;
    const { field = '', of, initial } = STATES[resource] ?? {};
    const stateIn = (values: Json) => (field in (values ?? {}) ? of?.(values[field]) : undefined);
    const known = this.#states.get(record_id);
    const isThere = this.#states.has(record_id) && known !== ABSENT;
    if (isThere === (action === 'created')) this.faults.push(`${name}: it was ${isThere ? '' : 'not '}there`);
    const was = stateIn(before);
    if (was !== undefined && known !== undefined && known !== was)
      this.faults.push(`${name}: begins with ${String(was)}, not ${String(known)}`);
    const next: Record<string, State | undefined> = {
      ...{ created: initial, deleted: ABSENT },
      updated: stateIn(after) ?? known,
    };
    this.#states.set(record_id, next[action]);
  }
}
