// The manual's tables of a large database, made from the JSON file of a run.
import { table, withSection } from '../markdown.ts';
import { figureText } from '../terminal.ts';
import type { Answers } from './answers.ts';
import type { PocketBaseReport, Timed } from './beside-pocketbase.ts';
import type { HandAnswer } from './by-hand.ts';
import { type EngineReport, type LargeReport, millisecondsText } from './report.ts';

/** Where each engine's tables are on the page. */
const SECTIONS: Readonly<Record<EngineReport['engine'], string>> = {
  crm: 'bench-large',
  'crm-postgres': 'bench-large-postgres',
};
const NOTHING = '–';
const MIB = 2 ** 20;
// Of the database; smaller tables are not shown.
const SHARE_SHOWN = 0.02;

/** The page with the tables of a run; those of an engine that it had not stay as they are. */
export function withLargeTables(page: string, report: LargeReport): string {
  return report.engines.reduce((text, engine) => {
    if (engine.pocketbase === undefined)
      return withSection(text, SECTIONS[engine.engine], largeTables(report, engine));
    return withSection(text, 'bench-pocketbase', pocketBaseTables(report, engine, engine.pocketbase));
  }, page);
}

/** The tables of one engine. */
export function largeTables(report: LargeReport, engine: EngineReport): string {
  return [
    circumstances(report, engine),
    answersTable(engine),
    ...(engine.byHand === null ? [] : [handTable(engine, engine.byHand.answers)]),
    writesTable(engine),
    filledTable(engine),
    sizesTable(report, engine),
  ].join('\n\n');
}

/** The tables of a run beside PocketBase. */
export function pocketBaseTables(
  report: LargeReport,
  engine: EngineReport,
  { version, answers }: PocketBaseReport,
): string {
  const cells = ({ cpuMicros, items, ...times }: Timed) => [
    ...[latencyOf({ refused: null, ...times }), figureText(cpuMicros), items.toFixed(items < 10 ? 1 : 0)],
  ];
  const rows = answers.map(({ label, how, crm, pocketbase }) => [
    ...[label, ...cells(crm), ...cells(pocketbase), how],
  ]);
  const columns = ['p50 / p99, ms', 'CPU µs', 'items'];
  const header = ['question', ...columns, ...columns.map((column) => `PocketBase: ${column}`), 'how'];
  return [circumstances(report, engine, version), table(header, rows)].join('\n\n');
}

function circumstances(
  { machine, counts, postgres }: LargeReport,
  { engine, version }: EngineReport,
  other?: string,
): string {
  const beside = [
    ...(engine === 'crm' ? [] : [`PostgreSQL ${postgres}`]),
    ...(other === undefined ? [] : [other]),
  ]
    .map((one) => `, ${one}`)
    .join('');
  const where = `${machine.cores} cores (${machine.cpu}, Linux ${machine.kernel}), ${version}${beside}`;
  const all = Object.entries(counts).map(([name, count]) => `${count.toLocaleString('en')} ${name}`);
  return `On ${where}. ${all.join(', ')}. One request at a time.`;
}

function answersTable({ answers }: EngineReport): string {
  const targetOf = ({ target: { p50, p99 } }: Answers) =>
    p50 === null && p99 === null ? '' : `${p50 ?? NOTHING} / ${p99 ?? NOTHING}`;
  return table(
    ['question', 'p50 / p99, ms', 'target', 'CPU µs', 'items'],
    answers.map((one) => [
      one.label,
      latencyOf(one),
      targetOf(one),
      one.refused === null ? cpuOf(one) : NOTHING,
      one.refused === null ? one.items.toFixed(one.items < 10 ? 1 : 0) : NOTHING,
    ]),
  );
}

const latencyOf = ({ refused, p50, p99 }: Pick<Answers, 'refused' | 'p50' | 'p99'>) =>
  refused === null ? `${millisecondsText(p50)} / ${millisecondsText(p99)}` : NOTHING;

const cpuOf = ({ cpuMicros, databaseCpuMicros }: Pick<Answers, 'cpuMicros' | 'databaseCpuMicros'>) =>
  databaseCpuMicros === null
    ? figureText(cpuMicros)
    : `${figureText(cpuMicros)} + ${figureText(databaseCpuMicros)}`;

function handTable({ answers }: EngineReport, byHand: readonly HandAnswer[]): string {
  return table(
    ['p50 / p99, ms', 'crm', 'SQL by hand', 'how'],
    byHand.flatMap((hand) => {
      const ofCrm = answers.find(({ name }) => name === hand.besides);
      return ofCrm === undefined
        ? []
        : [[ofCrm.label, latencyOf(ofCrm), latencyOf({ refused: null, ...hand }), hand.how]];
    }),
  );
}

function writesTable({ writes }: EngineReport): string {
  return table(
    ['writes, 32 connections', 'CPU µs', 'until indexed', 'per second', 'p50 / p99, ms'],
    writes.flatMap(({ flags, costs }) =>
      costs.map((cost) => [
        flags === '' ? cost.label : `${cost.label}, \`${flags}\``,
        figureText(cost.cpuMicros),
        cpuOf({ cpuMicros: cost.cpuMicrosAfter, databaseCpuMicros: cost.databaseCpuMicros }),
        Math.round(cost.perSecond).toLocaleString('en'),
        latencyOf({ refused: null, ...cost }),
      ]),
    ),
  );
}

function filledTable({ filled }: EngineReport): string {
  return table(
    ['filled in after an upgrade', 's', 'CPU s'],
    filled.map(({ name, seconds, cpuSeconds, databaseCpuSeconds }) => [
      name,
      seconds.toFixed(0),
      databaseCpuSeconds === null
        ? cpuSeconds.toFixed(0)
        : `${cpuSeconds.toFixed(0)} + ${databaseCpuSeconds.toFixed(0)}`,
    ]),
  );
}

function sizesTable({ counts }: LargeReport, { sizes, searchBytesPerContact }: EngineReport): string {
  const all = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  const row = (name: string, bytes: number) => [
    name,
    Math.round(bytes / MIB).toLocaleString('en'),
    Math.round(bytes / counts.contacts).toLocaleString('en'),
  ];
  const ofContacts = searchBytesPerContact === null ? NOTHING : Math.round(searchBytesPerContact).toString();
  return table(
    ['table, with its indexes', 'MiB', 'bytes per contact'],
    [
      ...sizes.filter(({ bytes }) => bytes > all * SHARE_SHOWN).map(({ name, bytes }) => row(name, bytes)),
      row('all tables', all),
      ['what a contact itself adds to the search index', '', ofContacts],
    ],
  );
}
