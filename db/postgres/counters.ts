// Counts shared by all nodes: one row per group, updated by one statement, in the minutes of the database's clock.
import { CompiledQuery } from 'kysely';
import { Coalescer } from '../coalescer.ts';
import { type Counters, type RateLimitEvent, type RateLimitUsage, WINDOW_MS } from '../counters/counters.ts';
import type { Engine, PreparedQuery } from '../engine/engine.ts';

// $1 is the group's name, $2 the member's ('' for none); a given clock replaces the database's. `excluded.used` is the number
// of events counted together.
const now = (given: string) => `coalesce(${given}::bigint, floor(extract(epoch from now()) * 1000)::bigint)`;
const MEMBER_USED = `coalesce((counted.by_member ->> $2)::bigint, 0)`;

// A request that began in the last minute must not bring that back, but a clock that was set back must.
const IS_OVER = 'excluded.minute not in (counted.minute, counted.minute - 1)';

// Volatile expressions such as the clock appear only among the values, because Citus rejects them in an update.
const COUNT = `
  insert into minute_counts as counted (name, minute, used, by_member)
  values ($1, ${now('$5')} / ${WINDOW_MS}, $6::bigint, jsonb_build_object($2::text, $6::bigint))
  on conflict (name) do update set
    minute = case when ${IS_OVER} then excluded.minute else counted.minute end,
    used = case when ${IS_OVER} then excluded.used else counted.used + excluded.used end,
    by_member = case when ${IS_OVER} then excluded.by_member
      else jsonb_set(counted.by_member, array[$2::text], (${MEMBER_USED} + excluded.used)::text::jsonb) end
  where ${IS_OVER}
    or (counted.used + excluded.used <= $3::bigint and ${MEMBER_USED} + excluded.used <= $4::bigint)
  returning true as "isCounted", minute, used, ${MEMBER_USED} as "memberUsed", ${now('$5')} as now`;

const LOOK = `
  select false as "isCounted", coalesce(counted.minute, clock.now / ${WINDOW_MS}) as minute,
    coalesce(counted.used, 0) as used, ${MEMBER_USED} as "memberUsed", clock.now
  from (select ${now('$3')} as now) as clock
  left join minute_counts as counted
    on counted.name = $1 and clock.now / ${WINDOW_MS} in (counted.minute, counted.minute - 1)`;

const GIVE_BACK = `
  update minute_counts as counted
  set used = used - 1, by_member = jsonb_set(by_member, array[$2::text], (${MEMBER_USED} - 1)::text::jsonb)
  where name = $1 and minute = $3::bigint`;

const PURGE = `delete from minute_counts where minute < ${now('$1')} / ${WINDOW_MS} - 1`;

export class PostgresCounters implements Counters {
  // The more events arrive at once, the fewer statements each needs.
  readonly #gathering = new Coalescer<RateLimitEvent, RateLimitUsage>((all) => this.#countAll(all));
  readonly #clock: (() => number) | undefined;
  readonly #count: PreparedQuery<RateLimitUsage>;
  readonly #look: PreparedQuery<RateLimitUsage>;
  readonly #giveBack: PreparedQuery<never>;
  readonly #purge: PreparedQuery<never>;

  /**
   * @param engine whose commits need not be durable: after a crash, the minute is over before its counts matter
   * @param clock Unix milliseconds; the database's by default
   */
  constructor(engine: Pick<Engine, 'bind'>, clock?: () => number) {
    this.#clock = clock;
    const bind = <R>(text: string) => engine.bind(CompiledQuery.raw(text) as CompiledQuery<R>);
    this.#count = bind(COUNT);
    this.#look = bind(LOOK);
    this.#giveBack = bind(GIVE_BACK);
    this.#purge = bind(PURGE);
  }

  count(counted: RateLimitEvent): Promise<RateLimitUsage> {
    return this.#gathering.ask(namesOf(counted).join(), counted);
  }

  async peek(counted: RateLimitEvent): Promise<RateLimitUsage> {
    const [usage] = await this.#look([...namesOf(counted), this.#now()]);
    if (usage === undefined) throw new Error('reading the counts returned no row');
    return usage;
  }

  async giveBack(counted: RateLimitEvent, minute: number): Promise<void> {
    await this.#giveBack([...namesOf(counted), minute]);
  }

  async purge(): Promise<void> {
    await this.#purge([this.#now()]);
  }

  async #countAll(all: readonly RateLimitEvent[]): Promise<RateLimitUsage[]> {
    const usages: RateLimitUsage[] = [];
    for (let next = all[0]; next !== undefined; next = all[usages.length])
      usages.push(...(await this.#countSome(next, all.length - usages.length)));
    return usages;
  }

  /** Counts as many of the events as there is room for, or reports to all of them that there is none. */
  async #countSome(counted: RateLimitEvent, asked: number): Promise<RateLimitUsage[]> {
    const { limit, member } = counted;
    const memberLimit = member?.limit ?? limit;
    // The statement does not check the limits for the first events of a minute.
    let events = Math.min(asked, limit, memberLimit);
    for (;;) {
      if (events > 0) {
        const values = [...namesOf(counted), limit, memberLimit, this.#now(), events];
        const [usage] = await this.#count(values);
        if (usage !== undefined) return oneByOne(usage, events);
      }
      // The limit was reached, and still is unless a new minute has begun.
      const seen = await this.peek(counted);
      const room = Math.min(limit - seen.used, memberLimit - seen.memberUsed);
      if (room < 1) return Array.from({ length: asked }, () => seen);
      events = Math.min(asked, room);
    }
  }

  #now(): number | null {
    return this.#clock?.() ?? null;
  }
}

// The usage that each event sees, as if they had come one after the other.
function oneByOne(usage: RateLimitUsage, events: number): RateLimitUsage[] {
  return Array.from({ length: events }, (_, index) => {
    const later = events - 1 - index;
    return { ...usage, used: usage.used - later, memberUsed: usage.memberUsed - later };
  });
}

function namesOf({ what, group, member }: RateLimitEvent): [string, string] {
  return [`${what}:${group}`, member?.name ?? ''];
}
