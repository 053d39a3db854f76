// One run over one input, from the position in the journal to the end, with its messages.
import { MAKE_ROOM } from '../../api/response-error.ts';
import { CliError, EXIT, withStep } from '../../errors.ts';
import { inputName } from '../../input/files.ts';
import { secondsSince } from '../../input/instant.ts';
import { counted, formatCount, withCapital } from '../../terminal/format.ts';
import { note } from '../../terminal/streams.ts';
import { type Counts, totalCounts } from '../request.ts';
import { fasterThan } from './preflight.ts';
import { nextPass } from './resume.ts';
import { type PassOptions, reportSettled, runPass } from './row-pass.ts';
import type { RunParts } from './run-parts.ts';

/** How a run ended. */
export interface RunResult {
  /** `already`: an earlier run had finished; `stopped`: by `--stop-after`. */
  status: 'finished' | 'already' | 'stopped';
  /** Of the last pass. */
  counts: Counts;
  /** Of all passes. */
  total: Counts;
  /** Where the rejected rows are, if there are any. */
  errorsFile: string | null;
  seconds: number;
}

/** One run over one input; the journal decides where it starts. */
export class RowRun {
  readonly #parts: RunParts;
  readonly #startedMs = Date.now();
  #replays = 0;

  constructor(parts: RunParts) {
    this.#parts = parts;
  }

  /** Runs what is left to do; throws a CliError that says how to continue. */
  async go(): Promise<RunResult> {
    const { request, job, input, journal, reporter, errorsFile } = this.#parts;
    const { settings } = job;
    const isOther = journal.state.pass.settings !== settings;
    const isLeft = isOther && journal.state.rejected.size > 0;
    try {
      if (journal.state.finishedAt !== null && !isLeft) return this.#result('already');
      if (isOther || journal.state.refusal !== null) await this.#goOver(settings);
      else this.#takeUp();
      const rejectedBefore = journal.state.counts.rejected;
      const isStopped = () =>
        request.stopAfter !== null && journal.state.counts.rejected - rejectedBefore >= request.stopAfter;
      const isRefused = () => journal.state.refusal !== null;
      await this.#run({ isSettlingOnly: false, shouldStop: () => isStopped() || isRefused() });
      if (isRefused()) throw this.#refused();
      if (isStopped()) return this.#result('stopped');
      input.checkUnchanged();
      errorsFile?.sync();
      journal.finish();
      return this.#result('finished');
    } catch (error) {
      throw this.#explained(error);
    } finally {
      await reporter.stop();
      errorsFile?.close();
      journal.close();
    }
  }

  /** Starts, or continues an earlier run. */
  #takeUp(): void {
    const { request, journal, errorsFile } = this.#parts;
    const { rows } = journal.state;
    if (rows > 0 && !request.isQuiet) note(`Resuming after row ${formatCount(rows)}.`);
    // An errors file known before the first row is from a run that imported nothing.
    const isOfForgotten = rows === 0 && journal.state.errors !== null;
    if (errorsFile?.path === null || isOfForgotten) errorsFile?.startOver(this.#ownsErrors());
  }

  /** Whether an errors file belongs to this run: known to its journal, or unknown because of a crash. */
  #ownsErrors(): boolean {
    const { journal, errorsFile } = this.#parts;
    return errorsFile?.path !== null || (journal.isResumed && journal.state.errors === null);
  }

  /** Starts a pass over the rows that were rejected with other settings. */
  async #goOver(settings: string): Promise<void> {
    const { request, journal, errorsFile } = this.#parts;
    if (journal.state.pending.length > 0) await this.#run({ isSettlingOnly: true, shouldStop: () => false });
    const { rejected, refusal } = journal.state;
    if (rejected.size > 0 && !request.isQuiet) {
      // After a quota was used up, nothing is wrong with most of them.
      const missing = `${counted(rejected.size, 'row')} that ${rejected.size === 1 ? 'is' : 'are'} missing`;
      note(
        refusal === null
          ? `Sending the ${counted(rejected.size, 'rejected row')} again.`
          : `Sending the ${missing}.`,
      );
    }
    errorsFile?.startOver(this.#ownsErrors());
    journal.beginPass(nextPass(journal.state, settings));
  }

  async #run(how: PassOptions): Promise<void> {
    const { request, job, input, journal, reporter, requestsPerMinute, keyId, before } = this.#parts;
    const { rows, pass, open, openReach, batchSize } = journal.state;
    const beyond = Math.max(0, (input.rowCount ?? 0) - openReach - 1);
    await reporter.start({
      label: `${request.isDryRun ? 'Checking' : withCapital(job.gerund)} ${job.resource.name}`,
      unit: 'rows',
      total: pass.number === 1 ? input.rowCount : open.size + beyond,
      startAt: rows + (before?.rows ?? 0),
      ratePerMinuteMax: requestsPerMinute * batchSize,
      faster: fasterThan({ requestsPerMinute, keyId }, batchSize),
    });
    reportSettled(this.#parts);
    this.#replays += await runPass(this.#parts, how);
  }

  #result(status: RunResult['status']): RunResult {
    const { request, journal, errorsFile } = this.#parts;
    const { counts, accepted, salt } = journal.state;
    if (this.#replays > 0 && !request.isQuiet && salt === '') {
      note(
        `crm: ${counted(this.#replays, 'batch', 'batches')} had already been sent. No row was imported twice.`,
      );
    }
    return {
      ...{ status, counts, total: totalCounts([accepted, counts]) },
      errorsFile: (status === 'already' ? errorsFile?.standing : errorsFile?.path) ?? null,
      seconds: secondsSince(this.#startedMs),
    };
  }

  /** The error for a used-up quota; refused rows are sent again in the next pass. */
  #refused(): CliError {
    const { request, job, journal } = this.#parts;
    const { refusal, rows, rejected } = journal.state;
    const done = rows - rejected.size;
    return new CliError(
      `Stopped after ${request.isDryRun ? 'checking' : job.gerund} ${counted(done, 'row')}. ${refusal}`,
      {
        exitCode: EXIT.auth,
        nextSteps: [MAKE_ROOM],
      },
    );
  }

  /** The error that ends the run, with its progress and how to continue. */
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
    const { request, job, input, journal } = this.#parts;
    const same = request.command === undefined ? 'the same command again' : request.command;
    if (request.isDryRun || !job.isWrite) return `run ${same}; nothing was written.`;
    if (input.digest !== null && journal.state.refusal !== null)
      return `then run ${same} to continue. No row is lost or duplicated.`;
    if (input.digest !== null) {
      const command = request.isResumeWanted ? same : 'the command again without --no-resume';
      return `run ${command} to continue after row ${formatCount(rows)}. No row is lost or duplicated.`;
    }
    const unknown = formatCount(journal.state.batchSize * request.concurrency);
    const name = inputName(request.input);
    return `${job.verb} the rest from a file, because ${name} cannot be resumed. ${counted(rows, 'row')} of it ${rows === 1 ? 'was' : 'were'} processed, and up to ${unknown} more may have been.`;
  }
}
