// Builds the request body for a row of the input: maps, converts, looks up and checks every value.
import { faultsOf } from '../../../db/model/check.ts';
import type { Field } from '../../../db/model/fields.ts';
import { type Data, isObject, type JsonValue } from '../../../db/model/json.ts';
import { newRecordFaults } from '../../../db/model/rules.ts';
import { addressesIn } from '../../input/addresses.ts';
import { isOurId } from '../../input/record-id.ts';
import type { LookupKind } from '../plan/headers.ts';
import type { Plan } from '../plan/plan.ts';
import { readValue } from '../plan/values.ts';
import {
  likeliest,
  type PreparedRow,
  type Remedy,
  RowFault,
  type RowReason,
  rejectionOf,
  type SourceRow,
} from '../row.ts';
import { type Cell, cellsOf, settled } from './cells.ts';
import type { Lookups, Pipeline } from './lookups.ts';
import { stagesToCreate } from './stages.ts';

interface Draft {
  body: Data;
  custom: [string, JsonValue][];
  /** What must still be looked up, by kind. */
  wanted: Map<LookupKind, { field: string; text: string }>;
  faults: RowReason[];
}

/** Builds the bodies of one import. */
export class RowBuilder {
  readonly #plan: Plan;
  readonly #lookups: Lookups;

  constructor(plan: Plan, lookups: Lookups) {
    this.#plan = plan;
    this.#lookups = lookups;
  }

