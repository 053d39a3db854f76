// From a row of the input to the body that creates its record: places, types, looks up and checks every value.
import { faultsOf } from '../../../db/declare/check.ts';
import { type Data, isObject, type JsonValue } from '../../../db/declare/json.ts';
import { newRecordFaults } from '../../../db/declare/rules.ts';
import type { Destination, LookupKind } from '../plan/headers.ts';
import type { Plan } from '../plan/plan.ts';
import { type PreparedRow, type Rejection, RowFault, rejectionOf, type SourceRow } from '../row.ts';
import type { Lookups, Pipeline } from './lookups.ts';
import { stagesToCreate } from './stages.ts';
import { isAbsent, readValue } from './values.ts';

interface Draft {
  body: Data;
  custom: [string, JsonValue][];
  /** What is still to be looked up, by kind. */
  wanted: Map<LookupKind, { field: string; text: string }>;
  faults: Rejection[];
}

/** Builds the bodies of one import. */
export class RowBuilder {
  readonly #plan: Plan;
  readonly #lookups: Lookups;

  constructor(plan: Plan, lookups: Lookups) {
    this.#plan = plan;
    this.#lookups = lookups;
  }

  /** The row, ready to be sent or turned away with all its faults; errors that are not the row's are thrown. */
  async build(row: SourceRow): Promise<PreparedRow> {
    if (row.fault !== null) return { line: row.line, rejection: row.fault };
    const draft: Draft = { body: {}, custom: [], wanted: new Map(), faults: [] };
    for (const [header, value] of row.entries) this.#place(draft, row, header, value);
    for (const { name, destination, value } of this.#plan.constants) {
      this.#attempt(draft, name, () => this.#put(draft, destination, `--set ${name}`, value));
    }
    this.#finishCustom(draft);
    draft.faults.push(...this.#faultsOf(draft.body).filter(({ path }) => !isTold(draft, path)));
    // Lookups cost requests and may create companies: only for rows that are right otherwise.
    if (draft.faults.length === 0) await this.#lookUp(draft);
    if (draft.faults.length > 0) return { line: row.line, rejection: rejectionOf(draft.faults) };
    return { line: row.line, body: draft.body };
  }

  // What the server would hold against the body, in its words.
  #faultsOf(body: Data): Rejection[] {
    const { resource } = this.#plan;
    const inspect = (one: Data) => newRecordFaults(resource, one);
    return faultsOf(body, { schema: resource.createSchema, inspect });
  }

  #place(draft: Draft, row: SourceRow, header: string, value: JsonValue): void {
    const destination = this.#plan.destinations.get(header) ?? this.#plan.late(header);
    if (destination === undefined) {
      const message = `"${header}" is not known; map it with --map, or keep it with --custom`;
      draft.faults.push({ code: 'VALIDATION_FAILED', path: header, message });
      return;
    }
    if (destination.kind === 'left out') return;
    const replaced = typeof value === 'string' ? this.#replace(header, value) : value;
    if (isAbsent(replaced) && !this.#isBlankText(destination, row, replaced)) return;
    const path = destination.kind === 'custom' ? `custom.${destination.key}` : destination.field;
    this.#attempt(draft, path, () => this.#put(draft, destination, header, replaced));
  }

  #replace(header: string, value: string): string {
    return this.#plan.values.get(header)?.get(value.trim().toLowerCase()) ?? value;
  }

  /** In JSON blank text is a value of its own; in CSV it is an empty cell. */
  #isBlankText(destination: Destination, row: SourceRow, value: JsonValue): boolean {
    if (Array.isArray(row.original) || value === null) return false;
    if (destination.kind === 'custom') return true;
    const field = destination.kind === 'field' ? this.#plan.resource.fields[destination.field] : undefined;
    return field?.kind === 'text';
  }

  #attempt(draft: Draft, path: string, put: () => void): void {
    try {
      put();
    } catch (error) {
      draft.faults.push(faultAt(error, path));
    }
  }

  #put(draft: Draft, destination: Destination, header: string, value: JsonValue): void {
    switch (destination.kind) {
      case 'left out':
        return;
      case 'custom':
        draft.custom.push([destination.key, value]);
        return;
      case 'lookup':
        if (typeof value === 'object') throw new RowFault('VALIDATION_FAILED', '', 'must be text');
        if (draft.wanted.has(destination.lookup)) throw twice(header);
        draft.wanted.set(destination.lookup, { field: destination.field, text: String(value) });
        return;
      case 'field':
        this.#putField(draft, destination, header, value);
    }
  }

  #putField(
    draft: Draft,
    { field: name, factor }: { field: string; factor?: string },
    header: string,
    value: JsonValue,
  ): void {
    const field = this.#plan.resource.fields[name];
    if (field === undefined) throw new Error(`${name} is no field of ${this.#plan.resource.name}`);
    const typed = readValue(field, value, { header, dates: this.#plan.dates, factor });
    const before = draft.body[name];
    if (field.kind === 'custom' && isObject(typed)) {
      draft.custom.push(...Object.entries(typed));
    } else if (field.kind === 'emails' && Array.isArray(typed) && Array.isArray(before)) {
      draft.body[name] = [...new Set([...before, ...typed])];
    } else if (before !== undefined) {
      throw twice(header);
    } else {
      draft.body[name] = name === 'stages' ? stagesToCreate(typed) : typed;
    }
  }

  #finishCustom(draft: Draft): void {
    if (draft.custom.length === 0) return;
    draft.body.custom = Object.fromEntries(draft.custom);
    const keys = draft.custom.map(([key]) => key);
    const doubled = keys.find((key, index) => keys.indexOf(key) !== index);
    if (doubled !== undefined) draft.faults.push(faultAt(twice(doubled), `custom.${doubled}`));
  }

  async #lookUp(draft: Draft): Promise<void> {
    const { body, wanted } = draft;
    const resolve = async (kind: LookupKind, find: (text: string) => Promise<string>): Promise<void> => {
      const one = wanted.get(kind);
      if (one === undefined) return;
      try {
        if (body[one.field] !== undefined) throw twice(kind);
        body[one.field] = await find(one.text);
      } catch (error) {
        draft.faults.push(faultAt(error, kind));
      }
    };
    let pipeline: Pipeline | undefined;
    await resolve('pipeline', async (name) => {
      pipeline = await this.#lookups.pipeline({ name });
      return pipeline.id;
    });
    if (draft.faults.length === 0) {
      await resolve('stage', async (text) => {
        const id = body.pipeline_id;
        pipeline ??= await this.#lookups.pipeline(typeof id === 'string' ? { id } : {});
        body.pipeline_id = pipeline.id;
        return this.#lookups.stage(pipeline, text);
      });
    }
    await resolve('contact', (text) => this.#lookups.contact(text));
    // Last, because it may create the company.
    if (draft.faults.length === 0) await resolve('company', (text) => this.#lookups.company(text));
  }
}

function isTold(draft: Draft, path: string): boolean {
  return draft.faults.some((told) => told.path === path);
}

function twice(what: string): RowFault {
  return new RowFault('VALIDATION_FAILED', '', `is given twice (once by ${what})`);
}

/** A fault of the row at its place; any other error goes on. */
function faultAt(error: unknown, path: string): Rejection {
  if (!(error instanceof RowFault)) throw error;
  return { code: error.code, path: error.path === '' ? path : error.path, message: error.message };
}
