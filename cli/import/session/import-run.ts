// One run over one input, from where the journal says to its end, and what is told of it.
import { MAKE_ROOM } from '../../api/response-error.ts';
import { CliError, EXIT, withStep } from '../../errors.ts';
import { inputName } from '../../input/files.ts';
import { secondsSince } from '../../input/instant.ts';
import { counted, formatCount } from '../../terminal/format.ts';
import { note } from '../../terminal/streams.ts';
import { settledRequest } from '../plan/plan.ts';
import type { Diagnosis, ImportRequest, ImportSummary } from '../request.ts';
import { totalCounts } from '../request.ts';
import { ERROR_COLUMNS } from '../row.ts';
import { elsewhere } from './rejection-reasons.ts';
import { nextPass, settingsOf } from './resume.ts';
import { reportSettled, runPass } from './row-pass.ts';
import type { RunParts } from './run-parts.ts';

/** One run over one input; the journal says where it begins. */
export class ImportRun {
  readonly #parts: RunParts;
  readonly #startedMs = Date.now();
  #createdCompanies = 0;
  #replays = 0;

  constructor(parts: RunParts) {
    this.#parts = parts;
  }

  /** Runs what is left of the import; throws a CliError that says how to go on. */
  async go(): Promise<ImportSummary> {
    const { request, plan, input, journal, reporter, errorsFile } = this.#parts;
    const settings = settingsOf({ request, plan });
    const isOther = journal.state.pass.settings !== settings;
    const isLeft = isOther && journal.state.rejected.size > 0;
    try {
      if (journal.state.finishedAt !== null && !isLeft) return this.#summary('already');
      if (isOther || journal.state.refusal !== null) await this.#goOver(settings);
      else this.#takeUp();
      const rejectedBefore = journal.state.counts.rejected;
      const isStopped = () =>
        request.stopAfter !== null && journal.state.counts.rejected - rejectedBefore >= request.stopAfter;
      const isRefused = () => journal.state.refusal !== null;
      await this.#run({ isSettlingOnly: false, shouldStop: () => isStopped() || isRefused() });
      if (isRefused()) throw this.#refused();
      if (isStopped()) return this.#summary('stopped');
      input.checkUnchanged();
      errorsFile?.sync();
      journal.finish();
      return this.#summary('finished');
    } catch (error) {
      throw this.#explained(error);
    } finally {
      await reporter.stop();
      errorsFile?.close();
      journal.close();
    }
  }

  /** Begins, or goes on where an earlier run stopped. */
  #takeUp(): void {
    const { request, journal, errorsFile } = this.#parts;
    const { rows } = journal.state;
    if (rows > 0 && !request.isQuiet) note(`Resuming after row ${formatCount(rows)}.`);
    // A file that is known before the first row is that of a run of which nothing went in.
    const isOfForgotten = rows === 0 && journal.state.errors !== null;
    if (errorsFile?.path === null || isOfForgotten) errorsFile?.startOver(this.#ownsErrors());
  }

  /** Whether a file of rejected rows is this import's: as its journal says, or what it does not know of after a kill. */
  #ownsErrors(): boolean {
    const { journal, errorsFile } = this.#parts;
    return errorsFile?.path !== null || (journal.isResumed && journal.state.errors === null);
  }

  /** Begins a pass over the rows that could not be brought in with other settings. */
  async #goOver(settings: string): Promise<void> {
    const { request, journal, errorsFile } = this.#parts;
    if (journal.state.pending.length > 0) await this.#run({ isSettlingOnly: true, shouldStop: () => false });
    const { rejected } = journal.state;
    if (rejected.size > 0 && !request.isQuiet) {
      note(`Sending the ${counted(rejected.size, 'row')} again that could not be imported before.`);
    }
    errorsFile?.startOver(this.#ownsErrors());
    journal.beginPass(nextPass(journal.state, settings));
  }

  async #run(how: { isSettlingOnly: boolean; shouldStop(): boolean }): Promise<void> {
    const { request, resource, input, journal, reporter, requestsPerMinute, before } = this.#parts;
    const { rows, pass, open, openReach, batchSize } = journal.state;
    const beyond = Math.max(0, (input.rowCount ?? 0) - openReach - 1);
    await reporter.start({
      label: `${request.isDryRun ? 'Checking' : 'Importing'} ${resource.name}`,
      unit: 'rows',
      total: pass.number === 1 ? input.rowCount : open.size + beyond,
      startAt: rows + (before?.rows ?? 0),
      ...(!request.isDryRun && { ratePerMinuteMax: requestsPerMinute * batchSize }),
    });
    reportSettled(this.#parts);
    this.#createdCompanies += await runPass(this.#parts, {
      ...how,
      onReplay: () => {
        this.#replays += 1;
      },
    });
  }

  #summary(status: ImportSummary['status']): ImportSummary {
    const { request, resource, journal, reporter, errorsFile } = this.#parts;
    const { counts, accepted, salt } = journal.state;
    const { dates, numbers } = this.#parts.plan;
    const [order, ...otherOrders] = new Set(dates.orders.values());
    const [mark, ...otherMarks] = new Set(numbers.values());
    if (this.#replays > 0 && !request.isQuiet && salt === '') {
      note(`crm: ${counted(this.#replays, 'batch', 'batches')} had been sent before; no row is in twice.`);
    }
    const total = totalCounts([accepted, counts]);
    const figures = status === 'already' ? total : counts;
    const isNothingIn = total.created + total.updated === 0;
    const diagnosis = reporter.reasons.diagnosis(request, this.#parts.plan, isNothingIn);
    return {
      resource: resource.name,
      rows: figures.created + figures.updated + figures.skipped + figures.rejected,
      ...figures,
      companies_created: this.#createdCompanies,
      errors_file: (status === 'already' ? errorsFile?.standing : errorsFile?.path) ?? null,
      dry_run: request.isDryRun,
      status,
      seconds: secondsSince(this.#startedMs),
      ...(order !== undefined && otherOrders.length === 0 && { date_format: order }),
      ...(mark === 'comma' && otherMarks.length === 0 && { decimal_comma: true }),
      diagnosis,
      otherMapping: this.#otherMapping(diagnosis),
    };
  }

  #otherMapping({ strangeColumns }: Diagnosis): ImportRequest | null {
    const { request, resource, plan, input } = this.#parts;
    // An errors file has nothing but rows that are wrong somewhere.
    const isErrorsFile = ERROR_COLUMNS.some((name) => input.survey.headers.includes(name));
    if (strangeColumns.length === 0 || isErrorsFile) return null;
    const map = strangeColumns.map((header) => elsewhere(header, plan));
    const others = request.map.filter(
      (text) => !strangeColumns.some((header) => text.startsWith(`${header}=`)),
    );
    return settledRequest(resource, input.survey, { ...request, map: [...others, ...map] });
  }

  /** Where there is no room for more rows: those that were sent in vain are sent again in another pass. */
  #refused(): CliError {
    const { refusal, counts } = this.#parts.journal.state;
    const { created, updated, skipped } = counts;
    const done = created + updated + skipped;
    return new CliError(`Stopped with ${counted(done, 'row')} of this run in. ${refusal}`, {
      exitCode: EXIT.auth,
      nextSteps: [MAKE_ROOM],
    });
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
    if (input.digest !== null && journal.state.refusal !== null)
      return 'then run the same command again: it sends what is not in yet, and no row is lost or doubled.';
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
