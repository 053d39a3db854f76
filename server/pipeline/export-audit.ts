// Who takes lists away, for the audit log: a client that says it exports, and one that walks a list to its end.
import { BoundedMap } from '../../db/cache.ts';
import type { Data } from '../../db/model/json.ts';
import type { AuditEntry } from '../../db/tables/audit.ts';
import type { Call, ListAnswer, Operation } from '../operation.ts';
import { actorOf } from '../request-origin.ts';
import type { Exchange } from './exchange.ts';

/** A fact that is told once, however often it comes up. */
export interface Told {
  /** What makes it the same fact as another. */
  name: string;
  entry: Omit<AuditEntry, 'now'>;
}

const NAMES_MAX = 10_000;
const TOLD_EVERY_MS = 60 * 60_000;
// How `crm export` signs its requests. Anybody can write that, with a new run each time: it decides what an entry says,
// never how many there are.
const EXPORTER = /^crm\/[\w.+-]{1,64} \(export; ([\da-f-]{36})\)$/;
// What says which page it is of a list, and in which order.
const PAGING = new Set(['cursor', 'limit', 'sort_by', 'sort_direction']);

/** Remembers what was told, as far as memory should be spent on it. */
export class Once {
  readonly #names = new BoundedMap<string, true>(NAMES_MAX);

  /** Does what is to be done once, unless it was done under that name before; what fails can be done again. */
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

/** Looks at the pages of lists that are answered. */
export class Exports {
  readonly #record: (told: Told) => Promise<void>;
  readonly #addressOf: (request: Request) => string;
  readonly #once = new Once();

  /** @param record adds to the audit log what was not told before @param addressOf gives the client's network address */
  constructor(record: (told: Told) => Promise<void>, addressOf: (request: Request) => string) {
    this.#record = record;
    this.#addressOf = addressOf;
  }

  /** Notes a page, once an hour for each key and list, as an export and as a walk; nothing waits for that. */
  note(
    operation: Operation,
    call: Omit<Call, 'db' | 'now'>,
    exchange: Exchange,
    page: Pick<ListAnswer, 'hasNextPage'>,
  ): void {
    const [, run] = EXPORTER.exec(exchange.request.headers.get('User-Agent') ?? '') ?? [];
    // v1 has its queries in the body.
    const asked = call.body === null ? call.query : (call.body as Data);
    if (run === undefined && (page.hasNextPage || typeof asked.cursor !== 'string')) return;
    const action = run === undefined ? 'list.walked' : 'export.started';
    const hour = Math.floor(exchange.now / TOLD_EVERY_MS);
    const name = [action, call.access.keyId, operation.id, hour].join(' ');
    const details = { ...(run !== undefined && { run }), filters: filtersOf(asked) };
    const record = () => {
      exchange.address ??= this.#addressOf(exchange.request);
      const entry: Told['entry'] = {
        orgId: call.access.orgId,
        actor: actorOf({ access: call.access, origin: exchange }),
        action,
        target: { type: operation.path.replace(/^\/api\/v\d\//, ''), id: null },
        requestId: exchange.requestId,
        details,
      };
      return this.#record({ name, entry });
    };
    // The next page makes up for a failure.
    this.#once.do(name, record).catch(() => undefined);
  }
}

// Their names alone: what is looked for may well be somebody's address.
function filtersOf({ filter, ...others }: Data): string[] {
  if (typeof filter === 'object' && filter !== null) return Object.keys(filter);
  return Object.keys(others).filter((name) => !PAGING.has(name));
}
