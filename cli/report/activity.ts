// Carries out `crm report activity`: interactions by type and period.
import { connect } from '../api/connect.ts';
import { usageError } from '../errors.ts';
import { DAY_MS } from '../input/instant.ts';
import type { Config } from '../settings/config.ts';
import { sinceMs } from '../settings/since.ts';
import { formatCount } from '../terminal/format.ts';
import { printRecords } from '../terminal/output.ts';
import { writePaged } from '../terminal/pager.ts';
import { note } from '../terminal/streams.ts';
import { type ReportLine, reportTable } from './bars.ts';
import { type ReportFlags, readAll } from './read.ts';

type Period = 'day' | 'week' | 'month';

export interface ActivityFlags extends ReportFlags {
  since: string;
  by: Period;
}

const FIELDS = ['period', 'type', 'interactions'];
const PERIODS_MAX = 500;
const DAYS_MAX = { day: PERIODS_MAX, week: 7 * PERIODS_MAX, month: 30 * PERIODS_MAX };
// Unix time begins on a Thursday.
const MONDAY_MS = 4 * DAY_MS;

/** Prints how many interactions of each type there were in each period. */
export async function runActivityReport(flags: ActivityFlags, config: Config): Promise<void> {
  const now = Date.now();
  const since = beginningOf(sinceMs(flags.since, now), flags.by);
  if ((now - since) / DAY_MS > DAYS_MAX[flags.by])
    throw usageError(
      `That is more than ${PERIODS_MAX} periods.`,
      'set a later --since, or count by a longer period with --by.',
    );
  // By period, then by type.
  const counts = new Map<string, Map<string, number>>();
  for (let start = since; start <= now; start = nextAfter(start, flags.by))
    counts.set(dayOf(start), new Map());
  await readAll(await connect(config), 'interactions', wanted(flags, since), {
    fields: ['type', 'interaction_date'],
    take: ({ type, interaction_date: at }) => {
      const ofPeriod = counts.get(dayOf(beginningOf(Number(at), flags.by)));
      ofPeriod?.set(String(type), (ofPeriod.get(String(type)) ?? 0) + 1);
    },
  });
  if (config.output === 'table') {
    if ([...counts.values()].every(({ size }) => size === 0)) return note('No interactions.');
    return writePaged(tableOf(counts, flags.by), config);
  }
  const rows = [...counts].flatMap(([period, byType]) =>
    [...byType].toSorted().map(([type, interactions]) => ({ period, type, interactions })),
  );
  await printRecords(config, rows, { columns: FIELDS, allFields: FIELDS });
}

// Lists have no filter by this date: with --filter, older ones are read too, and left out.
function wanted({ filter, where }: ReportFlags, since: number): ReportFlags {
  if (filter !== undefined) return { filter, ...(where !== undefined && { where }) };
  const isRecent = `interaction_date >= ${new Date(since).toISOString()}`;
  return { where: where === undefined ? isRecent : `(${where}) and ${isRecent}` };
}

function beginningOf(at: number, by: Period): number {
  if (by === 'month') return Date.UTC(new Date(at).getUTCFullYear(), new Date(at).getUTCMonth());
  const [length, offset] = by === 'day' ? [DAY_MS, 0] : [7 * DAY_MS, MONDAY_MS];
  return Math.floor((at - offset) / length) * length + offset;
}

function nextAfter(start: number, by: Period): number {
  return beginningOf(start + { day: 1, week: 7, month: 31 }[by] * DAY_MS, by);
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

function tableOf(counts: ReadonlyMap<string, ReadonlyMap<string, number>>, by: Period): string {
  const types = [...new Set([...counts.values()].flatMap((byType) => [...byType.keys()]))].toSorted();
  const totals = [...counts.values()].map((byType) =>
    [...byType.values()].reduce((sum, one) => sum + one, 0),
  );
  const most = Math.max(...totals);
  const shown = (count: number | undefined) => (count === undefined ? '' : formatCount(count));
  const lines = [...counts].map(([period, byType], index): ReportLine => {
    const total = totals[index] ?? 0;
    const cells = [period, ...types.map((type) => shown(byType.get(type))), formatCount(total)];
    return { cells, part: total / most };
  });
  return reportTable([by.toUpperCase(), ...types, 'TOTAL'], 1, lines);
}
