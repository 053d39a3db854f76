// Detects exports for the audit log: clients that announce one, and clients that page through a list to its end.
import { BoundedMap } from '../../db/cache.ts';
import { type Data, isObject } from '../../db/model/json.ts';
import type { AuditEntry } from '../../db/tables/audit.ts';
import type { Call, ListAnswer, Operation } from '../operation.ts';
import { actorOf } from '../request-origin.ts';
import type { Exchange } from './exchange.ts';

/** A fact that is recorded once, however often it occurs. */
export interface AuditEvent {
  /** Identifies the fact. */
  name: string;
  entry: Omit<AuditEntry, 'now'>;
}

const NAMES_MAX = 10_000;
const TOLD_EVERY_MS = 60 * 60_000;
// How `crm export` identifies its requests. Any client can send this, with a new run each time: it affects the content
// of an entry, but not the number of entries.
const EXPORTER = /^crm\/[\w.+-]{1,64} \(export; ([\da-f-]{36})\)$/;
// Parameters that only select the page, its order, and what it shows.
const PAGING = new Set(['cursor', 'limit', 'sort_by', 'sort_direction', 'include', 'fields']);

/** Remembers what was recorded, within a fixed amount of memory. */
export class OncePerName {
  readonly #names = new BoundedMap<string, true>(NAMES_MAX);

  /** Runs the work unless it already succeeded under this name; work that failed can run again. */
  async do(name: string, work: () => Promise<unknown>): Promise<void> {
    if (this.#names.has(name)) return;
    this.#names.set(name, true);
    try {
      await work();
    } catch (error) {
      this.#names.delete(name);
      throw error;
    }
  }
}

/** Observes the pages of lists. */
export class ExportAudit {
  readonly #record: (event: AuditEvent) => Promise<void>;
  readonly #addressOf: (request: Request) => string;
  readonly #once = new OncePerName();

  /** @param record adds a new fact to the audit log @param addressOf returns the client IP */
  constructor(record: (event: AuditEvent) => Promise<void>, addressOf: (request: Request) => string) {
    this.#record = record;
    this.#addressOf = addressOf;
  }

  /** Notes a page as part of an export or of paging through a list, once per hour, key and list; not awaited. */
  note(
    operation: Operation,
    call: Omit<Call, 'db' | 'now'>,
    exchange: Exchange,
    page: Pick<ListAnswer, 'hasNextPage'>,
  ): void {
    const [, run] = EXPORTER.exec(exchange.request.headers.get('User-Agent') ?? '') ?? [];
    // v1 queries are in the body.
    const asked = call.body === null ? call.query : (call.body as Data);
    if (run === undefined && (page.hasNextPage || typeof asked.cursor !== 'string')) return;
    const action = run === undefined ? 'list.walked' : 'export.started';
    const hour = Math.floor(exchange.now / TOLD_EVERY_MS);
    const list = listOf(operation, asked);
    const name = [action, call.access.keyId, operation.api, list, hour].join(' ');
    const details = { ...(run !== undefined && { run }), filters: filtersOf(asked) };
    const record = () => {
      exchange.address ??= this.#addressOf(exchange.request);
      const entry: AuditEvent['entry'] = {
        orgNumber: call.access.orgNumber,
        actor: actorOf({ access: call.access, origin: exchange }),
        action,
        target: { type: list, id: null },
        requestId: exchange.requestId,
        details,
      };
      return this.#record({ name, entry });
    };
    // The next page makes up for a failure.
    this.#once.do(name, record).catch(() => undefined);
  }
}

// Its path, and the required parameters that say which list it is.
function listOf({ path, query }: Operation, asked: Data): string {
  const required = Object.keys(query).filter((name) => query[name]?.isRequired === true);
  return [path.replace(/^\/api\/v\d\//, ''), ...required.map((name) => asked[name])].join('/');
}

// The fields that the filter of a query names, at whatever level.
function fieldsIn(filter: Data): string[] {
  return Object.entries(filter).flatMap(([name, value]) => {
    if (name === 'not' && isObject(value)) return fieldsIn(value);
    const isList = (name === 'and' || name === 'or') && Array.isArray(value);
    return isList ? value.flatMap((part) => (isObject(part) ? fieldsIn(part) : [])) : [name];
  });
}

// Only the names, since a value can be a person's email address.
function filtersOf({ filter, ...others }: Data): string[] {
  if (isObject(filter)) return [...new Set(fieldsIn(filter))];
  return Object.keys(others).filter((name) => !PAGING.has(name));
}