  /** The row, ready to send or rejected with all its faults; throws errors that are not about the row. */
  async build(row: SourceRow): Promise<PreparedRow> {
    if (row.fault !== null) return { line: row.line, rejection: row.fault };
    const draft: Draft = { body: {}, custom: [], wanted: new Map(), faults: [] };
    const { cells, unknown } = cellsOf(row, this.#plan);
    draft.faults.push(...unknown.map((header) => unknownHeader(header, this.#plan)));
    const { taken, others } = settled(this.#plan.resource, cells);
    for (const cell of taken) this.#attempt(draft, cell, () => this.#put(draft, cell));
    for (const cell of others)
      this.#attempt(draft, cell, () => this.#putAside(draft, cell, twice(cell.header)));
    this.#finishCustom(draft);
    draft.faults.push(...this.#faultsOf(draft.body).filter(({ path }) => !isTold(draft, path)));
    // Lookups cost requests and may create companies, so they are only done for valid rows.
    if (draft.faults.length === 0) await this.#lookUp(draft);
    if (draft.faults.length > 0) return { line: row.line, rejection: rejectionOf(draft.faults) };
    return { line: row.line, body: draft.body };
  }

  // The server's own validation of the body.
  #faultsOf(body: Data): RowReason[] {
    const { resource } = this.#plan;
    const inspect = (one: Data) => newRecordFaults(resource, one);
    return faultsOf(body, { schema: resource.createSchema, inspect });
  }

  #attempt(draft: Draft, { header, destination }: Cell, put: () => void): void {
    const path =
      'field' in destination
        ? destination.field
        : 'key' in destination
          ? `custom.${destination.key}`
          : header;
    try {
      put();
    } catch (error) {
      draft.faults.push(faultAt(error, path));
    }
  }

  #put(draft: Draft, cell: Cell): void {
    const { destination, value } = cell;
    switch (destination.kind) {
      case 'left out':
        return;
      case 'custom':
        draft.custom.push([destination.key, value]);
        return;
      case 'lookup':
        if (typeof value === 'object') throw new RowFault('VALIDATION_FAILED', '', 'must be text');
        this.#putLookup(draft, cell, destination, String(value));
        return;
      case 'field':
        this.#putField(draft, cell, destination);
    }
  }

  /** Keeps a value that its field does not accept as a custom field, with --custom. */
  #putAside(draft: Draft, { header, value }: Cell, fault: RowFault): void {
    if (!this.#plan.keepsOthers || header.startsWith('--set ')) throw fault;
    draft.custom.push([header, value]);
  }

  #putLookup(
    draft: Draft,
    cell: Cell,
    { lookup, field }: { lookup: LookupKind; field: string },
    text: string,
  ): void {
    const [email, ...others] = lookup === 'contact' ? addressesIn(text) : [];
    if (lookup === 'owner' && isOurId(text)) draft.body[field] = text.trim();
    else if (lookup === 'owner') this.#putAside(draft, cell, noOwner(cell.header, text));
    else if (lookup === 'contact' && email === undefined) this.#putAside(draft, cell, noEmail(text));
    else {
      if (others.length > 0) this.#putAside(draft, cell, severalEmails(text));
      draft.wanted.set(lookup, { field, text: email ?? text });
    }
  }

  #putField(draft: Draft, cell: Cell, { field: name, factor }: { field: string; factor?: string }): void {
    const { dates, numbers, resource } = this.#plan;
    const field = resource.fields[name];
    if (field === undefined) throw new Error(`${name} is not a field of ${resource.name}`);
    const typed = readValue(field, cell.value, { header: cell.header, dates, numbers, factor });
    const before = draft.body[name];
    if (field.kind === 'custom' && isObject(typed)) {
      draft.custom.push(...Object.entries(typed));
    } else if (field.kind === 'email' && typeof typed === 'string') {
      this.#putEmail(draft, name, typed);
    } else if (field.kind === 'emails' && Array.isArray(typed) && Array.isArray(before)) {
      draft.body[name] = [...new Set([...before, ...typed])];
    } else {
      draft.body[name] = name === 'stages' ? stagesToCreate(typed) : typed;
    }
  }

  /** The first of several emails in a cell is the email, the others are alternatives. */
  #putEmail(draft: Draft, name: string, text: string): void {
    const [first = text, ...others] = addressesIn(text);
    draft.body[name] = first;
    if (others.length === 0) return;
    const isFurther = ([, { kind }]: [string, Field]): boolean => kind === 'emails';
    const [further] = Object.entries(this.#plan.resource.fields).find(isFurther) ?? [];
    if (further === undefined) throw severalEmails(text);
    const before = draft.body[further];
    draft.body[further] = [...new Set([...others, ...(Array.isArray(before) ? before : [])])];
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
    await resolve('stage', async (text) => {
      // If the named pipeline does not exist, the stage is looked up in the one that is probably meant.
      const [fault] = draft.faults;
      const likely = likeliest(wanted.get('pipeline')?.text ?? '', fault?.remedy ?? {});
      const id = body.pipeline_id;
      pipeline ??= await this.#lookups.pipeline(
        likely !== undefined ? { name: likely } : typeof id === 'string' ? { id } : {},
      );
      body.pipeline_id = pipeline.id;
      return this.#lookups.stage(pipeline, text);
    });
    await resolve('contact', (text) => this.#lookups.contact(text));
    // Last, because it may create a company, and a rejected row must not.
    const isWanted = draft.faults.length === 0;
    await resolve('company', (text) => this.#lookups.company(text, isWanted));
  }
}

function isTold(draft: Draft, path: string): boolean {
  return draft.faults.some((told) => told.path === path);
}

// Every resource with owner or contact lookups has custom fields.
const KEPT: Remedy = { changes: { custom: true } };

function unknownHeader(header: string, { resource }: Plan): RowReason {
  const hasCustom = resource.fields.custom !== undefined;
  const ways = hasCustom ? 'keep it with --custom' : 'leave it out with --ignore-unknown';
  const message = `unknown column "${header}"; map it with --map, or ${ways}`;
  const changes = hasCustom ? { custom: true } : { ignoreUnknown: true };
  return { code: 'VALIDATION_FAILED', path: header, message, remedy: { changes } };
}

function twice(what: string): RowFault {
  return new RowFault('VALIDATION_FAILED', '', `is set twice (once by ${what})`);
}

function noOwner(header: string, text: string): RowFault {
  const ways = `set it with --map-value '${header}:${text.trim()}=ID' (IDs: crm users list), or keep the column with --custom`;
  const message = `"${text.trim()}" is not a user ID; ${ways}`;
  return new RowFault('VALIDATION_FAILED', '', message, KEPT);
}

function noEmail(text: string): RowFault {
  const message = `"${text.trim()}" is not an email; contacts are looked up by email`;
  return new RowFault('VALIDATION_INVALID_FORMAT', '', message, KEPT);
}

function severalEmails(text: string): RowFault {
  return new RowFault('VALIDATION_FAILED', '', `"${text.trim()}" is more than one email; keep only one`);
}

/** A fault of the row with its path; throws other errors. */
function faultAt(error: unknown, path: string): RowReason {
  if (!(error instanceof RowFault)) throw error;
  const { code, message, remedy } = error;
  return { code, path: error.path === '' ? path : error.path, message, ...(remedy && { remedy }) };
}
