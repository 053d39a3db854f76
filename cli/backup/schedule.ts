// Backups at intervals while a server runs, each in a separate process, so that no request waits for it.
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, systemFault, usageError } from '../errors.ts';
import { programCommand } from '../terminal/program-name.ts';
import { expiredBackups, type KeepRule } from './retention.ts';

export interface BackupPlan {
  db: string;
  /** Folder of the backups; created if missing. */
  folder: string;
  /** Milliseconds between backups. */
  every: number;
  keep: readonly KeepRule[];
}

const NAME = /^crm-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z\.db$/;
const RETRY_MS = 60_000;
const STOP_MS_MAX = 2_000;
// Of the command's output, the reason and the first step.
const WORDS_MAX = 2;

/** Makes backups from start to stop; the first one once the newest existing backup is old enough. */
export class BackupSchedule {
  readonly #plan: BackupPlan;
  #tell: (text: string) => void = () => undefined;
  #timer: Timer | undefined;
  #running: Bun.Subprocess | undefined;
  #isStopped = false;
  #stats = { succeeded: 0, failed: 0, lastMs: null as number | null, lastBytes: null as number | null };

  /** @throws CliError if the folder cannot be created */
  constructor(plan: BackupPlan) {
    this.#plan = plan;
    try {
      mkdirSync(plan.folder, { recursive: true, mode: 0o700 });
    } catch (error) {
      throw usageError(
        `Cannot create the folder ${plan.folder} (${systemFault(error)}).`,
        'choose another folder with --backup-dir, or give the user who runs crm permission to create it.',
      );
    }
  }

  /** Counters of its backups so far; time and size of the last one are in milliseconds and bytes. */
  get stats() {
    return { intervalMs: this.#plan.every, ...this.#stats };
  }

  /** @param tell reports failures to the operator */
  start(tell: (text: string) => void): void {
    this.#tell = tell;
    const newest = Math.max(0, ...this.#times());
    // A backup of the future means that the clock was set back.
    this.#runIn(Math.min(this.#plan.every, newest + this.#plan.every - Date.now()));
  }

  /** Makes no more backups; a running one is stopped within 2 s. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    const running = this.#running;
    if (running === undefined) return;
    running.kill('SIGINT');
    // It cannot handle a signal while SQLite reads a large file; the next backup removes what it leaves behind.
    const killing = setTimeout(() => running.kill('SIGKILL'), STOP_MS_MAX);
    await running.exited;
    clearTimeout(killing);
  }

  #runIn(ms: number): void {
    // Longer timeouts overflow; a backup may have taken longer than the interval.
    this.#timer = setTimeout(() => this.#run(), Math.min(Math.max(0, ms), 2 ** 31 - 1));
  }

  async #run(): Promise<void> {
    const begunAt = Date.now();
    const file = join(this.#plan.folder, nameOf(begunAt));
    const failure = await this.#backUp(file);
    if (this.#isStopped) return;
    this.#noteEnd(failure === null ? file : null, Date.now() - begunAt);
    if (failure !== null) this.#tell(`The backup failed. ${failure}`);
    else this.#thinOut();
    this.#runIn(
      failure === null ? begunAt + this.#plan.every - Date.now() : Math.min(RETRY_MS, this.#plan.every),
    );
  }

  #noteEnd(file: string | null, ms: number): void {
    const stats = this.#stats;
    stats.lastMs = ms;
    if (file === null) stats.failed += 1;
    else {
      stats.succeeded += 1;
      stats.lastBytes = statSync(file, { throwIfNoEntry: false })?.size ?? null;
    }
  }

  async #backUp(file: string): Promise<string | null> {
    const words = ['backup', file, '--quiet', '--db', this.#plan.db];
    try {
      const child = Bun.spawn([...programCommand(), ...words], {
        stdin: 'ignore',
        stdout: 'ignore',
        stderr: 'pipe',
      });
      this.#running = child;
      const [said, code] = await Promise.all([child.stderr.text(), child.exited]);
      return code === 0 ? null : said.trim().split('\n').slice(0, WORDS_MAX).join(' ');
    } catch (error) {
      // The process limit is reached, or the executable was moved away.
      return messageOf(error);
    } finally {
      this.#running = undefined;
    }
  }

  #thinOut(): void {
    const { folder, keep } = this.#plan;
    try {
      for (const time of expiredBackups(this.#times(), Date.now(), keep)) rmSync(join(folder, nameOf(time)));
    } catch (error) {
      this.#tell(`Cannot remove old backups in ${folder} (${systemFault(error)}).`);
    }
  }

  #times(): number[] {
    return readdirSync(this.#plan.folder).flatMap((name) => {
      const parts = NAME.exec(name);
      return parts === null
        ? []
        : [Date.parse(`${parts[1]}-${parts[2]}-${parts[3]}T${parts[4]}:${parts[5]}:${parts[6]}Z`)];
    });
  }
}

function nameOf(time: number): string {
  return `crm-${new Date(time).toISOString().replace(/[-:]|\.\d+/g, '')}.db`;
}
