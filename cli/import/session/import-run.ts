// The rows of one input on their way into the service: prepared, sent, settled, and told of.
import { CliError, EXIT, withStep } from '../../errors.ts';
import { inputName } from '../../input/files.ts';
import { secondsSince } from '../../input/instant.ts';
import { counted, formatCount } from '../../terminal/format.ts';
import { note } from '../../terminal/streams.ts';
import { sha256 } from '../digest.ts';
import type { ImportSummary } from '../request.ts';
import { totalCounts } from '../request.ts';
import type { PreparedRow, RowOutcome, SourceRow } from '../row.ts';
import { RowBuilder } from '../rows/build-row.ts';
import { Lookups } from '../rows/lookups.ts';
import { orderingKeys } from '../rows/unique-keys.ts';
import { runFlow } from './flow.ts';
import type { PendingBatch } from './journal.ts';
import type { RunParts } from './run-parts.ts';
import { Sender } from './send.ts';

/** One run over one input; the journal says where it begins. */
export class ImportRun {
  readonly #parts: RunParts;
  readonly #lookups: Lookups;
  readonly #keyPrefix: string;
  readonly #startedMs = Date.now();
  readonly #rejectedBefore: number;
  #replays = 0;

  constructor(parts: RunParts) {
    this.#parts = parts;
    const { request, journal, client, content, interruption } = parts;
    const { state } = journal;
    this.#rejectedBefore = state.counts.rejected;
    this.#keyPrefix = `crm-import-${sha256(`${content}\n${state.batchSize}\n${state.salt}`).slice(0, 40)}`;
    this.#lookups = new Lookups(client, {
      createMissing: request.createMissing,
      keyPrefix: this.#keyPrefix,
      isDryRun: request.isDryRun,
      signal: interruption.signal,
    });
  }

  /** Runs what is left of the import; throws a CliError that says how to go on. */
  async go(): Promise<ImportSummary> {
    const { request, resource, input, journal, reporter, errorsFile, requestsPerMinute } = this.#parts;
    const { state } = journal;
    if (state.finishedAt !== null) return this.#summary('already');
    if (state.rows > 0 && !request.isQuiet) note(`Resuming after row ${formatCount(state.rows)}.`);
    if (state.rows === 0) errorsFile?.removeOld();
    try {
      await reporter.start({
        label: `${request.isDryRun ? 'Checking' : 'Importing'} ${resource.name}`,
        unit: 'rows',
        total: input.rowCount,
        quiet: request.isQuiet,
        startAt: state.rows + (this.#parts.before?.rows ?? 0),
        ...(!request.isDryRun && { ratePerMinuteMax: requestsPerMinute * state.batchSize }),
      });
      this.#tellSettled();
      await this.#runRows();
    } catch (error) {
      throw this.#explained(error);
    } finally {
      await reporter.stop();
      errorsFile?.close();
    }
    if (this.#isStopped()) return this.#summary('stopped');
    input.checkUnchanged();
    journal.save({ finishedAt: new Date().toISOString() });
    return this.#summary('finished');
  }

  async #runRows(): Promise<void> {
    const { request, resource, journal } = this.#parts;
    const { state } = journal;
    const checker = request.isDryRun ? await this.#checker() : null;
    const sender = checker ?? this.#sender();
    const builder = new RowBuilder(this.#parts.plan, this.#lookups);
    try {
      await runFlow({
        rows: this.#rows(),
        batchSize: state.batchSize,
        // A dry run keeps its own record of what would be there, row by row.
        concurrency: checker === null ? request.concurrency : 1,
        rowsBehind: state.rows,
        batchesBehind: state.batches,
        pending: state.pending,
        prepare: (row) => this.#prepare(builder, row),
        begin: (batch) => journal.begin(batch),
        send: (batch) => sender.send(batch),
        settle: (batch, rows, outcomes) => this.#settle(batch, rows, outcomes),
        keysOf: (body) => orderingKeys(resource, body),
        shouldStop: () => this.#isStopped(),
      });
    } finally {
      checker?.close();
    }
    for (const name of checker?.unchecked ?? []) {
      note(`crm: the key may not read ${name}, so nothing was checked against them.`);
    }
  }

  async *#rows(): AsyncGenerator<SourceRow> {
    const { input, hooks } = this.#parts;
    for await (const row of await input.rows()) if (hooks?.takes(row) ?? true) yield row;
  }

  async #prepare(builder: RowBuilder, row: SourceRow): Promise<PreparedRow> {
    this.#parts.interruption.signal.throwIfAborted();
    const prepared = await builder.build(row);
    const { hooks } = this.#parts;
    return 'body' in prepared && hooks !== undefined
      ? { line: row.line, body: hooks.adapt(prepared.body) }
      : prepared;
  }

  #sender(): Sender {
    const { client, resource, request, interruption, hooks } = this.#parts;
    return new Sender(client, {
      resource,
      onDuplicate: request.onDuplicate,
      keyPrefix: this.#keyPrefix,
      signal: interruption.signal,
      onReplay: () => {
        this.#replays += 1;
      },
      ...(hooks !== undefined && { amend: hooks.amend }),
    });
  }

  async #checker() {
    const { DryRunChecker } = await import('./dry-run.ts');
    const { client, resource, request, input, interruption } = this.#parts;
    return new DryRunChecker(client, {
      resource,
      onDuplicate: request.onDuplicate,
      rowCount: input.rowCount,
      lookups: this.#lookups,
      signal: interruption.signal,
    });
  }

  #settle(batch: PendingBatch, rows: readonly SourceRow[], outcomes: readonly RowOutcome[]): void {
    const { journal, reporter, errorsFile, hooks } = this.#parts;
    const counts = { ...journal.state.counts };
    const stored: { row: SourceRow; id: string }[] = [];
    for (const [index, row] of rows.entries()) {
      const [outcome, prepared] = [outcomes[index], batch.rows[index]];
      if (outcome === undefined) continue;
      counts[outcome.status] += 1;
      if (outcome.status !== 'rejected') {
        if (outcome.id !== undefined) stored.push({ row, id: outcome.id });
        continue;
      }
      // With hooks a body has ids that hold here, which the row of the input has not.
      const isAdapted = hooks !== undefined && prepared !== undefined && 'body' in prepared;
      errorsFile?.add(isAdapted ? { ...row, original: prepared.body } : row, outcome.rejection);
      reporter.rejected(row, outcome.rejection);
    }
    hooks?.stored(stored);
    journal.finish(batch, counts, { file: errorsFile?.path ?? null, bytes: errorsFile?.bytes ?? 0 });
    this.#tellSettled();
  }

  #tellSettled(): void {
    const { journal, reporter, before } = this.#parts;
    const { rows, counts } = journal.state;
    reporter.settled(
      rows + (before?.rows ?? 0),
      before === undefined ? counts : totalCounts([before, counts]),
    );
  }

  #isStopped(): boolean {
    const { request, journal } = this.#parts;
    const rejected = journal.state.counts.rejected - this.#rejectedBefore;
    return request.stopAfter !== null && rejected >= request.stopAfter;
  }

  #summary(status: ImportSummary['status']): ImportSummary {
    const { request, resource, journal, reporter } = this.#parts;
    const { counts, rows, errorsFile, salt } = journal.state;
    const [order, ...otherOrders] = new Set(this.#parts.plan.dates.orders.values());
    if (this.#replays > 0 && !request.isQuiet && salt === '') {
      note(`crm: ${counted(this.#replays, 'batch', 'batches')} had been sent before; no row is in twice.`);
    }
    return {
      resource: resource.name,
      rows,
      ...counts,
      companies_created: this.#lookups.createdCompanies,
      errors_file: errorsFile,
      dry_run: request.isDryRun,
      status,
      seconds: secondsSince(this.#startedMs),
      ...(order !== undefined && otherOrders.length === 0 && { date_format: order }),
      samples: [...reporter.samples],
    };
  }

  /** The error that ends the import, with how far it came and how to go on. */
  #explained(error: unknown): unknown {
    const { rows } = this.#parts.journal.state;
    const nextStep = this.#nextStep(rows);
    if (this.#parts.interruption.signal.aborted) {
      const message = `Interrupted after ${counted(rows, 'row')}.`;
      return new CliError(message, { exitCode: EXIT.interrupted, nextSteps: [nextStep] });
    }
    return withStep(error, nextStep);
  }

  #nextStep(rows: number): string {
    const { request, input, journal } = this.#parts;
    if (request.isDryRun) return 'run the same command again; nothing was written.';
    if (input.digest !== null) {
      const command = request.isResumeWanted
        ? 'the same command again'
        : 'the command again without --no-resume';
      return `run ${command}: it goes on after row ${formatCount(rows)}, and no row is lost or doubled.`;
    }
    const unknown = formatCount(journal.state.batchSize * request.concurrency);
    const name = inputName(request.input);
    return `${name} cannot be resumed: ${counted(rows, 'row')} of it got through, up to ${unknown} more may have; import the rest from a file.`;
  }
}
