// Builds the request body for a row of the input: maps, converts, looks up and checks every value.

import { faultsOf } from '../../../db/model/check.ts';
import { type Data, isObject, type JsonValue } from '../../../db/model/json.ts';
import { newRecordFaults } from '../../../db/model/rules.ts';
import { clip } from '../../../db/model/text.ts';
import { addressesIn } from '../../input/addresses.ts';
import { isOurId } from '../../input/record-id.ts';
import { splitAmount } from '../plan/amounts.ts';
import type { LookupKind } from '../plan/headers.ts';
import { matchOf } from '../plan/matching.ts';
import type { Plan } from '../plan/plan.ts';
import { readValue } from '../plan/values.ts';
import {
  faultAt,
  type PreparedRow,
  type Remedy,
  RowFault,
  type RowReason,
  rejectionOf,
  type SourceRow,
} from '../row.ts';
import { type Cell, cellsOf, settled } from './cells.ts';
import { type LookedUp, lookUp, type WantedName } from './look-up.ts';
import type { Lookups } from './lookups.ts';
import { stagesToCreate } from './stages.ts';

/** The row, ready to send or rejected with all its faults; throws errors that are not about the row. */
export async function buildRow(row: SourceRow, plan: Plan, lookups: Lookups): Promise<PreparedRow> {
  const { line } = row;
  if (row.fault !== null) return { line, rejection: row.fault };
  const { cells, unknown } = cellsOf(row, plan);
  const { taken, others } = settled(plan.resource, cells);
  const draft = new Draft(plan);
  const { body, faults } = draft;
  faults.push(...unknown.map((header) => unknownHeader(header, plan)));
  for (const cell of taken) draft.attempt(cell, () => draft.put(cell));
  for (const cell of others) draft.attempt(cell, () => draft.putAside(cell, twice(cell.header)));
  draft.finishPhones();
  draft.finishCustom();
  draft.finishCurrency();
  // The server's own validation of the body.
  const { createSchema: schema } = plan.resource;
  const refused = faultsOf(body, { schema, inspect: (one) => newRecordFaults(plan.resource, one) });
  const told = new Set(faults.map(({ path }) => path));
  const { matching } = plan;
  // A record that is there has what is required; the server knows.
  const isNew = matching === null || !matching.isRequired;
  faults.push(
    ...refused.filter(({ path, code }) => !told.has(path) && (isNew || code !== 'VALIDATION_REQUIRED_FIELD')),
  );
  let match: Data = {};
  try {
    match = matching === null ? {} : matchOf(plan.resource, matching, body, row);
  } catch (error) {
    faults.push(faultAt(error, ''));
  }
  await lookUp(draft, lookups);
  return faults.length > 0 ? { line, rejection: rejectionOf(faults) } : { line, body: { ...body, ...match } };
}

const PHONES = ['phone', 'personal_phone'];

/** The body of one row, as far as it is built. */
class Draft implements LookedUp {
  readonly body: Data = {};
  readonly faults: RowReason[] = [];
  readonly wanted = new Map<LookupKind | 'status', WantedName>();
  readonly #plan: Plan;
  readonly #custom: [string, JsonValue][] = [];
  readonly #phones: { field: string; header: string; numbers: string[] }[] = [];
  #coded: { field: string; text: string; code: string } | undefined;

  constructor(plan: Plan) {
    this.#plan = plan;
  }

  attempt({ header, destination }: Cell, put: () => void): void {
    try {
      put();
    } catch (error) {
      const key = 'key' in destination ? `custom.${destination.key}` : header;
      this.faults.push(faultAt(error, 'field' in destination ? destination.field : key));
    }
  }

  put(cell: Cell): void {
    const { destination, value } = cell;
    if (destination.kind === 'custom') this.#custom.push([destination.key, value]);
    else if (destination.kind === 'field') this.#putField(cell, destination);
    else if (destination.kind === 'lookup' || destination.kind === 'status') {
      if (typeof value === 'object') throw new RowFault('VALIDATION_FAILED', '', 'must be text');
      if (destination.kind === 'lookup') this.#putLookup(cell, destination, String(value));
      else this.wanted.set('status', { ...destination, header: cell.header, text: String(value) });
    }
  }

  get keepsOthers(): boolean {
    return this.#plan.keepsOthers;
  }

