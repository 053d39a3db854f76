// The rows of an import: how they become batches, and what the summary says about them.
import type { Data } from '../../../db/model/json.ts';
import type { Resource } from '../../../db/model/resource.ts';
import { sha256 } from '../../files/digest.ts';
import { planKey, settledRequest } from '../plan/plan.ts';
import {
  type Diagnosis,
  type ImportRequest,
  type ImportSummary,
  importCounts,
  onDuplicateOf,
} from '../request.ts';
import { ERROR_COLUMNS, type PreparedRow, RowFault, type RowOutcome, type SourceRow } from '../row.ts';
import { buildRow } from '../rows/build-row.ts';
import { Lookups } from '../rows/lookups.ts';
import { orderingKeys } from '../rows/unique-keys.ts';
import { DryRun } from './dry-run.ts';
import type { ImportParts } from './import-parts.ts';
import { JOURNAL_SUFFIX } from './journal.ts';
import type { PendingBatch } from './journal-state.ts';
import { elsewhere } from './remedies.ts';
import type { RowJob, RowSender, SettledRow } from './row-job.ts';
import type { RunResult } from './row-run.ts';
import { Sender } from './send.ts';

/** Imports the rows of an input according to its plan. */
export class ImportJob implements RowJob {
  readonly verb = 'import';
  readonly gerund = 'importing';
  readonly isWrite = true;
  readonly journalSuffix = JOURNAL_SUFFIX;
  readonly resource: Resource;
  readonly mapping: string;
  readonly settings: string;
  readonly ifRepeated: string | null;
  readonly isSentAgain: boolean;
  readonly otherWays: readonly string[];
  readonly #parts: ImportParts;
  readonly #passes: ImportPass[] = [];

  constructor(parts: ImportParts) {
    this.#parts = parts;
    const { request, resource, plan } = parts;
    const values = JSON.stringify([...plan.values].map(([header, map]) => [header, [...map]]));
    this.resource = resource;
    // Replaced values may differ between passes. Journals of 0.2.0 count groups as rows.
    const rows = parts.input.groups() > 0 ? '\nwithout groups' : '';
    this.mapping = sha256(planKey({ ...plan, values: new Map() }) + rows);
    this.settings = JSON.stringify([
      onDuplicateOf(request),
      request.createMissing,
      // A stage that is created and a value that is replaced both decide which stage a row gets.
      sha256(request.createStages ? `${values}\nstages` : values).slice(0, 16),
    ]);
    this.isSentAgain = plan.matching?.isRequired === true;
    this.otherWays = Object.keys(resource.unique).map(
      (name) => `add --match-on ${name} to change ${resource.name} that exist.`,
    );
    this.ifRepeated = this.isSentAgain ? null : amongOthers(resource, request);
  }

  takes(row: SourceRow): boolean {
    return this.#parts.hooks?.takes(row) ?? true;
  }

