// Carries out `crm report pipeline`: deals by stage and currency.
import type { Data } from '../../db/model/json.ts';
import { connect } from '../api/connect.ts';
import { readPipelines } from '../api/id-finder.ts';
import type { Pipeline, Stage } from '../api/pipelines.ts';
import type { Config } from '../settings/config.ts';
import { formatCount } from '../terminal/format.ts';
import { printRecords } from '../terminal/output.ts';
import { writePaged } from '../terminal/pager.ts';
import { note } from '../terminal/streams.ts';
import { type ReportLine, reportTable } from './bars.ts';
import { type ReportFlags, readAll } from './read.ts';

const FIELDS = ['pipeline', 'stage', 'type', 'probability', 'currency', 'deals', 'value', 'weighted_value'];

interface Sum {
  deals: number;
  value: number;
}

interface Row extends Data, Sum {
  pipeline: string;
  stage: string;
  type: string;
  probability: number | null;
  currency: string | null;
  /** The value times the probability; null if the stage has none. */
  weighted_value: number | null;
}

/** Prints the number and the value of deals for each stage and currency. */
export async function runPipelineReport(flags: ReportFlags, config: Config): Promise<void> {
  const client = await connect(config);
  const pipelines = await readPipelines(client);
  // By stage, then by currency, '' for none.
  const sums = new Map<string, Map<string, Sum>>();
  await readAll(client, 'deals', flags, {
    fields: ['stage_id', 'estimated_value', 'currency'],
    take: ({ stage_id, estimated_value, currency }) => {
      const ofStage = sums.getOrInsertComputed(String(stage_id), () => new Map());
      const sum = ofStage.getOrInsertComputed(String(currency ?? ''), () => ({ deals: 0, value: 0 }));
      sum.deals += 1;
      sum.value += Number(estimated_value ?? 0);
    },
  });
  const rows = pipelines.flatMap((pipeline) =>
    pipeline.stages.flatMap((stage) => rowsOf(pipeline, stage, sums.get(stage.id))),
  );
  if (config.output !== 'table') return printRecords(config, rows, { columns: FIELDS, allFields: FIELDS });
  if (rows.every(({ deals }) => deals === 0)) return note('No deals.');
  await writePaged(tableOf(rows, pipelines.length > 1), config);
}

function rowsOf(pipeline: Pipeline, stage: Stage, sums: ReadonlyMap<string, Sum> | undefined): Row[] {
  const { name, type, probability } = stage;
  const byCurrency = [...(sums ?? [['', { deals: 0, value: 0 }] as const])];
  byCurrency.sort(([a], [b]) => (a < b ? -1 : 1));
  return byCurrency.map(([currency, { deals, value }]) => ({
    ...{ pipeline: pipeline.name, stage: name, type, probability, currency: currency || null },
    ...{ deals, value: rounded(value) },
    weighted_value: probability === null ? null : rounded(value * probability),
  }));
}

// Adding fractions leaves small errors.
function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

function tableOf(rows: readonly Row[], isNamed: boolean): string {
  const longest = Map.groupBy(rows, ({ currency }) => currency);
  const maxOf = (currency: string | null) =>
    Math.max(0, ...(longest.get(currency) ?? []).map(({ value }) => value));
  const deals = Math.max(...rows.map((row) => row.deals));
  const lines = rows.map((row): ReportLine => {
    const max = maxOf(row.currency);
    // Without values, by their number.
    return { cells: cellsOf(row), part: max > 0 ? row.value / max : row.deals / deals };
  });
  const currencies = [...longest].filter(([, some]) => some.some((row) => row.deals > 0));
  const totals = currencies.map(([currency, some]): ReportLine => {
    const sum = (of: (row: Row) => number) => some.reduce((total, row) => total + of(row), 0);
    const total = { deals: sum((row) => row.deals), value: rounded(sum(({ value }) => value)) };
    const isWeighted = some.some((row) => row.weighted_value !== null);
    const weighted = isWeighted ? rounded(sum((row) => row.weighted_value ?? 0)) : null;
    return {
      cells: cellsOf({ pipeline: '', stage: 'Total', currency, ...total, weighted_value: weighted }),
      part: null,
    };
  });
  const header = ['PIPELINE', 'STAGE', 'DEALS', 'CURRENCY', 'VALUE', 'WEIGHTED'];
  const all = [...lines, ...totals];
  if (isNamed) return reportTable(header, 2, all);
  const unnamed = all.map(({ cells, part }) => ({ cells: cells.slice(1), part }));
  return reportTable(header.slice(1), 1, unnamed);
}

type Shown = Pick<Row, 'pipeline' | 'stage' | 'deals' | 'currency' | 'value' | 'weighted_value'>;

function cellsOf({ pipeline, stage, deals, currency, value, weighted_value }: Shown): string[] {
  const weighted = weighted_value === null ? '' : formatCount(Math.round(weighted_value));
  return [pipeline, stage, formatCount(deals), currency ?? '', formatCount(Math.round(value)), weighted];
}