  /** Keeps a value that its field does not accept as a custom field, with --custom. */
  putAside({ header, value }: Cell, fault: RowFault): void {
    if (!this.#plan.keepsOthers || header.startsWith('--set ')) throw fault;
    this.#custom.push([header, value]);
  }

  /** Google joins phone numbers of one kind. The first stays, the second may become the personal one, others are kept. */
  finishPhones(): void {
    for (const { field, header, numbers } of this.#phones) {
      const [first, ...others] = numbers;
      const isFree = field === 'phone' && this.body.personal_phone === undefined;
      const personal = isFree ? others.shift() : undefined;
      if (others.length > 0 && !this.keepsOthers) continue;
      if (personal !== undefined) this.body.personal_phone = personal;
      this.body[field] = first ?? null;
      this.#custom.push(
        ...others.map((one, at): [string, JsonValue] => [
          `${header} (${numbers.length - others.length + at + 1})`,
          one,
        ]),
      );
    }
  }

  finishCustom(): void {
    if (this.#custom.length === 0) return;
    this.body.custom = Object.fromEntries(this.#custom);
    const seen = new Set<string>();
    const doubled = this.#custom.find(([key]) => seen.size === seen.add(key).size);
    if (doubled !== undefined) this.faults.push(faultAt(twice(doubled[0]), `custom.${doubled[0]}`));
  }

  /** Sets the currency that an amount is written with, unless the row has another one. */
  finishCurrency(): void {
    if (this.#coded === undefined || this.#plan.resource.fields.currency === undefined) return;
    const { field, text, code } = this.#coded;
    const { currency: own = code } = this.body;
    this.body.currency = own;
    if (own !== code) this.faults.push(faultAt(otherCurrency(text, String(own)), field));
  }

  #putLookup(cell: Cell, { lookup, field }: { lookup: LookupKind; field: string }, text: string): void {
    const [email, ...others] = lookup === 'contact' ? addressesIn(text) : [];
    if (lookup === 'owner' && isOurId(text)) this.body[field] = text.trim();
    else if (lookup === 'owner') this.putAside(cell, noOwner(cell.header, text));
    else if (lookup === 'contact' && email === undefined) this.putAside(cell, noEmail(text));
    else {
      if (others.length > 0) this.putAside(cell, severalEmails(text));
      this.wanted.set(lookup, { field, header: cell.header, text: email ?? text });
    }
  }

  #putField({ header, value }: Cell, { field: name, factor }: { field: string; factor?: string }): void {
    const { dates, numbers, resource } = this.#plan;
    const field = resource.fields[name];
    if (field === undefined) throw new Error(`${name} is not a field of ${resource.name}`);
    const typed = readValue(field, value, { header, dates, numbers, factor });
    const code = field.kind === 'number' && typeof value === 'string' ? splitAmount(value).code : null;
    if (code !== null) this.#coded = { field: name, text: String(value), code };
    const before = this.body[name];
    if (field.kind === 'custom' && isObject(typed)) {
      this.#custom.push(...Object.entries(typed));
    } else if (field.kind === 'email' && typeof typed === 'string') {
      this.#putEmail(name, typed);
    } else if (PHONES.includes(name) && typeof typed === 'string' && typed.includes(':::')) {
      const numbers = typed.split(':::').flatMap((one) => one.trim() || []);
      this.#phones.push({ field: name, header, numbers });
      this.body[name] = typed;
    } else if (field.kind === 'emails' && Array.isArray(typed) && Array.isArray(before)) {
      this.body[name] = [...new Set([...before, ...typed])];
    } else {
      this.body[name] = name === 'stages' ? stagesToCreate(typed) : typed;
    }
  }

  /** The first of several emails in a cell is the email, the others are alternatives. */
  #putEmail(name: string, text: string): void {
    const [first = text, ...others] = addressesIn(text);
    this.body[name] = first;
    if (others.length === 0) return;
    const { fields } = this.#plan.resource;
    const further = Object.keys(fields).find((one) => fields[one]?.kind === 'emails');
    if (further === undefined) throw severalEmails(text);
    const before = this.body[further];
    this.body[further] = [...new Set([...others, ...(Array.isArray(before) ? before : [])])];
  }
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
  const cell = text.trim();
  const isWhole = clip(cell) === cell;
  const other = `set it with --map-value '${header}:${cell}=ID' (IDs: crm users list), or keep`;
  const ways = `${isWhole ? other : 'keep'} the column with --custom`;
  const message = `"${clip(cell)}" is not a user ID; ${ways}`;
  return new RowFault('VALIDATION_FAILED', '', message, KEPT);
}

function noEmail(text: string): RowFault {
  const message = `"${clip(text.trim())}" is not an email; contacts are looked up by email`;
  return new RowFault('VALIDATION_INVALID_FORMAT', '', message, KEPT);
}

function severalEmails(text: string): RowFault {
  return new RowFault(
    'VALIDATION_FAILED',
    '',
    `"${clip(text.trim())}" is more than one email; keep only one`,
  );
}

function otherCurrency(text: string, own: string): RowFault {
  const message = `"${clip(text.trim())}" contradicts the currency of the row, which is ${own}`;
  return new RowFault('VALIDATION_FAILED', '', message);
}