  startPass(keyPrefix: string): RowSender {
    const pass = new ImportPass(this.#parts, keyPrefix);
    this.#passes.push(pass);
    return pass;
  }

  shown(row: SourceRow): SourceRow {
    return this.#parts.hooks?.shown(row) ?? row;
  }

  settled(rows: readonly SettledRow[]): void {
    const { reporter, plan, hooks } = this.#parts;
    const stored: { row: SourceRow; id: string }[] = [];
    for (const { row, outcome } of rows) {
      if (outcome.status === 'rejected') reporter.reasons.take(row, outcome.rejection, plan);
      if (outcome.status !== 'refused' && outcome.record !== undefined)
        stored.push({ row, id: String(outcome.record.id) });
    }
    hooks?.stored(stored);
  }

  /** The summary of the run, whose passes this job has sent. */
  summary({ status, counts, total, errorsFile, seconds }: RunResult): ImportSummary {
    const { request, resource, reporter, plan } = this.#parts;
    const [order, ...otherOrders] = new Set(plan.dates.orders.values());
    const [mark, ...otherMarks] = new Set(plan.numbers.values());
    const figures = importCounts(status === 'already' ? total : counts);
    const isNothingIn = total.created + total.updated + total.unchanged === 0;
    const diagnosis = reporter.reasons.diagnosis(request, plan, isNothingIn);
    return {
      resource: resource.name,
      rows: figures.created + figures.updated + figures.unchanged + figures.skipped + figures.rejected,
      ...figures,
      companies_created: this.#passes.reduce((sum, { createdCompanies }) => sum + createdCompanies, 0),
      stages_created: this.#passes.reduce((sum, { createdStages }) => sum + createdStages, 0),
      errors_file: errorsFile,
      dry_run: request.isDryRun,
      status,
      seconds,
      ...(order !== undefined && otherOrders.length === 0 && { date_format: order }),
      ...(mark === 'comma' && otherMarks.length === 0 && { decimal_comma: true }),
      diagnosis,
      otherMapping: this.#otherMapping(diagnosis),
    };
  }

  #otherMapping({ strangeColumns }: Diagnosis): ImportRequest | null {
    const { request, resource, plan, input } = this.#parts;
    // Every row of an errors file is wrong somewhere.
    const isErrorsFile = ERROR_COLUMNS.some((name) => input.survey.headers.includes(name));
    if (strangeColumns.length === 0 || isErrorsFile) return null;
    const map = strangeColumns.map((header) => elsewhere(header, plan));
    const others = request.map.filter(
      (text) => !strangeColumns.some((header) => text.startsWith(`${header}=`)),
    );
    return settledRequest(resource, input.survey, { ...request, map: [...others, ...map] });
  }
}

/** What happens to rows whose records already exist. */
function amongOthers(resource: Resource, request: ImportRequest): string {
  if (resource.repeatedBy.length > 0) return 'except those that already exist';
  const unique = Object.keys(resource.unique);
  if (unique.length === 0) return 'as new records';
  return {
    fail: `as new records; rows whose ${unique.join(' or ')} already exists are rejected`,
    skip: `except those whose ${unique.join(' or ')} already exists`,
    update: `which updates ${resource.name} whose ${unique.join(' or ')} already exists`,
    fill: `which fills empty fields of ${resource.name} whose ${unique.join(' or ')} already exists`,
  }[onDuplicateOf(request)];
}

/** One pass of an import, or of its dry run. */
class ImportPass implements RowSender {
  readonly concurrency: number;
  readonly #parts: ImportParts;
  readonly #lookups: Lookups;
  readonly #sender: Sender | DryRun;

  constructor(parts: ImportParts, keyPrefix: string) {
    const { request, client, interruption } = parts;
    const { createMissing, createStages, isDryRun, concurrency } = request;
    this.#parts = parts;
    this.#lookups = new Lookups(client, {
      ...{ createMissing, createStages, keyPrefix, isDryRun, signal: interruption.signal },
    });
    // Each batch of a dry run depends on the results of those before it.
    this.concurrency = isDryRun ? 1 : concurrency;
    this.#sender = isDryRun ? new DryRun(parts) : new Sender(parts, keyPrefix);
  }

  get createdCompanies(): number {
    return this.#lookups.createdCompanies;
  }

  get createdStages(): number {
    return this.#lookups.createdStages;
  }

  get replays(): number {
    return this.#sender.replays;
  }

  async prepare(row: SourceRow): Promise<PreparedRow> {
    const { plan, hooks } = this.#parts;
    const built = await buildRow(row, plan, this.#lookups);
    if (!('body' in built) || hooks === undefined) return built;
    try {
      return { line: row.line, body: hooks.adapt(built.body) };
    } catch (error) {
      if (!(error instanceof RowFault)) throw error;
      const { code, path, message } = error;
      return { line: row.line, rejection: { code, path, message } };
    }
  }

  orderingKeys(body: Data): string[] {
    return orderingKeys(this.#parts.resource, body);
  }

  send(batch: PendingBatch): Promise<RowOutcome[]> {
    return this.#sender.send(batch);
  }

  close(): void {
    if (this.#sender instanceof DryRun) this.#sender.close();
  }
}
