// Counts that all nodes share: a row for each group, raised by one statement, in the minutes of the database's clock.
import { CompiledQuery } from 'kysely';
import { type Counted, type Counters, hasRoom, type Usage, WINDOW_MS } from '../counters.ts';
import type { Bound, Engine } from '../engine.ts';

// $1 is the group's name, $2 the member's, '' for none; a given clock takes the place of the database's.
const now = (given: string) => `coalesce(${given}::bigint, floor(extract(epoch from now()) * 1000)::bigint)`;
const MEMBER_USED = `coalesce((counted.by_member ->> $2)::bigint, 0)`;

// A request that began in the last minute must not bring it back; a clock that was set back must.
const IS_OVER = 'excluded.minute not in (counted.minute, counted.minute - 1)';

// What is volatile, such as the clock, stands among the values only: in an update Citus takes none of it.
const COUNT = `
  insert into minute_counts as counted (name, minute, used, by_member)
  values ($1, ${now('$5')} / ${WINDOW_MS}, 1, jsonb_build_object($2::text, 1))
  on conflict (name) do update set
    minute = case when ${IS_OVER} then excluded.minute else counted.minute end,
    used = case when ${IS_OVER} then 1 else counted.used + 1 end,
    by_member = case when ${IS_OVER} then excluded.by_member
      else jsonb_set(counted.by_member, array[$2::text], (${MEMBER_USED} + 1)::text::jsonb) end
  where ${IS_OVER} or (counted.used < $3::bigint and ${MEMBER_USED} < $4::bigint)
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
  readonly #clock: (() => number) | undefined;
  readonly #count: Bound<Usage>;
  readonly #look: Bound<Usage>;
  readonly #giveBack: Bound<never>;
  readonly #purge: Bound<never>;

  /**
   * @param engine whose commits need not be durable: what a crash forgets of a minute is over by then
   * @param clock Unix milliseconds; the database's unless given
   */
  constructor(engine: Pick<Engine, 'bind'>, clock?: () => number) {
    this.#clock = clock;
    const bind = <R>(text: string) => engine.bind(CompiledQuery.raw(text) as CompiledQuery<R>);
    this.#count = bind(COUNT);
    this.#look = bind(LOOK);
    this.#giveBack = bind(GIVE_BACK);
    this.#purge = bind(PURGE);
  }

  async count(counted: Counted): Promise<Usage> {
    const { limit, member } = counted;
    const memberLimit = member?.limit ?? limit;
    // The first of a minute is not held against the limits.
    if (Math.min(limit, memberLimit) < 1) return this.look(counted);
    for (;;) {
      const [usage] = await this.#count([...namesOf(counted), limit, memberLimit, this.#now()]);
      if (usage !== undefined) return usage;
      // It was used up, and still is, unless another minute has come since.
      const seen = await this.look(counted);
      if (!hasRoom(counted, seen)) return seen;
    }
  }

  async look(counted: Counted): Promise<Usage> {
    const [usage] = await this.#look([...namesOf(counted), this.#now()]);
    if (usage === undefined) throw new Error('a look at the counts gave nothing');
    return usage;
  }

  async giveBack(counted: Counted, minute: number): Promise<void> {
    await this.#giveBack([...namesOf(counted), minute]);
  }

  async purge(): Promise<void> {
    await this.#purge([this.#now()]);
  }

  #now(): number | null {
    return this.#clock?.() ?? null;
  }
}

function namesOf({ what, group, member }: Counted): [string, string] {
  return [`${what}:${group}`, member?.name ?? ''];
}
